package import Wire

extension Room {
    /// Reports of an `ahead` track's queue. Instants are the gateway's, times the track's.
    ///
    /// Sent in the order of occurrence. Reports of another epoch, or for a track that has ended, crossed a decision of the room and
    /// are ignored. A queue whose gate is closed releases nothing and need not report it; its clock restarts when the gate opens.
    package enum PlayoutQueueReport: Sendable, Hashable {
        /// The clock started: the sample at `time` plays at `playsAt`. Sent for the first frame of an utterance, and after an
        /// underrun that left a gap.
        case started(epoch: UInt8, at: MediaTime, playsAt: Instant)
        /// Everything published so far has been released.
        case drained(epoch: UInt8, end: MediaTime)
        /// More was published before the queue underran; the clock continues.
        case refilled(epoch: UInt8)
        /// The publishing position, about once a second until everything has been released: if this node is lost, it tells how much was
        /// not played.
        case received(epoch: UInt8, end: MediaTime)
        /// How far the publisher is ahead, and the frames dropped since the last report.
        case backlog(BacklogState, queuedMilliseconds: Int, dropped: Int)
        /// The queue was cleared: `epoch` is the new epoch, `end` the publishing position of the old one, nil if it was empty. Sent
        /// exactly once per `PatchChange.clear`.
        case cleared(epoch: UInt8, end: MediaTime?)
    }
}

/// Playout of `ahead` tracks.
extension Room {
    /// Handles a report of the queue on the publisher's shard. Reports about a track that has ended are ignored.
    mutating func applyPlayoutReport(_ report: PlayoutQueueReport, of sid: TrackSID) {
        guard let index = tracks.playouts.index(of: sid), let track = tracks.index(of: sid) else { return }
        if case .started(_, let time, let playsAt) = report { tracks[at: track].anchor = (time, playsAt) }
        switch report {
        case .started, .drained, .refilled:
            let isPaused = !isOpen(trackAt: track)
            changePlayout(of: sid) { [now] playout, outcomes in
                playout.apply(report, at: now, into: &outcomes)
                // The report crossed the closing of the gate.
                if isPaused { playout.pause(at: now) }
            }
        case .received(let epoch, let end): tracks.playouts[at: index].recordReceived(upTo: end, of: epoch)
        case .backlog(let state, let queued, let dropped):
            if dropped > 0 { tracks.playouts[at: index].recordDrops() }
            send(.playoutBacklog(sid, state, queuedMs: queued, dropped: dropped), to: [tracks[at: track].publisher])
        case .cleared(let epoch, let end):
            let done = tracks.playouts[at: index].completeClears(upTo: epoch, end: end)
            for clear in done { finish(clear, of: sid) }
        }
    }

    mutating func checkPlayouts() {
        for sid in tracks.playouts.keys {
            changePlayout(of: sid) { [now] playout, outcomes in playout.processDue(at: now, into: &outcomes) }
        }
    }

    /// The position that a subscriber last reported, where it continues after an interruption; nil without a report.
    func lastProgress(of subscriber: Identity, on sid: TrackSID) -> MediaTime? {
        tracks.playouts[sid]?.utterance?.lastReport(of: subscriber)
    }

    /// A subscriber no longer receives a track.
    mutating func removeProgress(of subscriber: Identity, on sid: TrackSID) {
        changePlayout(of: sid) { [now] playout, outcomes in
            playout.remove(subscriber, at: now)
            playout.processDue(at: now, into: &outcomes)
        }
        if let index = tracks.playouts.index(of: sid), tracks.playouts[at: index].endRetention(), let track = tracks[sid] {
            patch(.retain(track.info.alias, by: track.publisher, from: nil))
        }
    }

    /// Ends the playout of a track: pending clears and marks are answered.
    mutating func endPlayout(of sid: TrackSID) {
        guard let index = tracks.playouts.index(of: sid), let track = tracks[sid] else { return }
        let interruption = tracks.playouts[at: index].interruption(at: now)
        let (clears, marks) = tracks.playouts[at: index].end()
        let heard = tracks.playouts[at: index].heard(at: now).playedTs.map(MediaTime.init(ticks:))
        tracks.playouts.remove(sid)
        for clear in clears { finish(clear, of: sid) }
        if let interruption { interruptTranscript(of: track, interruption) }
        guard members.contains(track.publisher) else { return }
        for mark in marks {
            send(.playoutMarked(sid, name: mark.name, .dropped, at: heard), to: [track.publisher])
        }
    }

    /// Applies a change to the playout of a track, if it has one, and sends what results.
    mutating func changePlayout(of sid: TrackSID, by change: (inout Playout, inout [Playout.Outcome]) -> Void) {
        guard let index = tracks.playouts.index(of: sid) else { return }
        var outcomes: [Playout.Outcome] = []
        change(&tracks.playouts[at: index], &outcomes)
        wakeUp(by: tracks.playouts[at: index].deadline(after: now))
        // Usually there are none; avoids looking up the track.
        guard !outcomes.isEmpty, let track = tracks[sid] else { return }
        for outcome in outcomes { send(outcome, of: track) }
    }

    private mutating func send(_ outcome: Playout.Outcome, of track: Track) {
        let (sid, identity) = (track.info.sid, track.info.participant)
        switch outcome {
        case .started(let time):
            send(.playoutStarted(sid, of: identity, epoch: track.info.epoch, at: time), to: everyone)
            playoutStarted(ofAgent: track.publisher)
        case .marked(let name, let status, let time):
            guard members.contains(track.publisher) else { return }
            send(.playoutMarked(sid, name: name, status, at: time), to: [track.publisher])
        case .finished(let heard):
            settleTranscript(of: track, upTo: heard)
            send(.playoutFinished(sid, of: identity, epoch: track.info.epoch, heard), to: everyone)
            playoutEnded(ofAgent: track.publisher)
        }
    }
}

