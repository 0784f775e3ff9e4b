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

    /// Written out because `played_ts` is null, and not absent, where nothing was heard.
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

/// The body of the reply to `playout.clear`: without the track, the reason and who it was, which the requester knows.
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
