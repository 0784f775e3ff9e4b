import Wire

/// Playout of `ahead` tracks.
extension Room {
    /// Handles a report of the queue on the publisher's shard. Reports about a track that has ended are ignored.
    mutating func note(_ fact: PlayoutQueueReport, of sid: TrackSID, at now: Instant, into effects: inout [Effect]) {
        guard let index = playouts.index(of: sid), let track = tracks.index(of: sid) else { return }
        if case .started(_, let time, let playsAt) = fact { tracks[at: track].anchor = (time, playsAt) }
        switch fact {
        case .started, .drained, .refilled:
            let stands = !isOpen(trackAt: track)
            changePlayout(of: sid, at: now, into: &effects) { playout, outcomes in
                playout.take(fact, at: now, into: &outcomes)
                // The report crossed the closing of the gate.
                if stands { playout.pause(at: now) }
            }
        case .backlog(let state, let queued, let dropped):
            if dropped > 0 { playouts[at: index].noteRefusal() }
            send(
                .playoutBacklog(sid, state, queuedMs: queued, dropped: dropped), to: [tracks[at: track].publisher], into: &effects)
        case .cleared(let epoch, let end):
            let done = playouts[at: index].cut(epoch, end: end)
            for clear in done { finish(clear, of: sid, at: now, into: &effects) }
        }
    }

    mutating func checkPlayouts(at now: Instant, into effects: inout [Effect]) {
        for sid in playouts.keys {
            changePlayout(of: sid, at: now, into: &effects) { playout, outcomes in playout.look(at: now, into: &outcomes) }
        }
    }

    /// The position that a subscriber last reported, where it continues after an interruption; nil without a report.
    func lastProgress(of subscriber: Identity, on sid: TrackSID) -> MediaTime? {
        playouts[sid]?.utterance?.lastReport(of: subscriber)
    }

    /// A subscriber no longer receives a track.
    mutating func forgetProgress(of subscriber: Identity, on sid: TrackSID, at now: Instant, into effects: inout [Effect]) {
        changePlayout(of: sid, at: now, into: &effects) { playout, outcomes in
            playout.forget(subscriber, at: now)
            playout.look(at: now, into: &outcomes)
        }
        if let index = playouts.index(of: sid), playouts[at: index].keepsNoMore(), let track = tracks[sid] {
            patch(.retain(track.info.alias, by: track.publisher, from: nil), into: &effects)
        }
    }

    /// Ends the playout of a track: pending clears and marks are answered.
    mutating func endPlayout(of sid: TrackSID, at now: Instant, into effects: inout [Effect]) {
        guard let index = playouts.index(of: sid), let track = tracks[sid] else { return }
        let interruption = playouts[at: index].interruption(at: now)
        let (clears, marks) = playouts[at: index].end()
        let heard = playouts[at: index].heard(at: now).playedTs.map(MediaTime.init(ticks:))
        playouts.remove(sid)
        for clear in clears { finish(clear, of: sid, at: now, into: &effects) }
        if let interruption { cutTranscript(of: track, interruption, at: now, into: &effects) }
        guard roster.contains(track.publisher) else { return }
        for mark in marks {
            send(.playoutMarked(sid, name: mark.name, .dropped, at: heard), to: [track.publisher], into: &effects)
        }
    }

    /// Applies a change to the playout of a track, if it has one, and sends what results.
    mutating func changePlayout(
        of sid: TrackSID, at now: Instant, into effects: inout [Effect], by change: (inout Playout, inout [Playout.Outcome]) -> Void
    ) {
        guard let index = playouts.index(of: sid) else { return }
        var outcomes: [Playout.Outcome] = []
        change(&playouts[at: index], &outcomes)
        wakeUp.include(playouts[at: index].deadline(after: now))
        // Usually there are none; avoids looking up the track.
        guard !outcomes.isEmpty, let track = tracks[sid] else { return }
        for outcome in outcomes { tell(outcome, of: track, into: &effects) }
    }

    private mutating func tell(_ outcome: Playout.Outcome, of track: Track, into effects: inout [Effect]) {
        let (sid, identity) = (track.info.sid, track.info.participant)
        switch outcome {
        case .started(let time):
            send(.playoutStarted(sid, of: identity, epoch: track.info.epoch, at: time), to: everyone, into: &effects)
            playoutStarted(ofAgent: track.publisher, into: &effects)
        case .marked(let name, let status, let time):
            guard roster.contains(track.publisher) else { return }
            send(.playoutMarked(sid, name: name, status, at: time), to: [track.publisher], into: &effects)
        case .finished(let heard):
            settleTranscript(of: track, upTo: heard)
            send(.playoutFinished(sid, of: identity, epoch: track.info.epoch, heard), to: everyone, into: &effects)
            playoutEnded(ofAgent: track.publisher, into: &effects)
        }
    }
}

