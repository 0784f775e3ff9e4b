import Wire

/// What participants ask and say about `ahead` tracks.
extension Room {
    mutating func setMark(_ mark: PlayoutMark, by requester: Requester, now: Instant, into effects: inout [Effect]) throws(RequestError) {
        guard let track = tracks[mark.track] else { throw .noSuchTrack }
        guard track.publisher == requester.handle else { throw RequestError(.notAllowed, "only a track's publisher sets marks on it") }
        guard let playout = playouts[mark.track] else { throw .notAhead }
        guard mark.name.utf8.count <= Limits.markNameBytesMax else {
            throw RequestError(.limitExceeded, "`name` is over \(Limits.markNameBytesMax) bytes")
        }
        guard playout.marks.count < Limits.marksWaitingMax else {
            throw RequestError(
                .limitExceeded, "\(Limits.marksWaitingMax) marks of this track wait already; wait for one of them", retryable: true)
        }
        reply(to: requester, into: &effects)
        changePlayout(of: mark.track, at: now, into: &effects) { playout, outcomes in
            playout.mark(MediaTime(ticks: mark.ts), name: mark.name, at: now, into: &outcomes)
        }
    }

    /// Drops what has not been heard. What was heard is settled here and now; the answer comes when the publisher's shard has said up to
    /// where there was something to drop.
    mutating func clear(
        _ sid: TrackSID, _ reason: String?, by requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        guard let track = tracks.index(of: sid) else { throw .noSuchTrack }
        let member = members[at: index]
        guard tracks[at: track].publisher == requester.handle || member.isSubscribed(to: tracks[at: track]) else {
            throw RequestError(.notAllowed, "only a track's publisher and those who listen to it clear it")
        }
        guard let playout = playouts.index(of: sid) else { throw .notAhead }
        guard (reason?.utf8.count ?? 0) <= Limits.clearReasonBytesMax else {
            throw RequestError(.limitExceeded, "`reason` is over \(Limits.clearReasonBytesMax) bytes")
        }
        guard playouts[at: playout].clears.count < Limits.clearsWaitingMax else {
            throw RequestError(.limitExceeded, "the track is being cleared already; wait for that", retryable: true)
        }
        // Marks that were reached by now were not cleared.
        changePlayout(of: sid, at: now, into: &effects) { playout, outcomes in playout.look(at: now, into: &outcomes) }
        playouts[at: playout].clear(by: member.signature, requester: requester, reason: reason, at: now)
        tracks[at: track].info.epoch = playouts[at: playout].epoch
        let info = tracks[at: track].info
        patch(.clear(info.alias, by: tracks[at: track].publisher, epoch: info.epoch), into: &effects)
    }

    /// Tells that a clear is done: first to who asked, then to everybody. Those who do not listen are told as well, for each
    /// `playout.started` has its end, and who listens later must know the epoch.
    mutating func finish(_ clear: Playout.Clear, of sid: TrackSID, at now: Instant, into effects: inout [Effect]) {
        guard let track = tracks[sid] else { return }
        let cut = ClearedPlayout(
            track: sid, epoch: clear.epoch, heard: clear.heard, discardedMs: clear.discardedMilliseconds, reason: clear.reason)
        if members.contains(clear.requester.handle) { reply(.cleared(cut), to: clear.requester, into: &effects) }
        // Whoever has left is not named again.
        let by = handles[clear.by] == nil ? Identity(text: "") : clear.by
        send(.playoutCleared(cut, by: by), to: everyone, into: &effects)
        if members.contains(track.publisher) {
            for mark in clear.marks {
                send(.playoutMarked(sid, name: mark.name, .cleared, at: clear.furthest), to: [track.publisher], into: &effects)
            }
        }
        let heard = clear.heard.playedTs.map(MediaTime.init(ticks:))
        if let start = track.talk.start { endTalk(on: sid, at: heard ?? start, .cleared, into: &effects) }
        cutTranscript(of: track, by: clear, heard: heard, at: now, into: &effects)
        playoutEnded(ofAgent: track.publisher, into: &effects)
    }

    mutating func takeProgress(
        _ progress: PlayoutProgress, of requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        let member = members[at: index]
        guard let track = tracks[progress.track] else { throw .noSuchTrack }
        guard member.isSubscribed(to: track) else { throw RequestError(.notAllowed, "only who listens to a track tells what it heard of it") }
        guard playouts.contains(progress.track) else { throw .notAhead }
        let longest = Double(ProtocolLimits.aheadMilliseconds)
        guard (0...longest).contains(progress.bufferedMs) else {
            throw RequestError(.invalidArgument, "`buffered_ms` must be 0 to \(ProtocolLimits.aheadMilliseconds)")
        }
        reply(to: requester, into: &effects)
        // Whole milliseconds, upwards: who counts in frames of samples means the end of what it has.
        let buffered = Int(progress.bufferedMs.rounded(.up)) * MediaTime.ticksPerMillisecond
        changePlayout(of: progress.track, at: now, into: &effects) { playout, outcomes in
            playout.take(
                played: progress.playedTs.map(MediaTime.init(ticks:)), buffered: buffered, epoch: progress.epoch, from: member.identity,
                at: now, into: &outcomes)
        }
        if let index = playouts.index(of: progress.track), let time = playouts[at: index].keeps(at: now) {
            patch(.retain(track.info.alias, by: track.publisher, from: time), into: &effects)
        }
    }
}

extension RequestError {
    static let notAhead = RequestError(
        .invalidArgument, "the track is live: nothing of it waits to be heard; publish it with mode \"ahead\"")
}
