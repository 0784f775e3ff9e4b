/// The meaning of an endpoint's response.
///
/// LiveKit counts every status but 429 and 5xx as delivered. Here only 2xx counts, because a misconfigured endpoint answers 404 or 401 for
/// a while, and its events would be lost.
enum WebhookAnswer {
    case delivered
    case failed
    /// 410: the endpoint declines the event.
    case gone

    init(status: Int) {
        switch status {
        case 200...299: self = .delivered
        case 410: self = .gone
        default: self = .failed
        }
    }
}

/// Concurrency control and circuit breaker of one endpoint: a dead endpoint gets one request at a time, at growing intervals.
struct WebhookEndpoint {
    /// Concurrent requests.
    static let inFlightMax = 8
    /// Consecutive failures after which an endpoint is dead until it answers.
    static let failuresMax = 3

    let url: String
    private var inFlight = 0
    private var failures = 0
    private var closedUntil: WallTime?

    init(url: String) {
        self.url = url
    }

    private var isDead: Bool { failures >= Self.failuresMax }

    func room(at now: WallTime) -> Int {
        if let closedUntil, now < closedUntil { return 0 }
        return max(0, (isDead ? 1 : Self.inFlightMax) - inFlight)
    }

    mutating func begin() {
        inFlight += 1
    }

    mutating func answered() {
        inFlight -= 1
        failures = 0
        closedUntil = nil
    }

    /// - Parameter next: the time of the failed webhook's next attempt.
    mutating func failed(next: WallTime) {
        inFlight -= 1
        failures += 1
        if isDead { closedUntil = next }
    }
}
