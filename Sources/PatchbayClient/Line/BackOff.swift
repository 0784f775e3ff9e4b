/// When to try again after a connection was lost: LiveKit's delays.
///
/// At once, then after 0.3, 1.2, 2.7 and 4.8 s, then every 7 s; from the third attempt on up to 1 s more, drawn by lot, so that not
/// all clients of a gateway come back in the same moment. Ten attempts, about 50 s.
enum BackOff {
    static let attemptsMax = 10
    static let jitterMax = Duration.seconds(1)
    private static let delays = [0, 300, 1_200, 2_700, 4_800].map(Duration.milliseconds)
    private static let laterDelay = Duration.seconds(7)

    /// How long to wait before an attempt; nil to give up.
    ///
    /// - Parameters:
    ///   - attempt: 1 for the first.
    ///   - jitter: drawn by lot from 0 to 1.
    static func delay(beforeAttempt attempt: Int, jitter: Double) -> Duration? {
        guard 1...attemptsMax ~= attempt else { return nil }
        let delay = attempt <= delays.count ? delays[attempt - 1] : laterDelay
        return attempt <= 2 ? delay : delay + jitterMax * jitter
    }
}
