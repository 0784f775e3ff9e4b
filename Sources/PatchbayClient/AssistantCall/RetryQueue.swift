internal import Wire

/// Requests that are sent in order and retried after 1, 2, 4 … s, at most 30 s. A pure value; time is an argument.
///
/// When the queue is full, the oldest request that is not being sent is dropped.
struct RetryQueue<Value> {
    private struct Entry {
        var key: String
        var value: Value
        var attempts = 0
        var isSent = false
        var dueAt: Instant
    }

    private static var delayMax: Duration { .seconds(30) }

    private let limit: Int
    private let attemptsMax: Int
    private let concurrency: Int
    private var entries: [Entry] = []

    /// - Parameters:
    ///   - limit: the maximum number of requests, including those being sent.
    ///   - attemptsMax: the number of attempts after which a request is dropped.
    ///   - concurrency: the number of requests to send at once; 1 preserves their order.
    init(limit: Int, attemptsMax: Int, concurrency: Int) {
        self.limit = limit
        self.attemptsMax = attemptsMax
        self.concurrency = concurrency
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The time of the next attempt; nil if there is none before a response arrives.
    var retryAt: Instant? { sendable.map(\.dueAt).min() }

    /// Adds a request, unless the queue contains its key.
    ///
    /// - Returns: whether another request was dropped to make room.
    mutating func append(_ value: Value, key: String, at now: Instant) -> Bool {
        guard !entries.contains(where: { $0.key == key }) else { return false }
        entries.append(Entry(key: key, value: value, dueAt: now))
        guard entries.count > limit, let oldest = entries.firstIndex(where: { !$0.isSent }) else { return false }
        entries.remove(at: oldest)
        return true
    }

    /// Returns the requests to send now.
    mutating func due(at now: Instant) -> [(key: String, value: Value)] {
        let keys = Set(sendable.filter { $0.dueAt <= now }.map(\.key))
        var requests: [(key: String, value: Value)] = []
        for index in entries.indices where keys.contains(entries[index].key) {
            entries[index].isSent = true
            requests.append((entries[index].key, entries[index].value))
        }
        return requests
    }

    mutating func succeeded(_ key: String) {
        entries.removeAll { $0.key == key }
    }

    /// Schedules a retry, or drops the request.
    ///
    /// - Returns: whether the request was dropped.
    mutating func failed(_ key: String, isRetryable: Bool, at now: Instant) -> Bool {
        guard let index = entries.firstIndex(where: { $0.key == key && $0.isSent }) else { return false }
        entries[index].attempts += 1
        guard isRetryable, entries[index].attempts < attemptsMax else {
            entries.remove(at: index)
            return true
        }
        let delay = min(Duration.seconds(1 << min(entries[index].attempts - 1, 5)), Self.delayMax)
        entries[index].isSent = false
        entries[index].dueAt = now + delay
        return false
    }

    /// The requests at the front that may be sent, without those being sent.
    private var sendable: [Entry] {
        entries.prefix(concurrency).filter { !$0.isSent }
    }
}
