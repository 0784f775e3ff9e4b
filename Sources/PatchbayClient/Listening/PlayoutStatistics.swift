/// What playing a track has come to. Milliseconds of sound; sums only rise.
public struct PlayoutStatistics: Sendable, Hashable, Codable {
    /// Decoded from what was sent.
    public internal(set) var playedMs = 0.0
    /// Invented in the place of what was lost or late, or missing altogether while somebody spoke.
    public internal(set) var concealedMs = 0.0
    /// Pauses of the speaker, and the time before the first frame's and after the last one's turn.
    public internal(set) var silenceMs = 0.0
    /// Left out to make the delay shorter, silence and shortened sound alike.
    public internal(set) var skippedMs = 0.0
    /// What sound was lengthened by, because nothing followed in time.
    public internal(set) var stretchedMs = 0.0
    /// Times that there was nothing to play in the midst of speech.
    public internal(set) var underruns = 0
    /// Frames that came after their place had been played.
    public internal(set) var framesLate = 0
    /// How far behind the path's fastest frames a live track is played now, and is meant to be. 0 for an `ahead` track, which is
    /// played as soon as it comes and has its lead for a buffer.
    public internal(set) var delayMs = 0.0
    public internal(set) var targetMs = 0.0
    /// Sound that is here and not played yet.
    public internal(set) var bufferedMs = 0.0

    public init() {}

    /// The share of speech that was invented, 0 to 1.
    public var concealedShare: Double {
        playedMs + concealedMs > 0 ? concealedMs / (playedMs + concealedMs) : 0
    }
}
