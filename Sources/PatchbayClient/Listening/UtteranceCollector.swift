public import Wire

/// Cuts one track's frames into utterances: what somebody says between two pauses. For assistants that answer when one is over.
///
/// An utterance begins with a frame that says so (0x80) or that holds voice, together with up to 500 ms of what came right before
/// it. It ends with a frame that says so (0x40), when no frame has come for 300 ms, when the gateway tells that talk has stopped
/// (`talk.stopped`), or after a minute. A pure value: time is an argument, nothing happens on its own.
public struct UtteranceCollector: Sendable {
    /// No frame for so long ends an utterance.
    public static let pause = Duration.milliseconds(300)
    private static let leadInTicksMax = 500 * MediaTime.ticksPerMillisecond
    private static let ticksMax = 60_000 * MediaTime.ticksPerMillisecond

    private var frames: [ReceivedFrame] = []
    private var isTalking = false
    private var hasVoice = false

    public init() {}

    /// When `tick` is to be called, if no frame comes before; nil if nobody talks.
    public var deadline: Instant? {
        isTalking ? frames.last.map { $0.arrivedAt + Self.pause } : nil
    }

    /// Takes the next frame.
    ///
    /// - Returns: a whole utterance, if this ends one.
    public mutating func collect(_ frame: ReceivedFrame) -> [ReceivedFrame]? {
        let flags = frame.header.flags
        frames.append(frame)
        hasVoice = hasVoice || frame.header.level.isVoice
        isTalking = isTalking || flags.contains(.talkspurtStart) || frame.header.level.isVoice
        if flags.contains(.talkspurtEnd) { return end() }
        if !isTalking { trimLeadIn() }
        return span > Self.ticksMax ? end() : nil
    }

    /// The gateway told that talk has stopped. Passed over where the frames themselves tell (`.end`), and where nothing was said yet.
    public mutating func talkStopped(_ reason: TalkEnd) -> [ReceivedFrame]? {
        reason != .end && isTalking && hasVoice ? end() : nil
    }

    /// Time has passed.
    public mutating func tick(at now: Instant) -> [ReceivedFrame]? {
        guard let deadline, now >= deadline else { return nil }
        return end()
    }

    private mutating func end() -> [ReceivedFrame] {
        defer { self = UtteranceCollector() }
        return frames
    }

    /// From the first frame's beginning to the last one's.
    private var span: Int {
        guard let first = frames.first, let last = frames.last else { return 0 }
        return Int(last.header.timestamp.distance(from: first.header.timestamp))
    }

    private mutating func trimLeadIn() {
        while span >= Self.leadInTicksMax { frames.removeFirst() }
    }
}
