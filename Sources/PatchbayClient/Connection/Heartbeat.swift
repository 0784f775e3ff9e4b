internal import Wire

/// Decides when to ping and when to consider the connection dead (PROTOCOL, "Liveness"). A pure value; time is an argument.
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

/// Delays between reconnect attempts, as LiveKit's clients use them: 0, 0.3, 1.2, 2.7 and 4.8 s, then 7 s each.
///
/// From the third attempt on, up to 1 s of jitter is added so that the clients of one gateway do not return in the same moment. Ten attempts
/// take about 50 s.
enum BackOff {
    static let attemptsMax = 10
    static let jitterMax = Duration.seconds(1)
    private static let delays = [0, 300, 1_200, 2_700, 4_800].map(Duration.milliseconds)
    private static let laterDelay = Duration.seconds(7)

    /// The delay before an attempt; nil to give up.
    ///
    /// - Parameters:
    ///   - attempt: 1 for the first.
    ///   - jitter: a random number from 0 to 1.
    static func delay(beforeAttempt attempt: Int, jitter: Double) -> Duration? {
        guard 1...attemptsMax ~= attempt else { return nil }
        let delay = attempt <= delays.count ? delays[attempt - 1] : laterDelay
        return attempt <= 2 ? delay : delay + jitterMax * jitter
    }
}