/// Requests about `ahead` tracks.
extension Room {
    mutating func setMark(_ mark: PlayoutMark, by requester: Requester) throws(RequestError) {
        guard let track = tracks[mark.track] else { throw .noSuchTrack }
        guard track.publisher == requester.handle else {
            throw RequestError(.notAllowed, "only the publisher of a track can set marks on it")
        }
        guard let playout = tracks.playouts[mark.track] else { throw .notAhead }
        guard mark.name.utf8.count <= Limits.markNameBytesMax else {
            throw RequestError(.limitExceeded, "`name` is over \(Limits.markNameBytesMax) bytes")
        }
        guard playout.marks.count < Limits.marksPendingMax else {
            throw RequestError(
                .limitExceeded, "\(Limits.marksPendingMax) marks of this track are pending; wait for one of them", retryable: true)
        }
        reply(to: requester)
        changePlayout(of: mark.track) { [now] playout, outcomes in
            playout.mark(MediaTime(ticks: mark.ts), name: mark.name, at: now, into: &outcomes)
        }
    }

    /// Drops audio that has not been played. The playout position is settled now; the answer follows when the publisher's shard has
    /// reported the end of the queue.
    mutating func clear(_ sid: TrackSID, _ reason: String?, by requester: Requester, at index: Int) throws(RequestError) {
        guard let track = tracks.index(of: sid) else { throw .noSuchTrack }
        let participant = members[at: index]
        guard tracks[at: track].publisher == requester.handle || participant.isSubscribed(to: tracks[at: track]) else {
            throw RequestError(.notAllowed, "only the publisher and the subscribers of a track can clear it")
        }
        guard let playout = tracks.playouts.index(of: sid) else { throw .notAhead }
        guard (reason?.utf8.count ?? 0) <= Limits.clearReasonBytesMax else {
            throw RequestError(.limitExceeded, "`reason` is over \(Limits.clearReasonBytesMax) bytes")
        }
        guard tracks.playouts[at: playout].clears.count < Limits.clearsPendingMax else {
            throw RequestError(.limitExceeded, "too many clears of this track are pending; wait for one of them", retryable: true)
        }
        // Marks reached by now count as played.
        changePlayout(of: sid) { [now] playout, outcomes in playout.processDue(at: now, into: &outcomes) }
        tracks.playouts[at: playout].clear(by: participant.signature, requester: requester, reason: reason, at: now)
        tracks[at: track].info.epoch = tracks.playouts[at: playout].epoch
        let info = tracks[at: track].info
        patch(.clear(info.alias, by: tracks[at: track].publisher, epoch: info.epoch))
        // Its queue is lost and has nothing to report.
        guard members.isRestored(tracks[at: track].publisher) else { return }
        for clear in tracks.playouts[at: playout].completeClears(upTo: info.epoch, end: nil) { finish(clear, of: sid) }
    }

    /// Reports a completed clear: first to the requester, then to everybody. Non-subscribers are included, because every
    /// `playout.started` has an end, and later subscribers need the epoch.
    mutating func finish(_ clear: Playout.Clear, of sid: TrackSID) {
        guard let track = tracks[sid] else { return }
        let cleared = ClearedPlayout(
            track: sid, epoch: clear.epoch, heard: clear.heard, discardedMs: clear.discardedMilliseconds, reason: clear.reason)
        if members.contains(clear.requester.handle) { reply(.cleared(cleared), to: clear.requester) }
        // A participant that has left is not named.
        let by = members.handle(of: clear.by) == nil ? Identity(text: "") : clear.by
        send(.playoutCleared(cleared, by: by), to: everyone)
        if members.contains(track.publisher) {
            for mark in clear.marks {
                send(.playoutMarked(sid, name: mark.name, .cleared, at: clear.furthest), to: [track.publisher])
            }
        }
        let heard = clear.heard.playedTs.map(MediaTime.init(ticks:))
        if let start = track.talk.start { endTalk(on: sid, at: heard ?? start, .cleared) }
        interruptTranscript(of: track, clear.interruption)
        playoutEnded(ofAgent: track.publisher)
    }

    mutating func applyProgress(_ progress: PlayoutProgress, of requester: Requester, at index: Int) throws(RequestError) {
        let participant = members[at: index]
        guard let track = tracks[progress.track] else { throw .noSuchTrack }
        guard participant.isSubscribed(to: track) else {
            throw RequestError(.notAllowed, "only subscribers of a track can report playout progress")
        }
        guard tracks.playouts.contains(progress.track) else { throw .notAhead }
        let longest = Double(ProtocolLimits.aheadMilliseconds)
        guard (0...longest).contains(progress.bufferedMs) else {
            throw RequestError(.invalidArgument, "`buffered_ms` must be 0 to \(ProtocolLimits.aheadMilliseconds)")
        }
        reply(to: requester)
        // Rounded up: a client that counts in frames means the end of the last one.
        let buffered = Int(progress.bufferedMs.rounded(.up)) * MediaTime.ticksPerMillisecond
        changePlayout(of: progress.track) { [now] playout, outcomes in
            playout.applyProgress(
                played: progress.playedTs.map(MediaTime.init(ticks:)), buffered: buffered, epoch: progress.epoch,
                from: participant.identity,
                at: now, into: &outcomes)
        }
        if let index = tracks.playouts.index(of: progress.track), let time = tracks.playouts[at: index].retentionUpdate(at: now) {
            patch(.retain(track.info.alias, by: track.publisher, from: time))
        }
    }
}

extension RequestError {
    static let notAhead = RequestError(
        .invalidArgument, "the track is live and has no playout queue; publish it with mode \"ahead\"")
}
