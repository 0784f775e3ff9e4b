internal import Wire

/// How long a jitter buffer waits, and how much it holds.
public struct JitterLimits: Hashable, Sendable {
    /// The delay to begin with, and the least one. 0 plays at once. For a track with a lead, the lead.
    public let targetDelay: Duration
    /// The most sound that may wait; what is older is dropped.
    public let delayLimit: Duration
    /// The most frames that may wait, whatever they last.
    public let frames: Int

    /// So many late frames one after another are a new numbering, not late.
    let lateFramesLimit = 50

    public init(
        targetDelay: Duration = .milliseconds(40), delayLimit: Duration = .milliseconds(600), frames: Int = 256
    ) {
        precondition(targetDelay >= .zero && delayLimit >= targetDelay, "A jitter buffer's delays rise from zero: target, limit.")
        precondition(delayLimit <= .seconds(60), "A jitter buffer of more than a minute is a recording.")
        precondition((1...16_384).contains(frames), "A jitter buffer holds 1 to 16384 frames, less than sequence numbers can tell apart.")
        self.targetDelay = targetDelay
        self.delayLimit = delayLimit
        self.frames = frames
    }

    var targetTicks: Int { MediaTime.ticks(in: targetDelay) }
    var delayTicks: Int { MediaTime.ticks(in: delayLimit) }
}

extension MediaTime {
    /// Whole ticks in a span of wall time.
    static func ticks(in span: Duration) -> Int {
        // 48,000 ticks in 1,000,000 µs, reduced so that no span overflows.
        Int(span.inNanoseconds / 1_000 * 6 / 125)
    }
}

extension Duration {
    /// What so many 48 kHz ticks last.
    static func ticks(_ count: Int) -> Duration {
        .nanoseconds(Int64(count) * 62_500 / 3)
    }
}