/// Requests about `ahead` tracks.
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

    /// Drops audio that has not been played. The playout position is settled now; the answer follows when the publisher's shard has
    /// reported the end of the queue.
    mutating func clear(
        _ sid: TrackSID, _ reason: String?, by requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        guard let track = tracks.index(of: sid) else { throw .noSuchTrack }
        let participant = roster[at: index]
        guard tracks[at: track].publisher == requester.handle || participant.isSubscribed(to: tracks[at: track]) else {
            throw RequestError(.notAllowed, "only a track's publisher and those who listen to it clear it")
        }
        guard let playout = playouts.index(of: sid) else { throw .notAhead }
        guard (reason?.utf8.count ?? 0) <= Limits.clearReasonBytesMax else {
            throw RequestError(.limitExceeded, "`reason` is over \(Limits.clearReasonBytesMax) bytes")
        }
        guard playouts[at: playout].clears.count < Limits.clearsWaitingMax else {
            throw RequestError(.limitExceeded, "the track is being cleared already; wait for that", retryable: true)
        }
        // Marks reached by now count as played.
        changePlayout(of: sid, at: now, into: &effects) { playout, outcomes in playout.look(at: now, into: &outcomes) }
        playouts[at: playout].clear(by: participant.signature, requester: requester, reason: reason, at: now)
        tracks[at: track].info.epoch = playouts[at: playout].epoch
        let info = tracks[at: track].info
        patch(.clear(info.alias, by: tracks[at: track].publisher, epoch: info.epoch), into: &effects)
    }

    /// Reports a completed clear: first to the requester, then to everybody. Non-subscribers are included, because every
    /// `playout.started` has an end, and later subscribers need the epoch.
    mutating func finish(_ clear: Playout.Clear, of sid: TrackSID, at now: Instant, into effects: inout [Effect]) {
        guard let track = tracks[sid] else { return }
        let cut = ClearedPlayout(
            track: sid, epoch: clear.epoch, heard: clear.heard, discardedMs: clear.discardedMilliseconds, reason: clear.reason)
        if roster.contains(clear.requester.handle) { reply(.cleared(cut), to: clear.requester, into: &effects) }
        // A participant that has left is not named.
        let by = handles[clear.by] == nil ? Identity(text: "") : clear.by
        send(.playoutCleared(cut, by: by), to: everyone, into: &effects)
        if roster.contains(track.publisher) {
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
        let participant = roster[at: index]
        guard let track = tracks[progress.track] else { throw .noSuchTrack }
        guard participant.isSubscribed(to: track) else { throw RequestError(.notAllowed, "only who listens to a track tells what it heard of it") }
        guard playouts.contains(progress.track) else { throw .notAhead }
        let longest = Double(ProtocolLimits.aheadMilliseconds)
        guard (0...longest).contains(progress.bufferedMs) else {
            throw RequestError(.invalidArgument, "`buffered_ms` must be 0 to \(ProtocolLimits.aheadMilliseconds)")
        }
        reply(to: requester, into: &effects)
        // Rounded up: a client that counts in frames means the end of the last one.
        let buffered = Int(progress.bufferedMs.rounded(.up)) * MediaTime.ticksPerMillisecond
        changePlayout(of: progress.track, at: now, into: &effects) { playout, outcomes in
            playout.take(
                played: progress.playedTs.map(MediaTime.init(ticks:)), buffered: buffered, epoch: progress.epoch, from: participant.identity,
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

/// How much of an agent's transcript was played.
extension Room {
    /// Marks the segments of a completed utterance, so that later clears leave them alone.
    mutating func settleTranscript(of track: Track, upTo heard: HeardPosition) {
        guard let time = heard.playedTs.map(MediaTime.init(ticks:)) else { return }
        let isMeant = isSpoken(on: track)
        transcript.settle(upTo: time, where: isMeant)
    }

    /// Reports to everybody, the agent included, how much of its transcript was played when its track was cleared.
    mutating func cutTranscript(
        of track: Track, by clear: Playout.Clear, heard: MediaTime?, at now: Instant, into effects: inout [Effect]
    ) {
        let cut = Transcript.Interruption(heard: heard, furthest: clear.furthest, first: clear.first, end: clear.end)
        cutTranscript(of: track, cut, at: now, into: &effects)
    }

    /// The same for a track that ended in the middle of an utterance.
    mutating func cutTranscript(of track: Track, _ cut: Transcript.Interruption, at now: Instant, into effects: inout [Effect]) {
        let isMeant = isSpoken(on: track)
        for segment in transcript.cut(cut, where: isMeant) {
            send(.segment(segment), to: readers(among: everyone), into: &effects)
            recordTranscript(segment, at: now, into: &effects)
        }
    }

    /// Matches the segments spoken on a track: those that name it, or name none if it is the participant's only `ahead` track.
    private func isSpoken(on track: Track) -> (TranscriptSegment) -> Bool {
        let info = track.info
        let hasOther = tracks.values.contains {
            $0.info.participant == info.participant && $0.info.mode == .ahead && $0.info.sid != info.sid
        }
        return { segment in
            guard segment.role == .assistant, segment.participant == info.participant else { return false }
            return segment.track.map { $0 == info.sid } ?? !hasOther
        }
    }
}
