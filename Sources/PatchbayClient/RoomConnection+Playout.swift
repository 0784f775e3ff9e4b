public import Wire

/// Tracks of mode `ahead`: what was really heard of them (PROTOCOL section 5).
extension RoomConnection {
    /// Takes back what of a track has not been heard yet: by its publisher when it is interrupted, or by a listener whose user says stop.
    /// Everybody who listens stops playing it within a moment. For one's own track there is `LocalTrack.clear` besides.
    ///
    /// - Parameter reason: told to the others.
    /// - Returns: what was heard until then.
    @discardableResult
    public func clear(_ track: TrackSID, reason: String? = nil) async throws(RequestFailure) -> ClearedPlayout {
        try ClearedPlayout(of: track, try await ask(.playoutClear(track, reason: reason)), reason: reason)
    }

    /// Asks to be told, by the event `playout.marked`, when a track has been heard up to `time`.
    ///
    /// - Parameter name: comes back in the event.
    public func mark(_ track: TrackSID, at time: MediaTime, name: String) async throws(RequestFailure) {
        _ = try await ask(.playoutMark(PlayoutMark(track: track, ts: time.ticks, name: name)))
    }
}

extension ClearedPlayout {
    /// What the answer to `playout.clear` says.
    init(of track: TrackSID, _ fields: ReplyFields, reason: String?) throws(RequestFailure) {
        guard let epoch = fields.epoch else { throw .badAnswer }
        let heard = HeardPosition(playedTs: fields.playedTs, playedMs: fields.playedMs ?? 0, isEstimated: fields.estimated ?? false)
        self.init(track: track, epoch: epoch, heard: heard, discardedMs: fields.discardedMs ?? 0, reason: reason)
    }
}
