/// How much may be sent to one endpoint now. One that does not answer gets one request at a time, ever more rarely.
struct WebhookEndpoint {
    /// At once.
    static let inFlightMax = 8
    /// In a row, after which an endpoint counts as dead until it answers.
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

    /// - Parameter next: when the event that failed would be sent again.
    mutating func failed(next: WallTime) {
        inFlight -= 1
        failures += 1
        if isDead { closedUntil = next }
    }
}
