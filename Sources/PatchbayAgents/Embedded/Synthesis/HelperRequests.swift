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

/// A message on the standard input or output of a helper process.
///
/// Layout: length of the rest (4 bytes, big-endian), kind (1 byte), request number (4 bytes, big-endian), body.
struct HelperMessage: Hashable, Sendable {
    /// The meaning of a message; the codes are those of `scripts/models/hibari_helper.py`.
    enum Kind: UInt8, Sendable {
        case request = 1
        case cancel = 2
        /// The process accepts requests. Sent once, with request number 0.
        case ready = 16
        /// A part of a response.
        case part = 17
        case finished = 18
        /// The body says what failed.
        case failed = 19
    }

    var kind: Kind
    /// The request that this message belongs to.
    var number: UInt32
    var body: [UInt8]

    /// Maximum length of the body, in bytes: about five minutes of audio.
    static let bodyBytesMax = 16 << 20
    private static let headBytes = 5

    init(_ kind: Kind, _ number: UInt32 = 0, _ body: [UInt8] = []) {
        self.kind = kind
        self.number = number
        self.body = body
    }

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 + Self.headBytes + body.count)
        bytes.append(bigEndian: UInt32(Self.headBytes + body.count))
        bytes.append(kind.rawValue)
        bytes.append(bigEndian: number)
        bytes += body
        return bytes
    }

    /// Splits a stream of bytes into messages.
    struct Decoder {
        private var bytes: [UInt8] = []

        mutating func append(_ more: some Sequence<UInt8>) {
            bytes += more
        }

        /// The next complete message; nil if more bytes are needed.
        ///
        /// - Throws: `ProviderError` with code `invalidResponse` for an unknown kind or an implausible length.
        mutating func next() throws(ProviderError) -> HelperMessage? {
            guard let length = bytes.bigEndian(at: 0).map(Int.init) else { return nil }
            guard headBytes...headBytes + bodyBytesMax ~= length else {
                throw ProviderError(.invalidResponse, "The helper process sent a message of \(length) bytes.")
            }
            guard bytes.count >= 4 + length, let number = bytes.bigEndian(at: 5) else { return nil }
            guard let kind = Kind(rawValue: bytes[4]) else {
                throw ProviderError(.invalidResponse, "The helper process sent a message of unknown kind \(bytes[4]).")
            }
            let message = HelperMessage(kind, number, Array(bytes[(4 + headBytes)..<(4 + length)]))
            bytes.removeFirst(4 + length)
            return message
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian value: UInt32) {
        for shift in [24, 16, 8, 0] { append(UInt8(truncatingIfNeeded: value >> UInt32(shift))) }
    }

    /// The 32-bit number at `offset`; nil if it is incomplete.
    func bigEndian(at offset: Int) -> UInt32? {
        guard count >= offset + 4 else { return nil }
        return self[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
