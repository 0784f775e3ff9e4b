public import Wire

/// Assigns sequence numbers and timestamps to the frames of one published track, and the talkspurt flag after a pause.
///
/// Sequence numbers continue across pauses and reconnects, and timestamps never decrease (docs/protocol/media.md, "Frames and bundles"). A
/// pure value; time is an argument.
struct TrackNumbering {
    /// The numbers of one frame.
    struct Numbers: Hashable {
        var sequence: SequenceNumber
        var timestamp: MediaTime
        var flags: FrameFlags
    }

    /// A pause of this length starts a new talkspurt.
    static let pause = Duration.milliseconds(200)
    private static let pauseTicks = 200 * MediaTime.ticksPerMillisecond

    private var sequence: SequenceNumber
    /// The end of the last frame, or the start of the first.
    private(set) var end: MediaTime
    /// When the last frame ends in real time; nil before the first frame and after a clear.
    private var endsAt: Instant?
    /// A frame was numbered: later timestamps of the caller must not precede it.
    private var hasBegun = false

    /// - Parameters:
    ///   - sequence: the first frame's number; random in production (RFC 3550 section 5.1).
    ///   - timestamp: the first frame's timestamp; random in production.
    init(sequence: SequenceNumber, timestamp: MediaTime) {
        self.sequence = sequence
        self.end = timestamp
    }

    /// - Parameter ticks: the frame's duration in 48 kHz ticks.
    mutating func number(ticks: Int, _ timing: FrameTiming, flags: FrameFlags, at now: Instant) -> Numbers {
        let isFirst = endsAt == nil
        defer { hasBegun = true }
        let timestamp = timestamp(for: timing, at: now)
        let isAfterPause = isFirst || Int(timestamp.distance(from: end)) >= Self.pauseTicks
        let numbers = Numbers(
            sequence: sequence, timestamp: timestamp,
            flags: flags.subtracting(.forbiddenToSenders).union(isAfterPause ? .talkspurtStart : []))
        sequence = sequence.next
        end = timestamp.advanced(by: ticks)
        // Frames sent faster than real time do not cause a pause later.
        endsAt = max(endsAt ?? now, now) + .ticks(ticks)
        return numbers
    }

    /// The frames sent so far will not be played: the next frame starts a talkspurt without a pause before it.
    mutating func clear() {
        endsAt = nil
    }

    private func timestamp(for timing: FrameTiming, at now: Instant) -> MediaTime {
        switch timing {
        case .at(let timestamp):
            let isEarlier = hasBegun && timestamp.distance(from: end) < 0
            return isEarlier ? end : timestamp
        case .following:
            return end.advanced(by: passed(beyond: 0, at: now) ?? 0)
        case .afterSilence(let ticks):
            let silence = max(ticks, 0)
            return end.advanced(by: passed(beyond: silence, at: now) ?? silence)
        }
    }

    /// Ticks since the last frame ended, if they exceed the declared silence by a pause.
    private func passed(beyond silence: Int, at now: Instant) -> Int? {
        guard let endsAt, now - endsAt >= Self.pause + .ticks(silence) else { return nil }
        return (now - endsAt).inTicks
    }
}

/// The position of an outgoing frame on its track's 48 kHz clock.
public enum FrameTiming: Sendable, Hashable {
    /// Directly after the previous frame. If 200 ms or more have passed since its end, the pause is inserted.
    case following
    /// After this many ticks of silence that are not sent (DTX), 0 or more. If 200 ms more have passed, the elapsed time counts.
    case afterSilence(ticks: Int)
    /// At this timestamp of the caller. An earlier one than the end of the previous frame is moved there.
    case at(MediaTime)
}

/// A frame on its way to the event loop, which adds alias, sequence number and timestamp.
struct OutgoingFrame: Sendable {
    var packet: [UInt8]
    /// Duration in 48 kHz ticks.
    var ticks: Int
    var timing: FrameTiming
    var level: AudioLevelByte
    var flags: FrameFlags
}
