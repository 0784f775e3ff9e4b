import Wire

/// When the last failures of one address were: a ring of as many as are allowed.
struct FailureWindow: Sendable {
    /// Failures within `span` after which an address is refused (PROTOCOL section 2).
    static let failuresMax = 20
    static let span = Duration.seconds(60)

    private var instants: InlineArray<20, Instant>
    private var count = 0
    /// Where the next failure goes, which is where the oldest is once the ring is full.
    private var next = 0

    init() {
        instants = InlineArray(repeating: Instant(nanoseconds: 0))
    }

    /// Notes a failure. In a full ring the oldest makes room: only the last `failuresMax` matter.
    mutating func record(at now: Instant) {
        instants[next] = now
        next = (next + 1) % Self.failuresMax
        count = min(count + 1, Self.failuresMax)
    }

    /// How long until an attempt is allowed, at most `span`; nil if it is allowed now.
    func remainingRefusal(at now: Instant) -> Duration? {
        guard count == Self.failuresMax else { return nil }
        let remaining = Self.span - (now - instants[next])
        return remaining > .zero ? min(remaining, Self.span) : nil
    }

    /// Whether the last failure is so long ago that none counts any more.
    func isOver(at now: Instant) -> Bool {
        guard count > 0 else { return true }
        let last = instants[(next + Self.failuresMax - 1) % Self.failuresMax]
        return now - last >= Self.span
    }
}
