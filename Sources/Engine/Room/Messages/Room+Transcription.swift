internal import Wire

extension Room {
    /// Relays a transcript segment to everybody except its sender, and keeps it for participants that join later.
    ///
    /// Agents may transcribe for others. A revision that is not newer than the known one is acknowledged and ignored.
    mutating func transcribe(_ segment: TranscriptSegment, by requester: Requester, at index: Int) throws(RequestError) {
        let sender = members[at: index]
        try sender.checkMayPublishData()
        try segment.check()
        let speaker = segment.participant ?? sender.identity
        if sender.kind != .agent {
            guard speaker == sender.identity, segment.role == .user else {
                throw RequestError(.notAllowed, "only an agent may transcribe for others; send role \"user\" about yourself")
            }
        }
        // The answer must not reveal a hidden participant.
        guard let known = members[speaker], !known.isHidden else {
            throw RequestError(.notFound, "no participant with that identity can be transcribed")
        }
        var segment = segment
        segment.participant = speaker
        let outcome = transcript.apply(&segment, at: now)
        if outcome == .idInUse {
            throw RequestError(.invalidArgument, "this `id` belongs to a segment of another participant; choose another")
        }
        reply(to: requester)
        guard outcome != .stale else { return }
        send(.segment(segment), to: members.readers(among: members.handles(except: requester.handle)))
        recordTranscript(segment)
    }

    /// Records a revision of a segment once it is final or interrupted, and every later revision of it.
    mutating func recordTranscript(_ segment: TranscriptSegment) {
        guard settings.reporting.reportsText, let times = transcript.record(segment, at: now) else { return }
        let segment = transcribed(segment, times)
        audit(.transcribed(segment))
    }

    private func transcribed(_ segment: TranscriptSegment, _ times: (began: Instant, ended: Instant)) -> TranscribedSegment {
        var segment = segment
        let speaker = segment.participant.flatMap { members[$0] }
        let own = speaker?.tracks.count == 1 ? speaker?.tracks.first : nil
        let track = (segment.track ?? own).flatMap { tracks[$0] }
        let start = segment.startTs ?? segment.words?.first?.startTs
        let end = segment.endTs ?? segment.words?.last?.endTs
        let began = start.flatMap { track?.offset(of: MediaTime(ticks: $0), at: now) } ?? (times.began - now)
        let ended = end.flatMap { track?.offset(of: MediaTime(ticks: $0), at: now) } ?? (times.ended - now)
        segment.words = nil
        return TranscribedSegment(
            segment: segment, speaker: speaker?.kind ?? (segment.role == .assistant ? .agent : .standard), sessionID: speaker?.stay.session,
            began: began, ended: max(began, ended), track: track?.info.sid, isRecorded: recording != nil && track != nil)
    }
}

extension TranscriptSegment {
    fileprivate func check() throws(RequestError) {
        guard (1...Limits.segmentIDBytesMax).contains(id.utf8.count) else {
            throw RequestError(.invalidArgument, "`id` must be 1 to \(Limits.segmentIDBytesMax) bytes")
        }
        guard 0...Limits.segmentRevisionMax ~= rev else {
            throw RequestError(.invalidArgument, "`rev` must be 0 to \(Limits.segmentRevisionMax)")
        }
        guard text.utf8.count <= Limits.segmentTextBytesMax else {
            throw RequestError(.limitExceeded, "`text` is over \(Limits.segmentTextBytesMax) bytes")
        }
        guard (words?.count ?? 0) <= Limits.segmentWordsMax else {
            throw RequestError(.limitExceeded, "there are over \(Limits.segmentWordsMax) `words`")
        }
    }
}

/// How much of an agent's transcript was played.
extension Room {
    /// Marks the segments of a completed utterance, so that later clears leave them alone.
    mutating func settleTranscript(of track: Track, upTo heard: HeardPosition) {
        guard let time = heard.playedTs.map(MediaTime.init(ticks:)) else { return }
        transcript.settle(upTo: time, where: isSpoken(on: track))
    }

    /// Reports to everybody, the agent included, how much of its transcript was played when its track was cleared or ended.
    mutating func interruptTranscript(of track: Track, _ interruption: Transcript.Interruption) {
        for segment in transcript.interrupt(interruption, where: isSpoken(on: track)) {
            send(.segment(segment), to: members.readers(among: everyone))
            recordTranscript(segment)
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

extension Track {
    /// Time of a sample relative to now, if the track's clock is known.
    ///
    /// - Returns: nil if it is more than an hour away, because the time then belongs to another track.
    fileprivate func offset(of time: MediaTime, at now: Instant) -> Duration? {
        guard let anchor else { return nil }
        let ticks = Int64(time.distance(from: anchor.time))
        let offset = (anchor.instant - now) + .nanoseconds(ticks * 62_500 / 3)
        return abs(offset.inMilliseconds) < 3_600_000 ? offset : nil
    }
}
