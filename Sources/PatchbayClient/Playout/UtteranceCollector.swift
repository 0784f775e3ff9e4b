public import Wire

/// Splits the frames of one track into utterances: speech between two pauses. For assistants that respond to complete utterances.
///
/// An utterance starts with a frame that has the flag 0x80 or contains voice, and includes up to 500 ms of frames before it. It ends with a
/// frame that has the flag 0x40, when no frame arrives for 300 ms, on the event `talk.stopped`, or after a minute. A pure value: time is an
/// argument.
public struct UtteranceCollector: Sendable {
    /// Time without frames that ends an utterance.
    public static let pause = Duration.milliseconds(300)
    private static let leadInTicksMax = 500 * MediaTime.ticksPerMillisecond
    private static let ticksMax = 60_000 * MediaTime.ticksPerMillisecond

    private var frames: [ReceivedFrame] = []
    private var isTalking = false
    private var hasVoice = false

    public init() {}

    /// When to call `tick` unless a frame arrives before; nil between utterances.
    public var deadline: Instant? {
        isTalking ? frames.last.map { $0.arrivedAt + Self.pause } : nil
    }

    /// Adds a frame.
    ///
    /// - Returns: the utterance that it ends, if any.
    public mutating func collect(_ frame: ReceivedFrame) -> [ReceivedFrame]? {
        let flags = frame.header.flags
        frames.append(frame)
        hasVoice = hasVoice || frame.header.level.isVoice
        isTalking = isTalking || flags.contains(.talkspurtStart) || frame.header.level.isVoice
        if flags.contains(.talkspurtEnd) { return end() }
        if !isTalking { trimLeadIn() }
        return span > Self.ticksMax ? end() : nil
    }

    /// The gateway reported the end of talk. Ignored for `.end`, which the frames report themselves, and before any voice.
    public mutating func talkStopped(_ reason: TalkEnd) -> [ReceivedFrame]? {
        reason != .end && isTalking && hasVoice ? end() : nil
    }

    /// Ends the utterance if its pause is over.
    public mutating func tick(at now: Instant) -> [ReceivedFrame]? {
        guard let deadline, now >= deadline else { return nil }
        return end()
    }

    private mutating func end() -> [ReceivedFrame] {
        defer { self = UtteranceCollector() }
        return frames
    }

    /// Ticks from the start of the first frame to the start of the last.
    private var span: Int {
        guard let first = frames.first, let last = frames.last else { return 0 }
        return Int(last.header.timestamp.distance(from: first.header.timestamp))
    }

    private mutating func trimLeadIn() {
        while span >= Self.leadInTicksMax { frames.removeFirst() }
    }
}
