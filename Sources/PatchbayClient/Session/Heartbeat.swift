internal import Wire

/// When to ping, and when to believe that the line is dead (PROTOCOL section 10). A pure value; time is an argument.
struct Heartbeat {
    enum Verdict: Hashable {
        case nothing, ping, dead
    }

    private let interval: Duration
    private let timeout: Duration
    private var lastHeard: Instant
    private var nextPing: Instant

    /// - Parameters:
    ///   - interval: how often to ping, from `hello`.
    ///   - timeout: how long nothing may come, from `hello`.
    init(interval: Duration, timeout: Duration, now: Instant) {
        self.interval = interval
        self.timeout = timeout
        lastHeard = now
        nextPing = now
    }

    /// Anything has come.
    mutating func heard(at now: Instant) {
        lastHeard = now
    }

    mutating func verdict(at now: Instant) -> Verdict {
        if now - lastHeard >= timeout { return .dead }
        guard now >= nextPing else { return .nothing }
        nextPing = now + interval
        return .ping
    }

    /// When `verdict` is to be asked next.
    var deadline: Instant { min(nextPing, lastHeard + timeout) }
}
