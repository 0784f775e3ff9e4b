import Wire

/// What is told outside. Nothing is, and nothing is made up for it, unless the room is kept.
extension Room {
    func tell(_ fact: @autoclosure () -> AuditEvent, into effects: inout [Effect]) {
        if settings.reporting.reportsEvents { emit(.record(fact(), snapshot), into: &effects) }
    }

    /// Tells that the room has begun, before anything else is told of it.
    mutating func reportStart(into effects: inout [Effect]) {
        guard !hasStarted else { return }
        hasStarted = true
        tell(.started, into: &effects)
        if settings.reporting.records { startRecording(into: &effects) }
    }

    /// Records a revision of a segment once it is final or interrupted, and every later revision of it.
    mutating func recordTranscript(_ segment: TranscriptSegment, at now: Instant, into effects: inout [Effect]) {
        guard settings.reporting.reportsText, let times = transcript.record(segment, at: now) else { return }
        tell(.transcribed(transcribed(segment, times, at: now)), into: &effects)
    }

    private func transcribed(
        _ segment: TranscriptSegment, _ times: (began: Instant, ended: Instant), at now: Instant
    ) -> TranscribedSegment {
        var segment = segment
        let speaker = segment.participant.flatMap { handles[$0] }.flatMap { members[$0] }
        let own = speaker?.tracks.count == 1 ? speaker?.tracks.first : nil
        let track = (segment.track ?? own).flatMap { tracks[$0] }
        let start = segment.startTs ?? segment.words?.first?.startTs
        let end = segment.endTs ?? segment.words?.last?.endTs
        let began = start.flatMap { track?.offset(of: MediaTime(ticks: $0), at: now) } ?? (times.began - now)
        let ended = end.flatMap { track?.offset(of: MediaTime(ticks: $0), at: now) } ?? (times.ended - now)
        segment.words = nil
        return TranscribedSegment(
            segment: segment, speaker: speaker?.kind ?? (segment.role == .assistant ? .agent : .standard), sessionID: speaker?.sessionID,
            began: began, ended: max(began, ended), track: track?.info.sid, isRecorded: recording != nil && track != nil)
    }
}

extension Track {
    /// When a sample was, or will be, counted from now, as far as a clock is known for the track.
    ///
    /// - Returns: nil for what is over an hour away: no transcript is that late, so the time is not of this track.
    fileprivate func offset(of time: MediaTime, at now: Instant) -> Duration? {
        guard let anchor else { return nil }
        let ticks = Int64(time.distance(from: anchor.time))
        let offset = (anchor.instant - now) + .nanoseconds(ticks * 62_500 / 3)
        return abs(offset.inMilliseconds) < 3_600_000 ? offset : nil
    }
}
