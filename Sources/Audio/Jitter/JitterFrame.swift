public import Wire

/// A frame in the jitter buffer: its position, its duration, and the caller's payload.
public struct JitterFrame<Payload> {
    public let sequence: SequenceNumber
    public let timestamp: MediaTime
    /// 48 kHz ticks, 120 (2.5 ms) to 5,760 (120 ms).
    public let ticks: Int
    /// The frame header's voice bit. Frames without voice may be skipped to reduce the delay.
    public let isVoice: Bool
    /// The frame header's flag for the first frame after a pause.
    public let startsTalkspurt: Bool
    /// The frame header's flag for the last frame before a pause.
    public let endsTalkspurt: Bool
    public let payload: Payload

    public init(
        sequence: SequenceNumber, timestamp: MediaTime, ticks: Int, isVoice: Bool = true, startsTalkspurt: Bool = false,
        endsTalkspurt: Bool = false, payload: Payload
    ) {
        self.sequence = sequence
        self.timestamp = timestamp
        self.ticks = ticks
        self.isVoice = isVoice
        self.startsTalkspurt = startsTalkspurt
        self.endsTalkspurt = endsTalkspurt
        self.payload = payload
    }
}

extension JitterFrame: Sendable where Payload: Sendable {}
extension JitterFrame: Equatable where Payload: Equatable {}

/// A jitter buffer's delay and capacity.
public struct JitterLimits: Hashable, Sendable {
    /// Initial and minimum delay. 0 plays at once. For a track with a lead, the lead.
    public let targetDelay: Duration
    /// Maximum buffered audio; older frames are dropped.
    public let delayLimit: Duration
    /// Maximum number of buffered frames.
    public let frames: Int

    /// This many consecutive late frames mean that the sender has restarted its numbering.
    let lateFramesLimit = 50

    public init(
        targetDelay: Duration = .milliseconds(40), delayLimit: Duration = .milliseconds(600), frames: Int = 256
    ) {
        precondition(targetDelay >= .zero && delayLimit >= targetDelay, "0 <= targetDelay <= delayLimit is required")
        precondition(delayLimit <= .seconds(60), "delayLimit is at most a minute")
        precondition((1...16_384).contains(frames), "frames must be 1 to 16384, half the range that sequence numbers distinguish")
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
        // 48,000 ticks in 1,000,000 µs, reduced to avoid overflow.
        Int(span.inNanoseconds / 1_000 * 6 / 125)
    }
}

extension Duration {
    /// Duration of `count` 48 kHz ticks.
    static func ticks(_ count: Int) -> Duration {
        .nanoseconds(Int64(count) * 62_500 / 3)
    }
}

/// Counters of a jitter buffer since its creation. They only rise, also across resets.
///
/// Every frame is counted: `received` is `played` + `late` + `duplicate` + `malformed` + `overflowed` + `skipped` + `discarded` + the frames
/// that are still buffered.
public struct JitterStatistics: Hashable, Sendable {
    /// Frames inserted.
    public internal(set) var received = 0
    /// Frames returned by `next`.
    public internal(set) var played = 0
    /// Frames that arrived after their position had been played or concealed.
    public internal(set) var late = 0
    /// Frames that had arrived before.
    public internal(set) var duplicate = 0
    /// Frames with an invalid duration.
    public internal(set) var malformed = 0
    /// Oldest frames dropped because the buffer was full.
    public internal(set) var overflowed = 0
    /// Frames skipped to reduce the delay.
    public internal(set) var skipped = 0
    /// Frames buffered at a reset.
    public internal(set) var discarded = 0

    /// Frames that were missing when they were due, including late ones.
    public internal(set) var concealed = 0
    /// 48 kHz ticks of concealment in place of missing frames.
    public internal(set) var concealedTicks = 0
    /// 48 kHz ticks of concealment inserted to increase the delay.
    public internal(set) var stretchedTicks = 0
    /// 48 kHz ticks of silence and audio skipped to reduce the delay.
    public internal(set) var skippedTicks = 0
    /// Times the buffer was empty during speech.
    public internal(set) var underruns = 0
    /// Total duration of underruns in 48 kHz ticks.
    public internal(set) var underrunTicks = 0

    /// How long the last played frame was buffered.
    public internal(set) var delay = Duration.zero

    /// The last frame's playout time minus its earliest possible arrival, given the fastest recent frames.
    public internal(set) var playoutDelay = Duration.zero
    /// Current target of `playoutDelay`.
    public internal(set) var targetDelay = Duration.zero

    public var delayMilliseconds: Int { Int(delay / .milliseconds(1)) }

    public init() {}
}
