internal import Synchronization

/// A queue through which other threads reach one service. Messages are handled in the order of posting.
///
/// Its owner bounds every kind of message: `Counts` counts those that are waiting, or the newest message for a `Key` replaces a waiting one.
final class ServiceInbox<Message: Sendable, Key: Hashable & Sendable, Counts: Sendable>: Sendable {
    private enum Item: Sendable {
        case message(Message)
        case newest(Key)
    }

    private struct State {
        var counts: Counts
        var newest: [Key: Message] = [:]
    }

    private let state: Mutex<State>
    private let taken: @Sendable (Message, inout Counts) -> Void
    private let items: AsyncStream<Item>
    private let continuation: AsyncStream<Item>.Continuation

    /// - Parameter taken: updates the counts when the reader takes a message.
    init(counts: Counts, taken: @escaping @Sendable (Message, inout Counts) -> Void) {
        state = Mutex(State(counts: counts))
        self.taken = taken
        // Bounded by `post`.
        (items, continuation) = AsyncStream.makeStream(of: Item.self)
    }

    /// Appends a message if `admits`, which updates the counts, returns true.
    ///
    /// - Returns: whether it was appended.
    func post(_ message: Message, if admits: (inout Counts) -> Bool) -> Bool {
        guard state.withLock({ admits(&$0.counts) }) else { return false }
        continuation.yield(.message(message))
        return true
    }

    /// Appends a message, or replaces the waiting one with this key.
    func post(_ message: Message, newestFor key: Key) {
        let isWaiting = state.withLock { $0.newest.updateValue(message, forKey: key) != nil }
        if !isWaiting { continuation.yield(.newest(key)) }
    }

    /// Ends `messages` after the queued ones.
    func finish() {
        continuation.finish()
    }

    /// Single reader only.
    var messages: some AsyncSequence<Message, Never> & Sendable { items.map { [self] in take($0) } }

    private func take(_ item: Item) -> Message {
        state.withLock { state in
            switch item {
            case .newest(let key):
                guard let message = state.newest.removeValue(forKey: key) else { preconditionFailure("a queued key has a message") }
                return message
            case .message(let message):
                taken(message, &state.counts)
                return message
            }
        }
    }
}
