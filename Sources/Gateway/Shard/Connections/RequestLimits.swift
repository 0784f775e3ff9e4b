internal import Engine
internal import Wire

/// Limits on the requests of one participant.
///
/// Requests are limited by rate where the socket is, and by cost where the room is (`CostBudget`). A refused request is answered with
/// `limit_exceeded`; the connection stays open. `ping` and `playout.progress`, which clients send periodically, have a bucket of their
/// own, so that they do not fail because of other requests or many `ahead` tracks.
struct RequestLimits {
    var malformed: MalformedMessageCounter
    private var requests = TokenBucket(perSecond: Limits.requestsPerSecond, burst: Limits.requestBurst)
    private var reports = TokenBucket(perSecond: Limits.reportsPerSecond, burst: Limits.reportBurst)
    /// Used where the room is homed on the shard of the socket.
    var cost = CostBudget()

    init(now: Instant) {
        malformed = MalformedMessageCounter(now: now)
    }

    mutating func allowsRequest(at now: Instant) -> Bool { requests.take(at: now) }
    mutating func allowsReport(at now: Instant) -> Bool { reports.take(at: now) }

    static let exceeded = RequestError(
        .limitExceeded, "too many requests or too much data for others; send fewer per second", retryable: true)
}

/// The cost budget of one participant's requests, in bytes of the events they cause: event size times recipients.
///
/// A budget that refills at `Limits.requestCostPerSecond`. The cost is known only when a request has been executed, so a request is allowed
/// while there is any budget left, and may overdraw it once.
struct CostBudget: Sendable {
    /// When the budget is full again; not in the past once used.
    private var fullAt: UInt64 = 0

    private static var nanosecondsWhenEmpty: UInt64 {
        UInt64(Limits.requestCostBurst) * 1_000_000_000 / UInt64(Limits.requestCostPerSecond)
    }

    func hasAny(at now: Instant) -> Bool {
        fullAt <= now.nanoseconds + Self.nanosecondsWhenEmpty
    }

    mutating func spend(_ bytes: Int, at now: Instant) {
        fullAt = max(fullAt, now.nanoseconds) + UInt64(bytes) * 1_000_000_000 / UInt64(Limits.requestCostPerSecond)
    }
}
