internal import Backend
internal import DequeModule
internal import Synchronization
internal import Wire

/// The messages that this node sends: to the coordinator, and to rooms at their homes.
///
/// Messages whose destination is not known wait: those to the coordinator in one queue, those to rooms in a queue for each room. When a node
/// ends, messages that it has not acknowledged are sent to its successor before later ones. So messages to the coordinator, and commands to
/// one room, arrive in order, with one exception: a node that hands over its role while it runs forwards messages that it still receives, and
/// these may arrive after messages that were sent to its successor directly.
final class OutgoingMessages: Sendable {
    /// The cluster, as far as messages need to know it. Closures that are not asynchronous are called within a lock.
    struct Cluster: Sendable {
        /// This node, by its name in the cluster.
        let local: String
        let isRunning: @Sendable (_ node: String) -> Bool
        /// The coordinator; nil if it is not known, or does not run any more.
        let knownCoordinator: @Sendable () -> String?
        let findCoordinator: @Sendable () async -> Void
        let isOpenHere: @Sendable (_ room: String) -> Bool
        /// Where a room is: `here` also if it has no home that runs.
        let find: @Sendable (_ room: String) async -> RoomClaim
        /// Has a room without a home go on from its snapshot: here, or at another node if this one drains. It is `here` also if the room is over.
        let restore: @Sendable (_ room: String) async -> RoomClaim
        let send: @Sendable (NodeMessageBatch, _ node: String) async -> NodeOutbox.Outcome
        /// A message is lost, because too many are waiting.
        let noteLoss: @Sendable () -> Void
    }

    struct State {
        var outboxes: [String: NodeOutbox] = [:]
        /// The node to which messages to the coordinator were sent last.
        var coordinator: String?
        var toCoordinator: Deque<NodeMessage> = []
        /// Messages to the coordinator are being delivered here.
        var isDelivering = false
        /// Commands that wait, by room. Their order among rooms does not matter.
        var toRooms: [String: Deque<NodeMessage>] = [:]
        var toRoomsCount = 0
        /// The homes of rooms, known from reports and from earlier searches.
        var homes = RecentTable<String, String>(keeping: 10_000, for: .seconds(3_600))
    }

    /// Messages to the coordinator that wait, and as many to rooms. Those that come back from a node that has ended are not refused; their
    /// number is limited by that of its outbox.
    static let waitingMax = 10_000
    private static let retryInterval = Duration.milliseconds(200)

    let cluster: Cluster
    let state = Mutex(State())
    private let wakeUps: (coordinator: WakeUps, rooms: WakeUps)

    private struct WakeUps: Sendable {
        let stream: AsyncStream<Void>
        let continuation: AsyncStream<Void>.Continuation

        // Several wake-ups count as one.
        init() { (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }
    }

    init(_ cluster: Cluster) {
        self.cluster = cluster
        wakeUps = (WakeUps(), WakeUps())
    }

    /// Finds destinations that are not known, until the task is cancelled.
    ///
    /// - Parameter accept: handles a message whose destination is this node; false if it is another one by then.
    func run(accepting accept: @escaping @Sendable (NodeMessage) -> Bool) async {
        await withTaskGroup { group in
            group.addTask { for await _ in self.wakeUps.coordinator.stream { await self.seekCoordinator(accept) } }
            group.addTask { for await _ in self.wakeUps.rooms.stream { await self.seekRooms(accepting: accept) } }
            group.addTask { while (try? await Task.sleep(for: Self.retryInterval)) != nil { self.wake() } }
        }
    }

    private func wake() {
        wakeUps.coordinator.continuation.yield()
        wakeUps.rooms.continuation.yield()
    }

    // MARK: Sending

    /// Called on any thread.
    func relay(_ message: NodeMessage) -> NodeRelayOutcome {
        switch message {
        case .dispatch, .calls: relayToCoordinator(message)
        case .command(_, let room): relay(message, to: room)
        case .takenForEnded: .refused
        }
    }

    private func relayToCoordinator(_ message: NodeMessage) -> NodeRelayOutcome {
        let (outcome, waits) = state.withLock { state -> (NodeRelayOutcome, Bool) in
            let known = cluster.knownCoordinator()
            // Later messages do not overtake those that wait.
            let isWaiting = !state.toCoordinator.isEmpty || state.isDelivering || state.coordinator != known
            if known == cluster.local, !isWaiting { return (.here, false) }
            guard state.toCoordinator.count < Self.waitingMax else { return (.refused, false) }
            state.toCoordinator.append(message)
            guard let known, known != cluster.local else { return (.taken, true) }
            passAll(toCoordinator: known, &state)
            return (.taken, false)
        }
        if waits { wakeUps.coordinator.continuation.yield() }
        if outcome == .refused { cluster.noteLoss() }
        return outcome
    }

