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
    /// Frames without voice left out to shrink the delay.
    public internal(set) var skipped = 0
    /// Frames that waited when the buffer was reset.
    public internal(set) var discarded = 0

    /// Frames that were missing when their turn came, the late ones among them.
    public internal(set) var concealed = 0
    /// 48 kHz ticks of concealment in the place of missing frames.
    public internal(set) var concealedTicks = 0
    /// 48 kHz ticks of concealment put in to grow the delay.
    public internal(set) var stretchedTicks = 0
    /// 48 kHz ticks of silence left out to shrink the delay.
    public internal(set) var skippedTicks = 0

    /// How long the last frame played had waited.
    public internal(set) var delay = Duration.zero

    public var delayMilliseconds: Int { Int(delay / .milliseconds(1)) }

    public init() {}
}
