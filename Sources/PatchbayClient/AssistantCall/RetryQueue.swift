internal import Wire

/// Requests that are sent in order and repeated when they fail: after 1, 2, 4 … s, at most 30 s. A pure value; time is an argument.
///
/// Beyond its limit the oldest request that is not being sent is dropped.
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
    ///   - limit: requests that wait or are being sent.
    ///   - attemptsMax: after which a request is dropped.
    ///   - concurrency: requests that are sent at once; 1 keeps their order.
    init(limit: Int, attemptsMax: Int, concurrency: Int) {
        self.limit = limit
        self.attemptsMax = attemptsMax
        self.concurrency = concurrency
    }

    var isEmpty: Bool { entries.isEmpty }

    /// When a request is repeated; nil while one must be answered first.
    var retryAt: Instant? { sendable.map(\.dueAt).min() }

    /// - Returns: whether another request was dropped for it. A key that is in the queue is not added again.
    mutating func append(_ value: Value, key: String, at now: Instant) -> Bool {
        guard !entries.contains(where: { $0.key == key }) else { return false }
        entries.append(Entry(key: key, value: value, dueAt: now))
        guard entries.count > limit, let oldest = entries.firstIndex(where: { !$0.isSent }) else { return false }
        entries.remove(at: oldest)
        return true
    }

    /// The requests to send now.
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

    /// - Returns: whether the request is given up.
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

    /// The first requests, as many as may be sent at once, without those that are being sent.
    private var sendable: [Entry] {
        entries.prefix(concurrency).filter { !$0.isSent }
    }
}
