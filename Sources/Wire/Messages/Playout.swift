/// `playout.mark`: requests a `playout.marked` event when a position of the publisher's track has been played.
public struct PlayoutMark: Sendable, Hashable, Codable {
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

/// `playout.progress`: how far a subscriber has played an `ahead` track.
public struct PlayoutProgress: Sendable, Hashable, Codable {
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

/// How a mark was resolved.
public enum MarkStatus: String, Sendable, Codable, CaseIterable {
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
public struct HeardPosition: Sendable, Hashable {
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

/// How far a publisher is ahead of its subscribers.
public enum BacklogState: String, Sendable, Codable, CaseIterable {
    /// Over 45 s.
    case high
    /// Over 60 s: further frames are rejected.
    case full
    /// Below 30 s again.
    case low
}

/// The bodies of `playout.marked`, `playout.cleared` and `playout.finished`.
struct PlayoutFields: Codable {
    var track: TrackSID
    var participant: Identity?
    var epoch: UInt8?
    var by: Identity?
    var playedTs: UInt32?
    var playedMs: Int?
    var discardedMs: Int?
    var estimated: Bool?
    var name: String?
    var status: MarkStatus?
    var reason: String?

    init(track: TrackSID, playedTs: UInt32?, name: String, status: MarkStatus) {
        self.track = track
        self.playedTs = playedTs
        self.name = name
        self.status = status
    }

    init(track: TrackSID, participant: Identity, epoch: UInt8, heard: HeardPosition) {
        self.track = track
        self.participant = participant
        self.epoch = epoch
        (playedTs, playedMs, estimated) = (heard.playedTs, heard.playedMs, heard.isEstimated)
    }

    init(_ cut: ClearedPlayout, by: Identity) {
        self.init(track: cut.track, participant: Identity(text: ""), epoch: cut.epoch, heard: cut.heard)
        participant = nil
        discardedMs = cut.discardedMs
        reason = cut.reason
        self.by = by
    }

    var heard: HeardPosition { HeardPosition(playedTs: playedTs, playedMs: playedMs ?? 0, isEstimated: estimated ?? false) }

    var cut: ClearedPlayout? {
        epoch.map { ClearedPlayout(track: track, epoch: $0, heard: heard, discardedMs: discardedMs ?? 0, reason: reason) }
    }

    /// Explicit because a missing `played_ts` is encoded as null.
    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(track, forKey: .track)
        try fields.encodeIfPresent(participant, forKey: .participant)
        try fields.encodeIfPresent(epoch, forKey: .epoch)
        try fields.encodeIfPresent(by, forKey: .by)
        try fields.encode(playedTs, forKey: .playedTs)
        try fields.encodeIfPresent(playedMs, forKey: .playedMs)
        try fields.encodeIfPresent(discardedMs, forKey: .discardedMs)
        try fields.encodeIfPresent(estimated, forKey: .estimated)
        try fields.encodeIfPresent(name, forKey: .name)
        try fields.encodeIfPresent(status, forKey: .status)
        try fields.encodeIfPresent(reason, forKey: .reason)
    }
}

/// The body of the reply to `playout.clear`, without what the requester already knows: track, reason and requester.
struct ClearedFields: Encodable {
    private let cut: ClearedPlayout

    private enum Key: String, CodingKey { case epoch, playedTs, playedMs, discardedMs, estimated }

    init(_ cut: ClearedPlayout) {
        self.cut = cut
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(cut.epoch, forKey: .epoch)
        try fields.encode(cut.heard.playedTs, forKey: .playedTs)
        try fields.encode(cut.heard.playedMs, forKey: .playedMs)
        try fields.encode(cut.discardedMs, forKey: .discardedMs)
        try fields.encode(cut.heard.isEstimated, forKey: .estimated)
    }
}

/// The body of `playout.backlog`.
struct BacklogFields: Codable {
    var track: TrackSID
    var queuedMs: Int
    var state: BacklogState
    var dropped: Int
}
