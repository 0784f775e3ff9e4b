internal import Cluster
internal import Wire

/// Nodes of a cluster, their broker, the store that they share, and clients, in simulated time. The seed determines the history.
///
/// For 20 s there are faults, then they end. After five more seconds each room has one home, and each client is served by it.
package final class ClusterWorld: SimulatedWorld {
    enum Phase {
        case chaos, healed
    }

    package let seed: UInt64
    package let swarm: ClusterSwarm
    var random: SplitMix64
    private(set) var now = start
    private(set) var phase = Phase.chaos
    private var schedule = EventQueue<() -> Void>()
    private(set) var nodes: [SimulatedNode] = []
    private(set) var broker: SimulatedBroker!
    let store = SimulatedStore()
    private var clients: [SimulatedClient] = []
    private var homes: [String: [RoomEpoch: Int]] = [:]
    private var acknowledged: [String: Set<UInt64>] = [:]
    /// The requests of rooms that have been closed.
    private var closed: [String: Set<UInt64>] = [:]
    private var counts = (epochs: 0, acknowledged: 0, faults: 0)
    private var isOver = false
    package private(set) var failure: Failure?
    /// Receives the trace.
    package var trace: ((String) -> Void)?

    static let start = Instant(nanoseconds: 1_000_000_000)
    private static let chaos: Duration = .seconds(20)
    /// After this time without faults, each room has one home.
    private static let healing: Duration = .seconds(5)
    private static let service: Duration = .seconds(2)

    package init(seed: UInt64) {
        self.seed = seed
        random = SplitMix64(seed: seed)
        swarm = ClusterSwarm(drawnFrom: &random)
        broker = SimulatedBroker(self)
        nodes = (0..<swarm.nodeCount).map { SimulatedNode($0, self) }
        clients = (0..<swarm.roomCount * swarm.clientsPerRoom).map { SimulatedClient($0, room: "room-\($0 % swarm.roomCount)", self) }
    }

    /// Runs the world to its end or to the first failed check.
    package func run() -> Failure? {
        for node in nodes {
            after(draw(upTo: .seconds(1))) { node.start() }
            work(node)
        }
        for client in clients {
            after(draw(upTo: .seconds(3))) {
                client.seek()
                client.act()
            }
        }
        for fault in ClusterSwarm.Fault.allCases { schedule(fault) }
        after(Self.chaos) { [self] in heal() }
        after(Self.chaos + Self.healing) { [self] in checkHomes() }
        after(Self.chaos + Self.healing + Self.service) { [self] in checkService() }
        while failure == nil, !isOver, let (due, body) = schedule.next() {
            now = max(now, due)
            body()
        }
        return failure
    }

    package var selection: String { swarm.summary }

    package var summary: String { "\(counts.epochs) terms, \(counts.acknowledged) requests acknowledged, \(counts.faults) faults" }

    // MARK: Time and chance

    func after(_ span: Duration, _ body: @escaping () -> Void) { schedule.add(body, at: now + span) }

    func draw(upTo most: Duration) -> Duration { most > .zero ? random.between(.zero, most) : .zero }

    func log(_ text: @autoclosure () -> String) {
        guard let trace else { return }
        trace("\((now - Self.start).inNanoseconds / 1_000) µs  \(text())")
    }

    func fail(_ text: @autoclosure () -> String) {
        guard failure == nil else { return }
        failure = Failure(text: text(), time: now - Self.start)
    }

    func expect(_ isTrue: Bool, _ text: @autoclosure () -> String) {
        if !isTrue { fail(text()) }
    }

    // MARK: Messages

    /// A later version's nodes write fields that this one does not know.
    private func isLater(_ node: SimulatedNode) -> Bool { swarm.hasLaterNode && node.index == swarm.nodeCount - 1 }

    func encoded(_ beat: NodeBeat, by node: SimulatedNode) -> [UInt8] {
        isLater(node) ? Array(#"{"later":[1],"#.utf8) + beat.bytes.dropFirst() : beat.bytes
    }

    func encoded(_ record: RoomRecord, by node: SimulatedNode) -> [UInt8] {
        let bytes = record.bytes
        let end = bytes.firstIndex(of: UInt8(ascii: "\n"))!
        let hasField = String(decoding: bytes[..<end], as: UTF8.self).contains("later")
        return isLater(node) && !hasField ? Array(#"{"later":"kept","#.utf8) + bytes.dropFirst() : bytes
    }

    /// To a client that is connected to this node.
    func tell(_ client: Int, from node: SimulatedNode, _ body: @escaping (SimulatedClient) -> Void) {
        let (client, run) = (clients[client], node.run)
        guard !node.isCutFromClients, client.isConnected(to: node) else { return }
        // As on a socket, in order.
        after(swarm.latencyMax / 2) { if node.run == run, client.isConnected(to: node) { body(client) } }
    }

    func answer(_ client: Int, _ attempt: Int, _ answer: ClusterStateMachine.Answer, from node: SimulatedNode) {
        let run = node.run
        after(draw(upTo: swarm.latencyMax)) { [self] in
            if !node.isCutFromClients {
                node.receive { [self] in if node.run == run { clients[client].answered(attempt, answer, by: node) } }
            }
        }
    }

    func connectionsBroke(to node: SimulatedNode) {
        for client in clients { client.lostConnection(to: node) }
    }

    // MARK: Checks

    func noteHome(of room: String, _ epoch: RoomEpoch, _ node: SimulatedNode) {
        counts.epochs += 1
        expect(homes[room]?[epoch] == nil, "\(room) has two homes in epoch \(epoch.number): \(node.index) and another")
        homes[room, default: [:]][epoch] = node.index
    }

    /// A room may be taken over only from a node that has ended, as far as anybody can tell.
    func checkEnded(_ former: NodeIdentity, by node: SimulatedNode) {
        guard let former = nodes.first(where: { $0.isRunning && $0.machine.local == former }), former !== node else { return }
        let isHeard = former.isLinked && !former.isMuted && former.linkLatency == .zero && now - former.disturbedAt > .seconds(4)
        expect(!isHeard, "node \(node.index) takes a room from node \(former.index), which runs")
    }

    func noteAcknowledged(_ request: UInt64, in room: String) {
        counts.acknowledged += 1
        acknowledged[room, default: []].insert(request)
    }

    func noteClosed(_ room: String, _ accepted: Set<UInt64>) { closed[room, default: []].formUnion(accepted) }

    func checkRestored(_ room: String, _ accepted: Set<UInt64>, by node: SimulatedNode) {
        guard !swarm.losesAcknowledgedWrites else { return }
        expect(closed[room]?.isDisjoint(with: accepted) ?? true, "\(room) has been closed, and comes back on node \(node.index)")
    }

    private func checkHomes() {
        let names = nodes.filter(\.isUp).map(\.machine.local.name)
        expect(Set(names).count == names.count, "two nodes have one name")
        for room in Set(clients.map(\.room)).sorted() {
            let homes = nodes.filter { $0.isUp && $0.rooms[room] != nil }
            expect(homes.count == 1, "\(room) has \(homes.count) homes \(Self.healing) after the last fault")
            guard let home = homes.first else { return }
            for client in clients where client.room == room {
                expect(client.isConnected(to: home), "client \(client.index) is not connected to the home of \(room)")
            }
            let missing = (acknowledged[room] ?? []).subtracting(closed[room] ?? []).subtracting(home.rooms[room]?.accepted ?? [])
            if !swarm.losesAcknowledgedWrites {
                expect(missing.isEmpty, "\(missing.count) acknowledged requests of \(room) are lost: \(missing.min() ?? 0)")
            }
        }
    }

    private func checkService() {
        for client in clients {
            expect(now - client.acknowledgedAt < .seconds(1), "client \(client.index) is not served")
        }
        for node in nodes where node.isRunning {
            expect(node.waitsSince.map { now - $0 < .seconds(4) } ?? true, "node \(node.index) owes an answer")
        }
        for room in store.highest.keys.sorted() {
            let epochs = nodes.filter(\.isUp).compactMap { $0.rooms[room]?.epoch }
            expect(epochs == [store.highest[room]!], "the home of \(room) cannot write to the store")
        }
        isOver = true
    }

    // MARK: Faults

    private func work(_ node: SimulatedNode) {
        after(.milliseconds(500)) { [self] in
            if node.isRunning {
                node.work()
                tellEnded(by: node)
            }
            work(node)
        }
    }

    /// A node tells others that it considers ended, on the path of clients' connections.
    private func tellEnded(by node: SimulatedNode) {
        guard node.machine.hearsItself(at: node.clock), !node.isCutFromClients else { return }
        let known = Set(node.machine.others(at: node.clock).map(\.node))
        for other in nodes where other !== node && other.isUp && !other.isCutFromClients && !known.contains(other.machine.local) {
            after(draw(upTo: swarm.latencyMax)) { other.handle(.takenForEnded) }
        }
    }

    private func schedule(_ fault: ClusterSwarm.Fault) {
        guard let mean = swarm.faults[fault] else { return }
        after(random.exponential(mean: mean)) { [self] in
            guard phase == .chaos else { return }
            log("fault: \(fault)")
            counts.faults += 1
            cause(fault)
            schedule(fault)
        }
    }

    /// Ends a fault after a while, unless all faults have ended before.
    private func end(after most: Duration, _ body: @escaping () -> Void) {
        after(random.between(.milliseconds(100), most)) { [self] in if phase == .chaos { body() } }
    }

    private func cause(_ fault: ClusterSwarm.Fault) {
        let node = nodes[random.below(nodes.count)]
        switch fault {
        case .kill:
            node.kill()
            end(after: .seconds(4)) { node.start() }
        case .suspend: node.suspend(for: random.between(.milliseconds(100), .seconds(8)))
        case .drain:
            // As in a rolling upgrade, some nodes are left.
            guard nodes.count(where: { !$0.isDraining }) > 2 else { return }
            node.drain()
            end(after: .seconds(6)) { node.start() }
        case .cutFromBroker:
            node.isCutFromBroker = true
            end(after: .seconds(8)) { node.isCutFromBroker = false }
        case .cutFromClients:
            node.isCutFromClients = true
            end(after: .seconds(6)) { node.isCutFromClients = false }
        case .cutFromStore:
            node.isCutFromStore = true
            end(after: .seconds(8)) { node.isCutFromStore = false }
        case .slowLink:
            node.linkLatency = .milliseconds(400)
            end(after: .seconds(4)) { node.linkLatency = .zero }
        case .isolate:
            (node.isCutFromClients, node.isCutFromStore, node.isCutFromBroker) = (true, true, true)
            end(after: .seconds(10)) { (node.isCutFromClients, node.isCutFromStore, node.isCutFromBroker) = (false, false, false) }
        case .mute:
            (node.isCutFromClients, node.isMuted) = (true, true)
            end(after: .seconds(8)) { (node.isCutFromClients, node.isMuted) = (false, false) }
        case .brokerStops:
            broker.stop()
            end(after: .seconds(6)) { [broker] in broker?.start() }
        case .brokerFreezes:
            broker.freeze()
            end(after: .seconds(4)) { [broker] in broker?.thaw() }
        case .brokerLosesWrites:
            broker.stop()
            broker.loseWrites(random.between(1, 20))
            end(after: .seconds(2)) { [broker] in broker?.start() }
        case .brokerLosesData:
            broker.stop()
            broker.loseData()
            end(after: .seconds(2)) { [broker] in broker?.start() }
        case .brokerRefuses:
            broker.refusesGrowth = true
            end(after: .seconds(6)) { [broker] in broker?.refusesGrowth = false }
        case .storeStops:
            store.isUp = false
            end(after: .seconds(6)) { [store] in store.isUp = true }
        case .killAll:
            for node in nodes { node.kill() }
            for node in nodes { end(after: .seconds(2)) { node.start() } }
        case .rush:
            for client in clients { client.seek(at: node) }
        }
    }

    private func heal() {
        log("all faults end")
        phase = .healed
        store.isUp = true
        broker.refusesGrowth = false
        broker.thaw()
        broker.start()
        for node in nodes {
            (node.isCutFromClients, node.isCutFromStore, node.isMuted, node.linkLatency) = (false, false, false, .zero)
            node.isCutFromBroker = false
            node.resume()
            // The one that has yielded its name does not come back.
            if !(swarm.sharesName && node.index < 2) { node.start() }
        }
    }
}
