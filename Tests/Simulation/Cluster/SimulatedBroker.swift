internal import Cluster
internal import Wire

/// The broker between the nodes: a bucket of records and one subject.
final class SimulatedBroker {
    private unowned let world: ClusterWorld
    private var records: [String: StoredRecord] = [:]
    private var revision: UInt64 = 0
    /// The latest writes with what they replaced, newest last, for a broker that loses them.
    private var journal: [(key: String, before: StoredRecord?)] = []
    private(set) var isUp = true
    private var isFrozen = false
    /// Requests that arrive while the broker is frozen, in order.
    private var held: [() -> Void] = []
    /// Refuses records that are much bigger than the ones that they replace.
    var refusesGrowth = false

    init(_ world: ClusterWorld) { self.world = world }

    /// Performs a request, or keeps it until the broker goes on.
    func take(_ body: @escaping () -> Void) {
        if isFrozen { held.append(body) } else { body() }
    }

    func freeze() { isFrozen = true }

    func thaw() {
        let requests = held
        (isFrozen, held) = (false, [])
        for request in requests { request() }
    }

    func stop() {
        (isUp, isFrozen, held) = (false, false, [])
        for node in world.nodes { node.linkChanged() }
    }

    func start() {
        isUp = true
        for node in world.nodes { node.linkChanged() }
    }

    /// Loses the latest acknowledged writes, and with them their revisions.
    func loseWrites(_ count: Int) {
        for _ in 0..<count {
            guard let last = journal.popLast() else { return }
            records[last.key] = last.before
            revision -= 1
        }
    }

    func loseData() {
        (records, revision, journal) = ([:], 0, [])
    }

    func read(_ key: String) -> StoredRecord? { records[key] }

    func write(_ value: [UInt8], of key: String, after expected: UInt64) -> Result<UInt64, BrokerError> {
        guard (records[key]?.revision ?? 0) == expected else { return .failure(.conflict) }
        // A claim may have a longer epoch and a longer name of its home.
        if refusesGrowth, value.count > (records[key]?.value.count ?? 0) + 64 { return .failure(.refused("too big")) }
        journal.append((key, records[key]))
        if journal.count > 100 { journal.removeFirst() }
        revision += 1
        records[key] = StoredRecord(value: value, revision: revision)
        return .success(revision)
    }

    /// Messages of one node arrive in order, at itself too, except where the world says otherwise.
    func publish(_ bytes: [UInt8], from sender: SimulatedNode) {
        guard !sender.isMuted else { return }
        take { [self] in send(bytes) }
    }

    private func send(_ bytes: [UInt8]) {
        for node in world.nodes {
            if world.random.chance(world.swarm.lost) { continue }
            let copies = world.random.chance(world.swarm.repeated) ? 2 : 1
            for _ in 0..<copies {
                let extra = world.random.chance(world.swarm.reordered) ? world.draw(upTo: .milliseconds(600)) : .zero
                let message = world.random.chance(world.swarm.garbage) ? Array(bytes.prefix(world.random.below(bytes.count))) : bytes
                world.after(node.latency + extra) {
                    // The server drops what a suspended node does not take.
                    if let beat = NodeBeat(message), node.isLinked, node.isRunning { node.handle(.received(beat)) }
                }
            }
        }
    }
}

/// The store that all nodes share: of each room, it refuses effects of an epoch that is lower than one that has written.
final class SimulatedStore {
    private(set) var highest: [String: RoomEpoch] = [:]
    var isUp = true

    /// - Returns: the epoch because of which the effect is refused; nil if it is accepted.
    func write(_ room: String, _ epoch: RoomEpoch) -> RoomEpoch? {
        if let highest = highest[room], highest > epoch { return highest }
        highest[room] = epoch
        return nil
    }
}
