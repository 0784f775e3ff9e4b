internal import Wire

/// Requests that wait for their answers, by number. A pure value; time is an argument.
struct PendingRequests<Waiter> {
    private var waiting: [UInt64: (waiter: Waiter, deadline: Instant)] = [:]
    private var lastID: UInt64 = 0

    var count: Int { waiting.count }

    /// When the first one's time is over. O(requests that wait).
    var deadline: Instant? { waiting.values.lazy.map(\.deadline).min() }

    /// - Returns: the request's number, new in this connection.
    mutating func add(_ waiter: Waiter, deadline: Instant) -> UInt64 {
        lastID += 1
        waiting[lastID] = (waiter, deadline)
        return lastID
    }

    /// The same for a request that is made of its number.
    ///
    /// - Returns: its bytes; nil, and nobody waits, if they are more than the gateway takes.
    mutating func add(_ waiter: Waiter, deadline: Instant, making bytes: (UInt64) -> [UInt8]) -> [UInt8]? {
        let id = add(waiter, deadline: deadline)
        let request = bytes(id)
        guard request.count <= ProtocolLimits.controlBytesMax else {
            _ = take(id)
            return nil
        }
        return request
    }

    /// Whose answer this is; nil if nobody waits for it (any more).
    mutating func take(_ id: UInt64) -> Waiter? {
        waiting.removeValue(forKey: id)?.waiter
    }

    /// Those whose time is over, oldest first.
    mutating func takeExpired(at now: Instant) -> [Waiter] {
        take { $0.deadline <= now }
    }

    mutating func takeAll() -> [Waiter] {
        take { _ in true }
    }

    private mutating func take(where isMeant: ((waiter: Waiter, deadline: Instant)) -> Bool) -> [Waiter] {
        let ids = waiting.filter { isMeant($0.value) }.keys.sorted()
        return ids.compactMap { take($0) }
    }
}
