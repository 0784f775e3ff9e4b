internal import Wire

/// Gives each frame of one published track its sequence number and timestamp, and the flag for what comes after a pause.
///
/// Sequences go on over pauses and reconnects, timestamps never go back (PROTOCOL section 3). A pure value; time is an argument.
struct TrackNumbering {
    /// What is said of one frame.
    struct Numbers: Hashable {
        var sequence: SequenceNumber
        var timestamp: MediaTime
        var flags: FrameFlags
    }

    /// From here on a pause starts a new talkspurt.
    static let pause = Duration.milliseconds(200)
    private static let pauseTicks = 200 * MediaTime.ticksPerMillisecond

    private var sequence: SequenceNumber
    /// The end of the last frame, or where the first one begins.
    private(set) var end: MediaTime
    /// When the last frame's sound is over; nil before the first frame, and after a clear.
    private var endsAt: Instant?
    /// The caller's timestamps count from the first frame on.
    private var hasBegun = false

    /// - Parameters:
    ///   - sequence: the first frame's number; random in life (RFC 3550 section 5.1).
    ///   - timestamp: the first frame's timestamp; random in life.
    init(sequence: SequenceNumber, timestamp: MediaTime) {
        self.sequence = sequence
        self.end = timestamp
    }

    /// - Parameter ticks: how long the frame lasts, in 48 kHz ticks.
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
        // Frames that are sent faster than they last do not make a pause later.
        endsAt = max(endsAt ?? now, now) + .ticks(ticks)
        return numbers
    }

    /// What was sent ahead will not be played: what comes next begins a talkspurt, and is late for nothing.
    mutating func cleared() {
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

    /// The ticks since the last frame ended, if they are a pause longer than the silence that is known of.
    private func passed(beyond silence: Int, at now: Instant) -> Int? {
        guard let endsAt, now - endsAt >= Self.pause + .ticks(silence) else { return nil }
        return (now - endsAt).inTicks
    }
}
