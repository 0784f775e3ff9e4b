internal import Backend
internal import Cluster
internal import DequeModule
internal import Identity
internal import Logging
internal import Synchronization
internal import Wire

/// Connects this node with the coordinator: the node that serves users' channels, calls and dispatch for the whole cluster.
///
/// The coordinator is the home of a room without a name, which is claimed, lost, moved and fenced like any other, and never opened. Each node
/// asks every second where that room is, which makes it the coordinator if the room has no home.
///
/// Messages to the coordinator, and from it to rooms, are sent in order to the other node's port for nodes, sealed with the cluster's key. They
/// wait while their destination is not known or does not answer, and are addressed anew when it ends. What homes of the past report about
/// their rooms is ignored (`RoomFences`), no matter which node they are.
final class Coordination: Sendable {
    private struct State {
        /// By its name in the cluster; nil while it is not known.
        var coordinator: String?
        /// Messages that have no destination yet.
        var waiting = 0
        var outboxes: [String: NodeOutbox] = [:]
        /// Where rooms were last, for the time without a broker.
        var homes = RecentTable<String, String>(keeping: 10_000, for: .seconds(3_600))
        var fences = RoomFences()
        /// The latest batch of each other node.
        var received: [String: UInt64] = [:]
    }

    static let waitingMax = 10_000
    private static let interval = Duration.seconds(1)
    private static let retryInterval = Duration.milliseconds(200)

    private let cluster: ClusterRooms
    private let client: NodeClient
    private let rooms: RoomService
    private let key: SealingKey
    // Nil without the service.
    private let calls: CallInbox?
    private let dispatch: DispatchInbox?
    private let state = Mutex(State())
    private let messages: AsyncStream<NodeMessage>
    private let continuation: AsyncStream<NodeMessage>.Continuation

    init(_ cluster: ClusterRooms, _ client: NodeClient, key: SealingKey, rooms: RoomService, calls: CallInbox?, dispatch: DispatchInbox?) {
        (self.cluster, self.client, self.rooms, self.calls, self.dispatch) = (cluster, client, rooms, calls, dispatch)
        self.key = key.derived(for: "messages between nodes")
        // Bounded by `relay`.
        (messages, continuation) = AsyncStream.makeStream(of: NodeMessage.self)
    }

    private var name: String { cluster.identity.description }
    private var isHere: Bool { cluster.isHome(of: RoomHomes.coordinatorRoom) }

    /// Runs until the task is cancelled.
    func run() async {
        cluster.onEndedNode { [weak self] in self?.tell($0) }
        await withTaskGroup { group in
            group.addTask { await self.watch() }
            for await message in messages { await address(message) }
            group.cancelAll()
        }
    }

    // MARK: The coordinator

    private func watch() async {
        repeat { await lookUp() } while (try? await Task.sleep(for: Self.interval)) != nil
    }

    private func lookUp() async {
        let found: String
        switch await cluster.locate(RoomHomes.coordinatorRoom) {
        case .here: found = name
        case .elsewhere(let beat): found = beat.node.description
        case .unavailable, .storeUnavailable, .draining: return
        }
        let former = state.withLock { state in
            defer { state.coordinator = found }
            return state.coordinator
        }
        guard found != former else { return }
        cluster.log.notice("the cluster has a coordinator", metadata: ["coordinator": "\(found)"])
        // It does not know the rooms that are open here.
        for mailbox in cluster.mailboxes { mailbox.send(.cluster(.announceRooms)) }
    }

    /// Finds the coordinator, which becomes this node if there is none; without the broker, the last known one.
    func find() async -> RoomClaim {
        switch await cluster.locate(RoomHomes.coordinatorRoom) {
        case .here: return .here
        case .elsewhere(let beat): return .elsewhere(node: beat.node.description)
        case .draining: return .draining
        case .unavailable, .storeUnavailable: return knownCoordinator.map(RoomClaim.elsewhere) ?? .unavailable
        }
    }

    // MARK: Sending

    /// Called on any thread.
    func relay(_ message: NodeMessage) -> NodeRelayOutcome {
        let isForCoordinator = message.isForCoordinator
        let outcome = state.withLock { state -> NodeRelayOutcome in
            // Later messages do not overtake those that wait.
            if isForCoordinator, state.waiting == 0, isHere { return .here }
            guard state.waiting < Self.waitingMax else { return .refused }
            state.waiting += 1
            return .taken
        }
        switch outcome {
        case .taken: continuation.yield(message)
        case .refused: cluster.counters.messagesLost.add(1, ordering: .relaxed)
        case .here: return admit(message) ? .here : .outdated
        case .outdated: break
        }
        return outcome
    }

