public import Wire

/// How far an `ahead` track has been heard here.
public struct PlayoutPosition: Sendable, Hashable {
    public var epoch: UInt8
    /// Up to there on the track's own clock; nil if nothing of this epoch has been heard.
    public var playedTo: MediaTime?
    /// Sound that is here, or in the output device, and has not been heard.
    public var bufferedMs: Double
    /// Whether there is sound to be heard at this moment.
    public var isPlaying: Bool
}
