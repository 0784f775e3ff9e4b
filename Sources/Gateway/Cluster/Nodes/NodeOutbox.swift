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
        /// The messages of the batch that is being sent.
        var underWay: [NodeMessage] = []
        /// Nil while nothing is sent.
        var sending: Task<Void, Never>?
        var isTakenBack = false
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
    private let ended: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - sender: this node, by its name in the cluster.
    ///   - ended: called if messages cannot be delivered because the node has ended, so that they can be taken back.
    init(sender: String, send: @escaping @Sendable (NodeMessageBatch) async -> Outcome, ended: @escaping @Sendable () -> Void) {
        (self.sender, self.send, self.ended) = (sender, send, ended)
    }

    /// - Returns: false if too many messages are waiting.
    func append(_ message: NodeMessage) -> Bool {
        state.withLock { state in
            guard state.queue.count < Self.messagesMax, !state.isTakenBack else { return false }
            state.queue.append(message)
            if state.sending == nil { state.sending = Task { await sendAll() } }
            return true
        }
    }

    /// Stops sending, because the node has ended. The outbox takes no more messages.
    ///
    /// - Returns: the messages that have not certainly been delivered, in order.
    func takeBack() -> [NodeMessage] {
        state.withLock { state in
            defer { (state.underWay, state.queue, state.isTakenBack) = ([], [], true) }
            // Its answer does not matter any more.
            state.sending?.cancel()
            return state.underWay + state.queue
        }
    }

    private func sendAll() async {
        while let batch = nextBatch() {
            while !Task.isCancelled {
                let outcome = await send(batch)
                if outcome == .delivered { break }
                if outcome == .ended { ended() }
                // Unless the messages were taken back: the node runs again.
                try? await Task.sleep(for: Self.retryInterval)
            }
        }
    }

    /// - Returns: nil if nothing is left to send.
    private func nextBatch() -> NodeMessageBatch? {
        state.withLock { state in
            guard !state.queue.isEmpty else {
                (state.underWay, state.sending) = ([], nil)
                return nil
            }
            state.number += 1
            var batch = NodeMessageBatch(sender: sender, number: state.number, messages: Array(state.queue.prefix(Self.batchMax)))
            while batch.messages.count > 1, batch.bytes.count > Self.bytesMax { batch.messages.removeLast((batch.messages.count + 1) / 2) }
            state.queue.removeFirst(batch.messages.count)
            state.underWay = batch.messages
            return batch
        }
    }
}
