package import Wire

extension Room {
    /// What has happened in a room, for those outside who keep records of it or pass it on (LiveKit's webhooks need no more).
    ///
    /// Told in the order in which it happened. The hidden are told of too, as in LiveKit: it is not their room-mates who read this.
    package enum AuditEvent: Sendable, Hashable {
        /// The first of a room's life.
        case started
        /// The last.
        case finished(DisconnectReason)
        /// It has its `hello`. A participant that comes back to its index has not left, and does not join again.
        case joined(ParticipantInfo, sessionID: String?)
        case left(ParticipantInfo, sessionID: String?, DisconnectReason)
        /// It was let through the door and found no index.
        case aborted(ParticipantInfo, sessionID: String?, DisconnectReason)
        case published(TrackInfo, by: ParticipantSID)
        case unpublished(TrackInfo, by: ParticipantSID)
        /// Its call is on hold, or no longer.
        case held(Identity, Bool)
        case transcribed(TranscribedSegment)
        case recordingStarted(RecordingID)
        case recordingStopped(RecordingID, RecordingEnd)
    }

    /// A segment that is final, or that was cut off while it was heard. A later one of the same `id` with a higher `rev` takes its index: a
    /// correction, or what of it was heard.
    package struct TranscribedSegment: Sendable, Hashable {
        /// With its speaker, and without the times of its words.
        package var segment: TranscriptSegment
        package var speaker: ParticipantKind
        /// The speaker's session, as its token says.
        package var sessionID: String?
        /// When it was begun and ended to be spoken, counted from when this is told; what is negative was before.
        ///
        /// By the track's clock where the segment tells its times, else from its first revision to this one.
        package var began: Duration
        package var ended: Duration
        /// The track on which it was said, if that is known.
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

    /// A room as it stands when something is told of it.
    package struct Snapshot: Sendable, Hashable {
        package var info: RoomInfo
        /// Without agents and recorders.
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
