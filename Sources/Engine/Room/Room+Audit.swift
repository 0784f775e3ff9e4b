package import Wire

extension Room {
    /// An event of a room, for services that store it or send webhooks.
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
        /// The participant was put on hold or resumed.
        case held(Identity, Bool)
        case transcribed(TranscribedSegment)
        case typed(TypedText)
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
        package var began = Duration.zero
        package var ended = Duration.zero
        /// The track that carried it, if known.
        package var track: TrackSID?
        /// Whether that track is being recorded.
        package var isRecorded = false
    }

    /// A chat message.
    package struct TypedText: Sendable, Hashable {
        package var id: String
        package var sender: Identity
        package var kind: ParticipantKind
        /// Nil: everybody.
        package var recipients: [Identity]?
        package var text: String
    }

    /// State of a room when an audit event is recorded.
    package struct Snapshot: Sendable, Hashable, Codable {
        package var info: RoomInfo
        /// Agents and recorders excluded.
        package var participantCount = 0
        package var publisherCount = 0
        package var emptyTimeout = Duration.zero
        package var departureTimeout = Duration.zero
        package var recording: RecordingID?
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
    mutating func audit(_ event: @autoclosure () -> AuditEvent) {
        if settings.reporting.reportsEvents { emit(.record(event(), snapshot)) }
    }

    /// Records `started` before any other event.
    mutating func reportStart() {
        guard phase == .new else { return }
        phase = .open
        audit(.started)
        if settings.reporting.records { startRecording() }
    }

    /// Records a chat message of a user or an agent. Hidden participants are not part of the conversation, as with transcripts.
    mutating func recordTyped(_ message: TextMessage, as id: String, by sender: Participant) {
        guard settings.reporting.reportsText, message.topic == TextMessage.chatTopic, !sender.isHidden, sender.kind.converses,
            message.text.contains(where: { !$0.isWhitespace })
        else { return }
        let recipients = message.to.flatMap { $0.isEmpty ? nil : $0 }
        audit(.typed(TypedText(id: id, sender: sender.identity, kind: sender.kind, recipients: recipients, text: message.text)))
    }
}

/// Recording. The room decides and announces it; shards copy the frames.
extension Room {
    /// The parameters with which a track is recorded.
    package struct RecordingTap: Sendable, Hashable {
        package var recording: RecordingID
        package var track: TrackInfo
        package var room: Snapshot
    }

    mutating func startRecording() {
        guard recording == nil else { return }
        let id = identifiers.recording()
        recording = id
        send(.recordingStarted(id), to: everyone)
        audit(.recordingStarted(id))
        for track in tracks.values { tap(track) }
    }

    /// - Parameter id: nil stops any recording.
    mutating func stopRecording(_ id: RecordingID?, _ end: RecordingEnd) {
        guard let current = recording, id == nil || id == current else { return }
        for track in tracks.values { untap(track) }
        recording = nil
        send(.recordingStopped(current, end), to: everyone)
        audit(.recordingStopped(current, end))
    }

    /// Copies the track's frames from now on, if the room is being recorded.
    mutating func tap(_ track: Track) {
        guard let recording, !members.isRestored(track.publisher) else { return }
        let order = RecordingTap(recording: recording, track: track.info, room: snapshot)
        emit(.tap(order, by: track.publisher))
    }

    /// Must come before the patch is removed.
    mutating func untap(_ track: Track) {
        if recording != nil, !members.isRestored(track.publisher) { emit(.untap(track.info, by: track.publisher)) }
    }
}
