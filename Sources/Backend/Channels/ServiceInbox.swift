internal import Synchronization
package import Wire

/// A queue through which other threads reach one service. Messages are handled in the order of posting.
///
/// Its owner bounds every kind of message by a limit, or the newest message for a `Key` replaces a waiting one.
final class ServiceInbox<Message: Sendable, Key: Hashable & Sendable, Kind: Hashable & Sendable>: Sendable {
    private enum Item: Sendable {
        case message(Message)
        case newest(Key)
    }

    private struct State {
        var counts: [Kind: Int] = [:]
        var newest: [Key: Message] = [:]
    }

    private let state = Mutex(State())
    private let limits: [Kind: Int]
    private let released: @Sendable (Message) -> Kind?
    private let items: AsyncStream<Item>
    private let continuation: AsyncStream<Item>.Continuation

    /// - Parameters:
    ///   - limits: of each kind.
    ///   - released: the kind that has one message less when the reader takes this one.
    init(limits: [Kind: Int], released: @escaping @Sendable (Message) -> Kind?) {
        self.limits = limits
        self.released = released
        // Bounded by `post`.
        (items, continuation) = AsyncStream.makeStream(of: Item.self)
    }

    /// Appends a message.
    ///
    /// - Parameter kind: whose limit applies; nil for none.
    /// - Returns: whether it was appended.
    func post(_ message: Message, as kind: Kind?) -> Bool {
        let isAdmitted = state.withLock { state in
            guard let kind, let limit = limits[kind] else { return true }
            guard state.counts[kind, default: 0] < limit else { return false }
            state.counts[kind, default: 0] += 1
            return true
        }
        guard isAdmitted else { return false }
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
                if let kind = released(message) { state.counts[kind, default: 0] -= 1 }
                return message
            }
        }
    }
}

/// Wakes its owner at the earliest armed deadline, using at most one sleeping task.
///
/// An earlier deadline replaces the task; a later one is ignored, because the owner arms again after waking.
package struct DeadlineTimer {
    private var deadline: Instant?
    private var sleeper: Task<Void, Never>?
    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameter sleep: must throw when the task is cancelled.
    package init(sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) {
        self.sleep = sleep
    }

    /// - Parameter wake: must call `disarm()` before it arms again.
    package mutating func arm(for deadline: Instant, at now: Instant, wake: @escaping @Sendable () async -> Void) {
        if let armed = self.deadline, armed <= deadline { return }
        sleeper?.cancel()
        self.deadline = deadline
        let pause = max(.zero, deadline - now)
        sleeper = Task { [sleep] in
            do { try await sleep(pause) } catch { return }
            await wake()
        }
    }

    /// The deadline has passed and `wake` runs.
    package mutating func disarm() {
        deadline = nil
        sleeper = nil
    }

    package mutating func cancel() {
        sleeper?.cancel()
        disarm()
    }
}
