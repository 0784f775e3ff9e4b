package import Wire

extension Room {
    /// What happened in a room, for services that store it or send webhooks.
    ///
    /// In the order of occurrence. Hidden participants are included, as in LiveKit.
    package enum AuditEvent: Sendable, Hashable {
        /// First event of a room.
        case started
        /// Last event of a room.
        case finished(DisconnectReason)
        /// A participant joined. Not repeated on resume.
        case joined(ParticipantInfo, sessionID: String?)
        case left(ParticipantInfo, sessionID: String?, DisconnectReason)
        /// A participant was admitted but could not join.
        case aborted(ParticipantInfo, sessionID: String?, DisconnectReason)
        case published(TrackInfo, by: ParticipantSID)
        case unpublished(TrackInfo, by: ParticipantSID)
        /// Its call was put on hold or resumed.
        case held(Identity, Bool)
        case transcribed(TranscribedSegment)
        case recordingStarted(RecordingID)
        case recordingStopped(RecordingID, RecordingEnd)
    }

    /// A revision of a transcript segment. Recorded once the segment is final or interrupted, and for every later revision: the one
    /// with the highest `rev` replaces the others of the same `id`.
    package struct TranscribedSegment: Sendable, Hashable {
        /// Includes the speaker, but no word times.
        package var segment: TranscriptSegment
        package var speaker: ParticipantKind
        /// Session in the speaker's token.
        package var sessionID: String?
        /// Start and end of the speech, relative to the time of this event; negative means earlier.
        ///
        /// From the track's clock if the segment has times, else from the arrival of its first revision to that of its first
        /// recorded one.
        package var began: Duration
        package var ended: Duration
        /// The track that carried it, if known.
        package var track: TrackSID?
        /// Whether that track is being recorded.
        package var isRecorded: Bool

        package init(
            segment: TranscriptSegment, speaker: ParticipantKind, sessionID: String? = nil, began: Duration = .zero,
            ended: Duration = .zero, track: TrackSID? = nil, isRecorded: Bool = false
        ) {
            self.segment = segment
            self.speaker = speaker
            self.sessionID = sessionID
            self.began = began
            self.ended = ended
            self.track = track
            self.isRecorded = isRecorded
        }

        package var wasInterrupted: Bool { segment.spoken == .interrupted }
    }

    /// State of a room when an audit event is recorded.
    package struct Snapshot: Sendable, Hashable {
        package var info: RoomInfo
        /// Agents and recorders excluded.
        package var participantCount: Int
        package var publisherCount: Int
        package var emptyTimeout: Duration
        package var departureTimeout: Duration
        package var recording: RecordingID?

        package init(
            info: RoomInfo, participantCount: Int = 0, publisherCount: Int = 0, emptyTimeout: Duration = .zero,
            departureTimeout: Duration = .zero, recording: RecordingID? = nil
        ) {
            self.info = info
            self.participantCount = participantCount
            self.publisherCount = publisherCount
            self.emptyTimeout = emptyTimeout
            self.departureTimeout = departureTimeout
            self.recording = recording
        }
    }

    /// Linear in tracks.
    package var snapshot: Snapshot {
        Snapshot(
            info: info, participantCount: participantCount, publisherCount: publisherCount, emptyTimeout: settings.emptyTimeout,
            departureTimeout: settings.departureTimeout, recording: recording)
    }
}

/// Recording audit events. The event is built only if the room reports it.
extension Room {
    func tell(_ fact: @autoclosure () -> AuditEvent, into effects: inout [Effect]) {
        if settings.reporting.reportsEvents { emit(.record(fact(), snapshot), into: &effects) }
    }

    /// Records `started` before any other event.
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
        let speaker = segment.participant.flatMap { handles[$0] }.flatMap { roster[$0] }
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

/// What a room reports to services, and what is recorded. Chosen when the room is created.
package struct RoomReporting: Sendable, Hashable {
    /// Joins, departures, tracks, hold and recordings.
    package var reportsEvents: Bool
    /// Transcripts. Without this no text leaves the room.
    package var reportsText: Bool
    /// Records all tracks from the start.
    package var records: Bool

    package init(reportsEvents: Bool = true, reportsText: Bool = false, records: Bool = false) {
        self.reportsEvents = reportsEvents
        self.reportsText = reportsText
        self.records = records
    }

    package static let nothing = RoomReporting(reportsEvents: false)
    /// Everything except transcripts.
    package static let events = RoomReporting()
    package static let eventsAndText = RoomReporting(reportsText: true)
}