    private func relay(_ message: NodeMessage, to room: String) -> NodeRelayOutcome {
        let (outcome, waits) = state.withLock { state -> (NodeRelayOutcome, Bool) in
            if state.toRooms[room] == nil, !cluster.isOpenHere(room), let home = knownHome(of: room, state) {
                append(message, toNode: home, &state)
                return (.taken, false)
            }
            guard state.toRoomsCount < Self.waitingMax else { return (.refused, false) }
            state.toRooms[room, default: []].append(message)
            state.toRoomsCount += 1
            return (.taken, true)
        }
        if waits { wakeUps.rooms.continuation.yield() }
        if outcome == .refused { cluster.noteLoss() }
        return outcome
    }

    /// Sends a command on that has come to this node, where the room is not open. Only the broker's record decides where it is: two nodes
    /// that each considered the other one the home would forward the command to each other forever.
    func sendOn(_ message: NodeMessage) {
        if case .command(_, let room) = message { state.withLock { $0.homes[room] = nil } }
        _ = relay(message)
    }

    /// A node has reported something as the home of a room.
    func noteHome(of room: String, _ node: String) {
        state.withLock { state in
            let isNew = state.homes[room] != node || state.toRooms[room] != nil
            guard isNew, cluster.isRunning(node), !cluster.isOpenHere(room) else { return }
            passAll(to: room, at: node, &state)
        }
    }

    /// Takes back messages to nodes that have ended, and finds their new destinations. Called when a node ends.
    func nodeEnded() {
        state.withLock { takeBack(&$0) }
        wake()
    }

    // MARK: The coordinator

    private func seekCoordinator(_ accept: (NodeMessage) -> Bool) async {
        guard state.withLock({ !$0.toCoordinator.isEmpty }) else { return }
        if cluster.knownCoordinator() == nil { await cluster.findCoordinator() }
        while let messages = takeForHere() { for message in messages where !accept(message) { _ = relay(message) } }
    }

    /// Passes all messages to the coordinator, if it is known.
    ///
    /// - Returns: those that are to be delivered here; nil if there are none.
    private func takeForHere() -> Deque<NodeMessage>? {
        state.withLock { state in
            state.isDelivering = false
            guard !state.toCoordinator.isEmpty, let coordinator = cluster.knownCoordinator() else { return nil }
            guard coordinator == cluster.local else {
                passAll(toCoordinator: coordinator, &state)
                return nil
            }
            setCoordinator(coordinator, &state)
            defer { state.toCoordinator = [] }
            state.isDelivering = true
            return state.toCoordinator
        }
    }

    private func passAll(toCoordinator node: String, _ state: inout State) {
        setCoordinator(node, &state)
        let messages = state.toCoordinator
        state.toCoordinator = []
        for message in messages { append(message, toNode: node, &state) }
    }

    private func setCoordinator(_ node: String, _ state: inout State) {
        guard state.coordinator != node else { return }
        state.coordinator = node
        // Before the first message to the new one.
        takeBack(&state)
    }

    // MARK: Outboxes

    func append(_ message: NodeMessage, toNode node: String, _ state: inout State) {
        if !outbox(to: node, &state).append(message) { cluster.noteLoss() }
    }

    private func outbox(to node: String, _ state: inout State) -> NodeOutbox {
        if let outbox = state.outboxes[node] { return outbox }
        let outbox = NodeOutbox(sender: cluster.local) { [cluster] batch in
            await cluster.send(batch, node)
        } ended: { [weak self] in
            self?.nodeEnded()
        }
        state.outboxes[node] = outbox
        return outbox
    }

    /// Moves messages that have not reached nodes that have ended to the front of the queues.
    func takeBack(_ state: inout State) {
        for (node, outbox) in state.outboxes where !cluster.isRunning(node) {
            state.outboxes[node] = nil
            for message in outbox.takeBack().reversed() {
                switch message {
                case .dispatch, .calls: state.toCoordinator.prepend(message)
                case .command(_, let room):
                    state.toRooms[room, default: []].prepend(message)
                    state.toRoomsCount += 1
                case .takenForEnded: break
                }
            }
        }
    }
}
