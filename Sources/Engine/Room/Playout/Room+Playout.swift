import Wire

/// What is heard of `ahead` tracks, as the room hears of it and tells it.
extension Room {
    /// Takes in what the queue on the publisher's shard tells. Words about a track that has ended meanwhile are passed over.
    mutating func note(_ fact: PlayoutQueueReport, of sid: TrackSID, at now: Instant, into effects: inout [Effect]) {
        guard let index = playouts.index(of: sid), let track = tracks.index(of: sid) else { return }
        if case .started(_, let time, let playsAt) = fact { tracks[at: track].anchor = (time, playsAt) }
        switch fact {
        case .started, .drained, .refilled:
            let stands = !isOpen(trackAt: track)
            changePlayout(of: sid, at: now, into: &effects) { playout, outcomes in
                playout.take(fact, at: now, into: &outcomes)
                // The word was under way when the gate was closed.
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

    /// Up to where somebody last said to have heard what plays on a track, nil if it has not: where to go on after an interruption.
    func lastProgress(of subscriber: Identity, on sid: TrackSID) -> MediaTime? {
        playouts[sid]?.utterance?.lastReport(of: subscriber)
    }

    /// Somebody no longer hears a track.
    mutating func forgetProgress(of subscriber: Identity, on sid: TrackSID, at now: Instant, into effects: inout [Effect]) {
        changePlayout(of: sid, at: now, into: &effects) { playout, outcomes in
            playout.forget(subscriber, at: now)
            playout.look(at: now, into: &outcomes)
        }
        if let index = playouts.index(of: sid), playouts[at: index].keepsNoMore(), let track = tracks[sid] {
            patch(.retain(track.info.alias, by: track.publisher, from: nil), into: &effects)
        }
    }

    /// The track ends: whoever waits for an answer about it gets it now.
    mutating func endPlayout(of sid: TrackSID, at now: Instant, into effects: inout [Effect]) {
        guard let index = playouts.index(of: sid), let track = tracks[sid] else { return }
        let interruption = playouts[at: index].interruption(at: now)
        let (clears, marks) = playouts[at: index].end()
        let heard = playouts[at: index].heard(at: now).playedTs.map(MediaTime.init(ticks:))
        playouts.remove(sid)
        for clear in clears { finish(clear, of: sid, at: now, into: &effects) }
        if let interruption { cutTranscript(of: track, interruption, at: now, into: &effects) }
        guard members.contains(track.publisher) else { return }
        for mark in marks {
            send(.playoutMarked(sid, name: mark.name, .dropped, at: heard), to: [track.publisher], into: &effects)
        }
    }

    /// Changes a playout, if the track has one, tells what comes of it, and sees to the wakeUp.
    mutating func changePlayout(
        of sid: TrackSID, at now: Instant, into effects: inout [Effect], by change: (inout Playout, inout [Playout.Outcome]) -> Void
    ) {
        guard let index = playouts.index(of: sid) else { return }
        var outcomes: [Playout.Outcome] = []
        change(&playouts[at: index], &outcomes)
        wakeUp.include(playouts[at: index].deadline(after: now))
        // Mostly there are none, and a track is not looked up for nothing.
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
            guard members.contains(track.publisher) else { return }
            send(.playoutMarked(sid, name: name, status, at: time), to: [track.publisher], into: &effects)
        case .finished(let heard):
            settleTranscript(of: track, upTo: heard)
            send(.playoutFinished(sid, of: identity, epoch: track.info.epoch, heard), to: everyone, into: &effects)
            playoutEnded(ofAgent: track.publisher, into: &effects)
        }
    }
}
