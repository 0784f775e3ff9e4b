internal import Wire

/// Decides when to ping and when to consider the connection dead (docs/protocol/resuming.md, "Liveness"). A pure value; time is an
/// argument.
struct Heartbeat {
    enum Verdict: Hashable {
        case nothing, ping, dead
    }

    /// How long a ping may stay unanswered before reconnecting. TCP would take minutes; the gateway keeps a session for 20 s only, and a
    /// disconnected device does not ring.
    static let defaultPongTimeout = Duration.seconds(4)

    private let interval: Duration
    private let timeout: Duration
    private let pongTimeout: Duration?
    private var lastReceived: Instant
    private var nextPing: Instant
    /// The first ping since anything was received.
    private var unansweredSince: Instant?

    /// - Parameters:
    ///   - interval: time between pings, from `hello`.
    ///   - timeout: maximum silence of the gateway, from `hello`.
    ///   - pongTimeout: maximum silence after a ping; nil if only `timeout` applies.
    init(interval: Duration, timeout: Duration, pongTimeout: Duration? = nil, now: Instant) {
        self.interval = interval
        self.timeout = timeout
        self.pongTimeout = pongTimeout
        lastReceived = now
        nextPing = now
    }

    /// Anything was received.
    mutating func didReceive(at now: Instant) {
        lastReceived = now
        unansweredSince = nil
    }

    mutating func verdict(at now: Instant) -> Verdict {
        if now >= deadAt { return .dead }
        guard now >= nextPing else { return .nothing }
        nextPing = now + interval
        if unansweredSince == nil { unansweredSince = now }
        return .ping
    }

    /// When to call `verdict` next.
    var deadline: Instant { min(nextPing, deadAt) }

    private var deadAt: Instant {
        guard let pongTimeout, let unansweredSince else { return lastReceived + timeout }
        return min(lastReceived + timeout, unansweredSince + pongTimeout)
    }
}

extension Backoff {
    /// The reconnect schedule of LiveKit's clients: 0, 0.3, 1.2, 2.7 and 4.8 s, then 7 s each.
    ///
    /// From the third attempt on, up to 1 s of jitter is added so that the clients of one gateway do not return in the same moment.
    private static let reconnect = Backoff(.quadratic, unit: .milliseconds(300), delayMax: .seconds(7), jitter: .added(.seconds(1)))
    /// Ten attempts take about 50 s.
    static let reconnectAttemptsMax = 10

    /// The delay before a reconnect attempt, 1 for the first; nil to give up.
    ///
    /// - Parameter random: a random number from 0 to 1, for the jitter.
    static func reconnectDelay(beforeAttempt attempt: Int, random: Double) -> Duration? {
        attempt <= reconnectAttemptsMax ? reconnect.delay(afterFailures: attempt, random: random) : nil
    }
}
