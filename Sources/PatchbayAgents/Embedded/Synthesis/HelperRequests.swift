internal import Wire

/// The requests to a helper process: which wait for it to start, and which it is working on. Pure; time is an argument.
///
/// Requests that were sent fail when the process ends. Requests that wait are sent to its successor, unless the process fails to start
/// `startsMax` times in succession; then all requests fail at once until a start succeeds.
struct HelperRequests {
    struct Settings: Hashable, Sendable {
        /// Requests that may wait or be in progress.
        var requestsMax = 64
        /// Failed starts after which the helper counts as unavailable.
        var startsMax = 3
        /// How long a process may take to become ready.
        var startTimeout = Duration.seconds(20)
        /// How long a process with requests may be silent.
        var silenceMax = Duration.seconds(5)

        init() {}
    }

    private enum Phase: Hashable {
        case stopped
        case starting(since: Instant)
        case ready
    }

    private let settings: Settings
    private var phase = Phase.stopped
    /// Starts since the last one that succeeded.
    private(set) var failedStarts = 0
    private var lastNumber: UInt32 = 0
    private var waiting: [UInt32] = []
    private var sent: Set<UInt32> = []
    /// When the process sent something, or had nothing to do.
    private var lastProgress = Instant(nanoseconds: 0)

    init(_ settings: Settings = Settings()) {
        self.settings = settings
    }

    var isReady: Bool { phase == .ready }

    var isUnavailable: Bool { failedStarts >= settings.startsMax }

    /// - Returns: the number of a new request, and whether it is to be sent now.
    /// - Throws: `ProviderError` with code `overloaded` or `unavailable`.
    mutating func admit(at now: Instant) throws(ProviderError) -> (number: UInt32, isSentNow: Bool) {
        if isUnavailable { throw ProviderError(.unavailable, "The helper process does not start.") }
        guard waiting.count + sent.count < settings.requestsMax else {
            throw ProviderError(.overloaded, "Too many requests to the helper process.")
        }
        lastNumber &+= 1
        guard phase == .ready else {
            waiting.append(lastNumber)
            return (lastNumber, false)
        }
        if sent.isEmpty { lastProgress = now }
        sent.insert(lastNumber)
        return (lastNumber, true)
    }

    mutating func started(at now: Instant) {
        phase = .starting(since: now)
    }

    /// - Returns: requests to be sent, in order.
    mutating func becameReady(at now: Instant) -> [UInt32] {
        phase = .ready
        failedStarts = 0
        lastProgress = now
        defer { waiting = [] }
        sent.formUnion(waiting)
        return waiting
    }

    mutating func progressed(at now: Instant) {
        lastProgress = now
    }

    /// - Returns: whether the process is working on the request and is to be told to stop. The request counts until the process confirms.
    mutating func cancelled(_ number: UInt32) -> Bool {
        waiting.removeAll { $0 == number }
        return sent.contains(number)
    }

    mutating func finished(_ number: UInt32) {
        sent.remove(number)
    }

    /// - Returns: requests that fail.
    mutating func ended() -> [UInt32] {
        if phase != .ready { failedStarts += 1 }
        phase = .stopped
        var failed = sent.sorted()
        sent = []
        if isUnavailable {
            failed += waiting
            waiting = []
        }
        return failed
    }

    /// Whether the process is to be killed, because it does not start or does not respond.
    func isOverdue(at now: Instant) -> Bool {
        switch phase {
        case .stopped: false
        case .starting(let since): now - since > settings.startTimeout
        case .ready: !sent.isEmpty && now - lastProgress > settings.silenceMax
        }
    }
}
