internal import Wire

/// When to ping, and when to believe that the line is dead (PROTOCOL section 10). A pure value; time is an argument.
struct Heartbeat {
    enum Verdict: Hashable {
        case nothing, ping, dead
    }

    /// How long a ping may go unanswered, and nothing else come, before we try on another socket. TCP would notice minutes later; a place
    /// in a room is kept for 20 s only, and a device that is not there does not ring.
    static let usualPatience = Duration.seconds(4)

    private let interval: Duration
    private let timeout: Duration
    private let patience: Duration?
    private var lastHeard: Instant
    private var nextPing: Instant
    /// When we pinged first after the last sign of life.
    private var askedAt: Instant?

    /// - Parameters:
    ///   - interval: how often to ping, from `hello`.
    ///   - timeout: how long nothing may come, from `hello`.
    ///   - patience: how long nothing may come after a ping; nil is as long as ever.
    init(interval: Duration, timeout: Duration, patience: Duration? = nil, now: Instant) {
        self.interval = interval
        self.timeout = timeout
        self.patience = patience
        lastHeard = now
        nextPing = now
    }

    /// Anything has come.
    mutating func heard(at now: Instant) {
        lastHeard = now
        askedAt = nil
    }

    mutating func verdict(at now: Instant) -> Verdict {
        if now >= givesUpAt { return .dead }
        guard now >= nextPing else { return .nothing }
        nextPing = now + interval
        if askedAt == nil { askedAt = now }
        return .ping
    }

    /// When `verdict` is to be asked next.
    var deadline: Instant { min(nextPing, givesUpAt) }

    private var givesUpAt: Instant {
        guard let patience, let askedAt else { return lastHeard + timeout }
        return min(lastHeard + timeout, askedAt + patience)
    }
}
