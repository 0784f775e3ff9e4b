internal import Backend
internal import DequeModule
internal import Synchronization
internal import Wire

/// Messages on their way to one other node, which are delivered in order and once, in batches.
final class NodeOutbox: Sendable {
    enum Outcome: Sendable {
        case delivered
        /// The batch may have arrived. It is sent again with the same number, so that it has no effect twice.
        case failed
        /// The node does not run any more.
        case ended
    }

    private struct State {
        var queue: Deque<NodeMessage> = []
        var isSending = false
        /// Number of the latest batch. It begins with the time, so that those of a later outbox to the same node are higher.
        var number = Instant.now.nanoseconds
    }

    private static let messagesMax = 10_000
    private static let batchMax = 256
    /// Limit of a batch with more than one message. A request's body has at most 1 MiB.
    private static let bytesMax = 512 << 10
    private static let retryInterval = Duration.milliseconds(200)

    private let sender: String
    private let send: @Sendable (NodeMessageBatch) async -> Outcome
    private let giveBack: @Sendable ([NodeMessage]) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - sender: this node, by its name in the cluster.
    ///   - giveBack: gets the messages that are not delivered because the node has ended.
    init(
        sender: String, send: @escaping @Sendable (NodeMessageBatch) async -> Outcome,
        giveBack: @escaping @Sendable ([NodeMessage]) -> Void
    ) {
        (self.sender, self.send, self.giveBack) = (sender, send, giveBack)
    }

    /// - Returns: false if too many messages are waiting.
    func append(_ message: NodeMessage) -> Bool {
        let (isAppended, begins) = state.withLock { state in
            guard state.queue.count < Self.messagesMax else { return (false, false) }
            state.queue.append(message)
            defer { state.isSending = true }
            return (true, !state.isSending)
        }
        if begins { Task { await sendAll() } }
        return isAppended
    }

    private func sendAll() async {
        while let batch = nextBatch() {
            while true {
                switch await send(batch) {
                case .delivered: break
                case .failed:
                    try? await Task.sleep(for: Self.retryInterval)
                    continue
                case .ended: giveBack(batch.messages)
                }
                break
            }
        }
    }

    private func nextBatch() -> NodeMessageBatch? {
        state.withLock { state in
            guard !state.queue.isEmpty else {
                state.isSending = false
                return nil
            }
            state.number += 1
            var batch = NodeMessageBatch(sender: sender, number: state.number, messages: Array(state.queue.prefix(Self.batchMax)))
            while batch.messages.count > 1, batch.bytes.count > Self.bytesMax { batch.messages.removeLast((batch.messages.count + 1) / 2) }
            state.queue.removeFirst(batch.messages.count)
            return batch
        }
    }
}
