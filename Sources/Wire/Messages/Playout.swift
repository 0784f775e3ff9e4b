/// `playout.mark`: requests a `playout.marked` event when a position of the publisher's track has been played.
public struct PlayoutMark: Sendable, Hashable {
    public var track: TrackSID
    /// On the track's 48 kHz clock.
    public var ts: UInt32
    /// Chosen by the publisher and returned in `playout.marked`.
    public var name: String

    public init(track: TrackSID, ts: UInt32, name: String) {
        self.track = track
        self.ts = ts
        self.name = name
    }
}

extension PlayoutMark: Fields {
    static func coded(_ mark: PlayoutMark?, by fields: inout some FieldCoder) throws -> PlayoutMark {
        try PlayoutMark(track: fields("track", mark?.track), ts: fields("ts", mark?.ts), name: fields("name", mark?.name))
    }
}

/// `playout.progress`: how far a subscriber has played an `ahead` track.
public struct PlayoutProgress: Sendable, Hashable {
    public var track: TrackSID
    public var epoch: UInt8
    /// The position played so far; nil if nothing of this epoch was played.
    public var playedTs: UInt32?
    /// Audio that the subscriber has received and not yet played.
    public var bufferedMs: Double

    public init(track: TrackSID, epoch: UInt8, playedTs: UInt32?, bufferedMs: Double) {
        self.track = track
        self.epoch = epoch
        self.playedTs = playedTs
        self.bufferedMs = bufferedMs
    }
}

extension PlayoutProgress: Fields {
    static func coded(_ progress: PlayoutProgress?, by fields: inout some FieldCoder) throws -> PlayoutProgress {
        try PlayoutProgress(
            track: fields("track", progress?.track), epoch: fields("epoch", progress?.epoch),
            playedTs: fields.optional("played_ts", progress?.playedTs), bufferedMs: fields("buffered_ms", progress?.bufferedMs))
    }
}

/// How a mark was resolved.
public enum MarkStatus: String, Sendable, CaseIterable {
    /// Its position was played.
    case played
    /// The track was cleared first.
    case cleared
    /// Its position will never be played: the audio was rejected, or the track ended.
    case dropped
    /// No audio up to its position arrived in time.
    case timeout
}

/// How much of a track was played at one moment, by the subscriber that is furthest ahead.
public struct HeardPosition: Sendable, Hashable, Decodable {
    /// Nil if nothing of the utterance was played.
    public var playedTs: UInt32?
    /// Since the utterance's first frame.
    public var playedMs: Int
    /// Whether this is derived from the frames released by the gateway because no subscriber reports its progress.
    public var isEstimated: Bool

    public init(playedTs: UInt32?, playedMs: Int, isEstimated: Bool) {
        self.playedTs = playedTs
        self.playedMs = playedMs
        self.isEstimated = isEstimated
    }
}

extension HeardPosition: Fields {
    static func coded(_ heard: HeardPosition?, by fields: inout some FieldCoder) throws -> HeardPosition {
        try HeardPosition(
            playedTs: fields.nullable("played_ts", heard?.playedTs), playedMs: fields("played_ms", heard?.playedMs, default: 0),
            isEstimated: fields("estimated", heard?.isEstimated, default: false))
    }
}

/// `playout.cleared`, and the reply to `playout.clear`: audio that was not yet played was discarded.
public struct ClearedPlayout: Sendable, Hashable {
    public var track: TrackSID
    /// The new epoch.
    public var epoch: UInt8
    public var heard: HeardPosition
    /// Audio that was published but not played.
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

extension ClearedPlayout: Fields {
    static func coded(_ cleared: ClearedPlayout?, by fields: inout some FieldCoder) throws -> ClearedPlayout {
        try ClearedPlayout(
            track: fields("track", cleared?.track), epoch: fields("epoch", cleared?.epoch), heard: fields.body(cleared?.heard),
            discardedMs: fields("discarded_ms", cleared?.discardedMs, default: 0), reason: fields.optional("reason", cleared?.reason))
    }
}

/// How far a publisher is ahead of its subscribers.
public enum BacklogState: String, Sendable, CaseIterable {
    /// Over 45 s.
    case high
    /// Over 60 s: further frames are rejected.
    case full
    /// Below 30 s again.
    case low
}
