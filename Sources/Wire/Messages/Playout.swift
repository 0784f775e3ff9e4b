/// `playout.mark`: the publisher wants to know when its track has been heard up to there.
public struct PlayoutMark: Sendable, Hashable, Codable {
    public var track: TrackSID
    /// On the track's own 48 kHz clock.
    public var ts: UInt32
    /// The publisher's own; comes back in `playout.marked`.
    public var name: String

    public init(track: TrackSID, ts: UInt32, name: String) {
        self.track = track
        self.ts = ts
        self.name = name
    }
}

/// `playout.progress`: how far a listener has heard an `ahead` track.
public struct PlayoutProgress: Sendable, Hashable, Codable {
    public var track: TrackSID
    public var epoch: UInt8
    /// Up to here it was heard; nil if nothing of this epoch was.
    public var playedTs: UInt32?
    /// Audio that the listener has and has not played yet.
    public var bufferedMs: Double

    public init(track: TrackSID, epoch: UInt8, playedTs: UInt32?, bufferedMs: Double) {
        self.track = track
        self.epoch = epoch
        self.playedTs = playedTs
        self.bufferedMs = bufferedMs
    }
}

/// What became of a mark.
public enum MarkStatus: String, Sendable, Codable, CaseIterable {
    /// It was heard up to there.
    case played
    /// The track was cleared before.
    case cleared
    /// It will never be heard: the audio was refused, or its track has ended.
    case dropped
    /// Nothing came to be heard up to there in time.
    case timeout
}

/// What was heard of a track, at one moment; with several listeners by the one who is furthest.
public struct HeardPosition: Sendable, Hashable {
    /// Nil if nothing of the utterance was heard.
    public var playedTs: UInt32?
    /// Since the utterance's first frame.
    public var playedMs: Int
    /// No listener said so: reckoned from what left the gateway.
    public var isEstimated: Bool

    public init(playedTs: UInt32?, playedMs: Int, isEstimated: Bool) {
        self.playedTs = playedTs
        self.playedMs = playedMs
        self.isEstimated = isEstimated
    }
}

/// `playout.cleared`, and the reply to `playout.clear`: what was not yet heard is gone.
public struct ClearedPlayout: Sendable, Hashable {
    public var track: TrackSID
    /// The new one.
    public var epoch: UInt8
    public var heard: HeardPosition
    /// Audio that was published and not heard.
    public var discardedMs: Int
    public var reason: String?

    public init(track: TrackSID, epoch: UInt8, heard: HeardPosition, discardedMs: Int, reason: String? = nil) {
        self.track = track
        self.epoch = epoch
        self.heard = heard
        self.discardedMs = discardedMs
        self.reason = reason
    }
}

/// How far a publisher is ahead of its listeners.
public enum BacklogState: String, Sendable, Codable, CaseIterable {
    /// Over 45 s.
    case high
    /// Over 60 s: frames are refused.
    case full
    /// Under 30 s again.
    case low
}
