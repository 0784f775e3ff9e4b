internal import Engine
internal import Wire

/// A gateway that runs the real engine, its peers and the paths between them, in simulated time. The seed determines the history.
///
/// All events are scheduled in one queue. The first failed check ends the world.
package final class World: SimulatedWorld {
    package let seed: UInt64
    package let swarm: Swarm
    var random: SplitMix64
    var now = World.start
    var schedule = EventQueue<ScheduledEvent>()
    var phase = Phase.chaos
    var shards: [SimulatedShard] = []
    var mailboxes: [SimulatedMailbox] = []
    var trunks: [SimulatedTrunk] = []
    var directory = SimulatedDirectory()
    var peers: [SimulatedPeer] = []
    var sessions: [PeerSession] = []
    var connections: [SimulatedConnection] = []
    var ledger = Ledger()
    var routing = RoutingModel()
    var counts = FrameCounts()
    var livenessSince = World.start
    var administrativeCalls = AdministrativeCalls()
    var pacing = PacingChecker()
    /// Tracks with frames dropped since the last admitted one, and the frames admitted after such a gap.
    var gapBefore: Set<TrackSID> = []
    var afterGap: Set<Int> = []
    package internal(set) var failure: Failure?
    /// Receives the trace.
    package var trace: ((String) -> Void)?

    /// Not 0, so that earlier instants can be represented.
    static let start = Instant(nanoseconds: 1_000_000_000)

    package convenience init(seed: UInt64) { self.init(seed: seed, swarm: nil) }

    package init(seed: UInt64, swarm: Swarm?) {
        self.seed = seed
        random = SplitMix64(seed: seed)
        let drawn = Swarm(drawnFrom: &random)
        self.swarm = swarm ?? drawn
        mailboxes = (0..<self.swarm.shardCount).map { _ in SimulatedMailbox() }
        trunks = (0..<self.swarm.shardCount * self.swarm.shardCount).map { _ in SimulatedTrunk(bytesMax: self.swarm.trunkBytesMax) }
        shards = (0..<self.swarm.shardCount).map { SimulatedShard(index: $0, world: self) }
        peers = (0..<self.swarm.peerCount).map { SimulatedPeer(number: $0, world: self) }
    }

    /// Runs the world to its end or to the first failed check.
    package func run() -> Failure? {
        begin()
        while failure == nil, let (due, event) = schedule.next() {
            now = max(now, due)
            handle(event)
            if case .phase(.over) = event { break }
        }
        return failure
    }

    /// Records a failure; only the first one is kept.
    func fail(_ text: @autoclosure () -> String) {
        guard failure == nil else { return }
        failure = Failure(text: text(), time: now - World.start)
    }

    func expect(_ isTrue: Bool, _ text: @autoclosure () -> String) {
        if !isTrue { fail(text()) }
    }

    func log(_ text: @autoclosure () -> String) {
        guard let trace else { return }
        trace("\((now - World.start).inNanoseconds / 1_000) µs  \(text())")
    }

    /// A uniform random duration in `0...most`.
    func draw(upTo most: Duration) -> Duration {
        most > .zero ? random.between(.zero, most) : .zero
    }

    func trunk(from source: Int, to destination: Int) -> SimulatedTrunk {
        trunks[source * shards.count + destination]
    }

    private func handle(_ event: ScheduledEvent) {
        switch event {
        case .departs(let connection): connections[connection].departAgain()
        case .arrives(let connection): connections[connection].arrive()
        case .reads(let connection): connections[connection].readAgain()
        case .reaches(let connection): connections[connection].reach()
        case .writable(let connection): shards[connections[connection].shard].becameWritable(connections[connection])
        case .turn(let shard): shards[shard].turn()
        case .wakes(let shard): shards[shard].wake()
        case .closes(let connection): shards[connections[connection].shard].closeTimerIsDue(connections[connection])
        case .upgraded(let connection): connections[connection].session.upgrade()
        case .connects(let peer): peers[peer].connectIfAway()
        case .acts(let peer): peers[peer].act()
        case .speaks(let session, let track): sessions[session].speak(track)
        case .keepsAlive(let session): sessions[session].keepAlive()
        case .answers(let session, let call): sessions[session].answer(call)
        case .reports(let session, let track): sessions[session].report(track)
        case .fault: fault()
        case .expectation: changeExpectation()
        case .administration: administrate()
        case .review: review()
        case .phase(let phase): enter(phase)
        }
    }

    /// An interleaving point within a shard's operation: another shard's thread may run here.
    func meanwhile(besides shard: Int) {
        guard swarm.interleaving > 0, random.chance(swarm.interleaving) else { return }
        let other = (shard + 1 + random.below(shards.count - 1)) % shards.count
        shards[other].turn()
    }
}

extension World {
    package var selection: String { swarm.summary }

    /// One-line statistics of a world that passed.
    package var summary: String {
        "\(sessions.count) connections, \(counts.resumed) resumed, \(counts.admitted) frames admitted, \(counts.earlier) sent later, \(counts.received) received, \(counts.dropped.reduce(0, +)) dropped, "
            + "\((now - World.start).inMilliseconds) ms"
    }
}
