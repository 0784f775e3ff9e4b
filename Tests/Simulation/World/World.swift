internal import Engine
internal import Wire

/// A gateway of the real engine, its peers and the paths between them, in simulated time: one seed, one history.
///
/// Everything happens by the agenda. After each step the checkers look; the first promise that is broken ends the world.
package final class World {
    package let seed: UInt64
    package let swarm: Swarm
    var chance: SplitMix64
    var now = World.start
    var agenda = Agenda<Happening>()
    var phase = Phase.chaos
    var shards: [SimulatedShard] = []
    var mailboxes: [SimulatedMailbox] = []
    var trunks: [SimulatedTrunk] = []
    var directory = SimulatedDirectory()
    var peers: [SimulatedPeer] = []
    var stays: [Stay] = []
    var lines: [Line] = []
    var ledger = Ledger()
    var truth = Truth()
    var tally = Tally()
    var audibleSince = World.start
    var pacing = Pacing()
    /// Tracks of which frames were refused since the last one that passed, and frames that were the next to pass.
    var gapBefore: Set<TrackSID> = []
    var afterGap: Set<Int> = []
    package internal(set) var failure: Failure?
    /// Told what happens, if somebody wants to know.
    package var trace: ((String) -> Void)?

    /// A gateway does not start at 0: instants before it would go back beyond the beginning.
    static let start = Instant(nanoseconds: 1_000_000_000)

    package init(seed: UInt64, swarm: Swarm? = nil) {
        self.seed = seed
        chance = SplitMix64(seed: seed)
        let drawn = Swarm(drawnFrom: &chance)
        self.swarm = swarm ?? drawn
        mailboxes = (0..<self.swarm.shardCount).map { _ in SimulatedMailbox() }
        trunks = (0..<self.swarm.shardCount * self.swarm.shardCount).map { _ in SimulatedTrunk(bytesMax: self.swarm.trunkBytesMax) }
        shards = (0..<self.swarm.shardCount).map { SimulatedShard(index: $0, world: self) }
        peers = (0..<self.swarm.peerCount).map { SimulatedPeer(number: $0, world: self) }
    }

    /// Lets the world run to its end, or to the first broken promise.
    package func run() -> Failure? {
        begin()
        while failure == nil, let (due, happening) = agenda.next() {
            now = max(now, due)
            happen(happening)
            if case .phase(.over) = happening { break }
        }
        return failure
    }

    /// Notes what is wrong; the first one counts.
    func fail(_ text: @autoclosure () -> String) {
        guard failure == nil else { return }
        failure = Failure(text: text(), time: now - World.start)
    }

    func expect(_ isTrue: Bool, _ text: @autoclosure () -> String) {
        if !isTrue { fail(text()) }
    }

    func note(_ text: @autoclosure () -> String) {
        guard let trace else { return }
        trace("\((now - World.start).inNanoseconds / 1_000) µs  \(text())")
    }

    /// Between zero and that much.
    func draw(upTo most: Duration) -> Duration {
        most > .zero ? chance.between(.zero, most) : .zero
    }

    func trunk(from source: Int, to destination: Int) -> SimulatedTrunk {
        trunks[source * shards.count + destination]
    }

    private func happen(_ happening: Happening) {
        switch happening {
        case .departs(let line): lines[line].departAgain()
        case .arrives(let line): lines[line].arrive()
        case .reads(let line): lines[line].readAgain()
        case .reaches(let line): lines[line].reach()
        case .writable(let line): shards[lines[line].shard].becameWritable(lines[line])
        case .turn(let shard): shards[shard].turn()
        case .wakes(let shard): shards[shard].wake()
        case .closes(let line): shards[lines[line].shard].closeTimerIsDue(lines[line])
        case .upgraded(let line): lines[line].stay.upgrade()
        case .connects(let peer): peers[peer].connectIfAway()
        case .acts(let peer): peers[peer].act()
        case .speaks(let stay, let track): stays[stay].speak(track)
        case .keepsAlive(let stay): stays[stay].keepAlive()
        case .answers(let stay, let call): stays[stay].answer(call)
        case .reports(let stay, let track): stays[stay].report(track)
        case .trouble: trouble()
        case .review: review()
        case .phase(let phase): enter(phase)
        }
    }

    /// In the middle of what a shard does: what another thread does at just that moment.
    func meanwhile(besides shard: Int) {
        guard swarm.interleaving > 0, chance.chance(swarm.interleaving) else { return }
        let other = (shard + 1 + chance.below(shards.count - 1)) % shards.count
        shards[other].turn()
    }
}

extension World {
    /// One line about what happened, for a world that passed.
    package var summary: String {
        "\(stays.count) connections, \(tally.resumed) resumed, \(tally.admitted) frames passed, \(tally.heard) heard, \(tally.dropped.reduce(0, +)) dropped, "
            + "\((now - World.start).inMilliseconds) ms"
    }
}
