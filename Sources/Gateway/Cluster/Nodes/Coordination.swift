internal import Backend
internal import Cluster
internal import Identity
internal import Logging
internal import Synchronization
internal import Wire

/// Connects this node with the coordinator: the node that serves users' channels, calls and dispatch for the whole cluster.
///
/// The coordinator is the home of a room without a name, which is claimed, lost, moved and fenced like any other, and never opened
/// (`CoordinatorWatch`).
///
/// Messages to the coordinator, and from it to rooms, are sent in order (`OutgoingMessages`) to the other node's port for nodes, sealed
/// with the cluster's key. Reports from former homes of rooms are ignored (`RoomFences`), whichever node sends them.
final class Coordination: Sendable {
    private struct State {
        var fences = RoomFences()
        /// The latest batch of each other node.
        var received: [String: UInt64] = [:]
    }

    private let cluster: ClusterRooms
    private let client: NodeClient
    private let rooms: RoomService
    private let key: SealingKey
    // Nil without the service.
    private let calls: CallInbox?
    private let dispatch: DispatchInbox?
    private let watch: CoordinatorWatch
    private let outgoing: OutgoingMessages
    private let state = Mutex(State())

    init(_ cluster: ClusterRooms, _ client: NodeClient, key: SealingKey, rooms: RoomService, calls: CallInbox?, dispatch: DispatchInbox?) {
        (self.cluster, self.client, self.rooms, self.calls, self.dispatch) = (cluster, client, rooms, calls, dispatch)
        let key = key.derived(for: "messages between nodes")
        let watch = CoordinatorWatch(cluster)
        (self.key, self.watch) = (key, watch)
        outgoing = OutgoingMessages(
            OutgoingMessages.Cluster(
                local: cluster.identity.description, isRunning: { cluster.other(named: $0) != nil }, knownCoordinator: { watch.known },
                findCoordinator: { await watch.lookUp() }, isOpenHere: { cluster.directory.home(of: $0) != nil },
                find: { await cluster.find($0) }, restore: { await cluster.seek($0) },
                send: { batch, node in
                    guard let address = cluster.other(named: node)?.address.flatMap(NodeAddress.init) else { return .ended }
                    return await client.post(SealedBox.seal(batch.bytes, with: key, at: node), to: address) ? .delivered : .failed
                }, noteLoss: { cluster.counters.messagesLost.add(1, ordering: .relaxed) }))
    }

    private var name: String { cluster.identity.description }

    /// Runs until the task is cancelled.
    func run() async {
        cluster.onEndedNode { [weak self] ended in
            self?.outgoing.nodeEnded()
            self?.tell(ended)
        }
        await withTaskGroup { group in
            group.addTask { await self.watch.run() }
            group.addTask { await self.outgoing.run { self.accept($0) } }
        }
    }

    var knownCoordinator: String? { watch.known }

    /// Finds the coordinator, which becomes this node if there is none; without the broker, the last known one.
    func find() async -> RoomClaim { await watch.find() }

    // MARK: Sending

    /// Called on any thread.
    func relay(_ message: NodeMessage) -> NodeRelayOutcome {
        let outcome = outgoing.relay(message)
        return outcome == .here && !admit(message) ? .outdated : outcome
    }

    /// Tells a node that has ended, so that it gives its rooms up if it was only cut off from the broker.
    private func tell(_ ended: NodeBeat) {
        guard let address = ended.address.flatMap(NodeAddress.init) else { return }
        // Outside of the batches' order, because no outbox leads there.
        let batch = NodeMessageBatch(sender: name, number: .max, messages: [.takenForEnded])
        let sealed = SealedBox.seal(batch.bytes, with: key, at: ended.node.description)
        Task { [client] in _ = await client.post(sealed, to: address) }
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
        guard isNew else { return true }
        for message in batch.messages where !accept(message, from: batch.sender) { outgoing.sendOn(message) }
        return true
    }

    /// Passes a message to this node's services and rooms.
    ///
    /// - Parameter sender: nil for this node.
    /// - Returns: false if the message is for another node.
    private func accept(_ message: NodeMessage, from sender: String? = nil) -> Bool {
        switch message {
        case .dispatch, .calls:
            guard watch.isHere else { return false }
            guard admit(message) else { return true }
            if let sender, let report = message.report { outgoing.noteHome(of: report.room, sender) }
            if case .dispatch(let message) = message { dispatch?.accept(message) }
            if case .calls(let message) = message { calls?.accept(message) }
        case .command(let command, let room):
            guard cluster.directory.home(of: room) != nil else { return false }
            rooms.sendHere(command.administration, to: room)
        case .takenForEnded: break
        }
        return true
    }

    /// Whether a message takes effect: not if it is a report from a room's former home.
    private func admit(_ message: NodeMessage) -> Bool {
        guard let report = message.report else { return true }
        let isAdmitted = state.withLock { $0.fences.admit(report, at: .now) }
        if !isAdmitted { cluster.log.debug("ignored what a former home reports about a room", metadata: ["room": "\(report.room)"]) }
        return isAdmitted
    }
}