    /// Tells a node that has ended, so that it gives its rooms up if it was only cut off from the broker.
    private func tell(_ ended: NodeBeat) {
        guard let address = ended.address.flatMap(NodeAddress.init) else { return }
        // Outside of the batches' order, because no outbox leads there.
        let batch = NodeMessageBatch(sender: name, number: .max, messages: [.takenForEnded])
        let sealed = SealedBox.seal(batch.bytes, with: key, at: ended.node.description)
        Task { [client] in _ = await client.post(sealed, to: address) }
    }

    private func address(_ message: NodeMessage) async {
        defer { state.withLock { $0.waiting -= 1 } }
        switch message {
        case .takenForEnded: break
        case .command(_, let room):
            guard let home = await home(of: room) else { return }
            pass(message, to: home)
        case .dispatch, .calls:
            guard let coordinator = await coordinator() else { return }
            pass(message, to: coordinator)
        }
    }

    private func pass(_ message: NodeMessage, to node: String) {
        if node == name { return deliver(message) }
        if !outbox(to: node).append(message) { cluster.counters.messagesLost.add(1, ordering: .relaxed) }
    }

    /// - Returns: nil if the task is cancelled.
    private func coordinator() async -> String? {
        while !Task.isCancelled {
            if let known = knownCoordinator { return known }
            await lookUp()
            if let known = knownCoordinator { return known }
            try? await Task.sleep(for: Self.retryInterval)
        }
        return nil
    }

    /// The coordinator's name in the cluster; nil if it is not known, or does not run any more.
    var knownCoordinator: String? {
        if isHere { return name }
        let known = state.withLock { $0.coordinator }
        return known.flatMap { cluster.other(named: $0) == nil ? nil : $0 }
    }

    /// - Returns: nil for a room that is open nowhere.
    private func home(of room: String) async -> String? {
        if cluster.directory.home(of: room) != nil { return name }
        switch await cluster.find(room) {
        case .elsewhere(let node):
            state.withLock { state in
                _ = state.homes.advance(to: .now)
                state.homes[room] = node
            }
            return node
        case .here, .draining: return nil
        case .unavailable: return state.withLock { $0.homes[room] }
        }
    }

    private func outbox(to node: String) -> NodeOutbox {
        state.withLock { state in
            if let outbox = state.outboxes[node] { return outbox }
            state.outboxes = state.outboxes.filter { cluster.other(named: $0.key) != nil }
            let outbox = NodeOutbox(sender: name) { [weak self] batch in
                await self?.send(batch, to: node) ?? .ended
            } giveBack: { [weak self] messages in
                for message in messages { _ = self?.relay(message) }
            }
            state.outboxes[node] = outbox
            return outbox
        }
    }

    private func send(_ batch: NodeMessageBatch, to node: String) async -> NodeOutbox.Outcome {
        guard let address = cluster.other(named: node)?.address.flatMap(NodeAddress.init) else { return .ended }
        let sealed = SealedBox.seal(batch.bytes, with: key, at: node)
        return await client.post(sealed, to: address) ? .delivered : .failed
    }

    // MARK: Receiving

    /// Handles the messages of a batch, once.
    ///
    /// - Returns: false for bytes that no node has sent to this one.
    func receive(_ sealed: [UInt8]) -> Bool {
        guard let bytes = SealedBox.open(sealed, with: key, at: name), let batch = NodeMessageBatch(bytes) else { return false }
        if batch.messages.contains(.takenForEnded) {
            cluster.takenForEnded()
            return true
        }
        let isNew = state.withLock { state in
            guard batch.number > state.received[batch.sender, default: 0] else { return false }
            if state.received[batch.sender] == nil { state.received = state.received.filter { cluster.other(named: $0.key) != nil } }
            state.received[batch.sender] = batch.number
            return true
        }
        if isNew { for message in batch.messages { deliver(message) } }
        return true
    }

    /// Delivers a message here, or sends one on that has come to the wrong node.
    private func deliver(_ message: NodeMessage) {
        switch message {
        case .dispatch(let content) where isHere: if admit(message) { dispatch?.accept(content) }
        case .calls(let content) where isHere: if admit(message) { calls?.accept(content) }
        case .command(let command, let room) where cluster.directory.home(of: room) != nil:
            rooms.sendHere(command.administration, to: room)
        case .dispatch, .calls, .command: _ = relay(message)
        case .takenForEnded: break
        }
    }

    /// Whether a message may change something, because it is not outdated.
    private func admit(_ message: NodeMessage) -> Bool {
        guard let report = message.report else { return true }
        let isAdmitted = state.withLock { $0.fences.admit(report, at: .now) }
        if !isAdmitted { cluster.log.debug("ignored what a former home reports about a room", metadata: ["room": "\(report.room)"]) }
        return isAdmitted
    }
}

extension NodeMessage {
    fileprivate var isForCoordinator: Bool {
        switch self {
        case .dispatch, .calls: true
        case .command, .takenForEnded: false
        }
    }
}
