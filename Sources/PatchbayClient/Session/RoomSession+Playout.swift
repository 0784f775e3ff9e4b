internal import Wire

/// Tracks that are sent ahead: asking what was heard of them, and taking the rest back.
extension RoomSession {
    func clear(_ track: Int, _ reason: String?, timeout: Duration, _ answer: Answer) {
        guard let own = published[track] else { return answer.resume(returning: .failure(.ended)) }
        // What has not left yet is as dead as what has.
        if let alias = own.alias { forgetUnsent(of: alias) }
        let sid = own.handle.info.sid
        ask(.playoutClear(sid, reason: reason), timeout: timeout, .clearer(sid, answer))
    }

    func mark(_ track: Int, _ time: MediaTime?, _ name: String, timeout: Duration, _ answer: Answer) {
        guard let own = published[track] else { return answer.resume(returning: .failure(.ended)) }
        let mark = PlayoutMark(track: own.handle.info.sid, ts: (time ?? own.numbering.end).ticks, name: name)
        ask(.playoutMark(mark), timeout: timeout, .caller(answer))
    }

    /// A track, ours or somebody else's, goes on in a new epoch, whoever wanted it so. Told twice to who asked: by the answer and by the
    /// event.
    func cleared(_ sid: TrackSID, epoch: UInt8) {
        remote.clear(sid, epoch: epoch)
        guard let own = published.values.first(where: { $0.handle.info.sid == sid }), own.epoch != epoch else { return }
        own.epoch = epoch
        own.numbering.cleared()
        own.handle.cleared()
        if let alias = own.alias { forgetUnsent(of: alias) }
    }

    private func forgetUnsent(of alias: TrackAlias) {
        let (high, low) = (UInt8(alias.value >> 8), UInt8(truncatingIfNeeded: alias.value))
        let unsent = aheadQueue.removeAll { $0[2] == high && $0[3] == low }
        mirror.count { $0.framesUnsent += UInt64(unsent) }
    }
}
