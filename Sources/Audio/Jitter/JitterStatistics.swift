/// What a jitter buffer has done since it was made. Counters only rise, through resets too.
///
/// Nothing gets lost uncounted: `received` is `played` + `late` + `duplicate` + `malformed` + `overflowed` + `skipped` +
/// `discarded` + what still waits.
public struct JitterStatistics: Hashable, Sendable {
    /// Frames inserted.
    public internal(set) var received = 0
    /// Frames given out.
    public internal(set) var played = 0
    /// Frames that came after their place had been played or concealed.
    public internal(set) var late = 0
    /// Frames that had come before.
    public internal(set) var duplicate = 0
    /// Frames with an impossible duration.
    public internal(set) var malformed = 0
    /// Oldest frames dropped because the buffer was full.
    public internal(set) var overflowed = 0
    /// Frames left out to shrink the delay.
    public internal(set) var skipped = 0
    /// Frames that waited when the buffer was reset.
    public internal(set) var discarded = 0

    /// Frames that were missing when their turn came, the late ones among them.
    public internal(set) var concealed = 0
    /// 48 kHz ticks of concealment in the place of missing frames.
    public internal(set) var concealedTicks = 0
    /// 48 kHz ticks of concealment put in to grow the delay.
    public internal(set) var stretchedTicks = 0
    /// 48 kHz ticks of silence and sound left out to shrink the delay.
    public internal(set) var skippedTicks = 0
    /// Times that there was nothing to play in the midst of speech.
    public internal(set) var underruns = 0
    /// 48 kHz ticks that they lasted.
    public internal(set) var underrunTicks = 0

    /// How long the last frame played had waited.
    public internal(set) var delay = Duration.zero

    /// How long before it was played the last frame's sound could have been here at the earliest: what a listener is behind the path's fastest
    /// frames, whether this frame was one of them or not.
    public internal(set) var playoutDelay = Duration.zero
    /// What that is meant to be now.
    public internal(set) var targetDelay = Duration.zero

    public var delayMilliseconds: Int { Int(delay / .milliseconds(1)) }

    public init() {}
}
