package import Wire

extension Room {
    /// Inputs of a room, each passed with the time at which it occurred.
    package enum Input: Sendable {
        /// A participant with a valid token has connected. Answered by `hello` or `close`.
        case joined(ParticipantHandle, Admission)
        /// A request. The shell answers `ping` itself.
        case request(Request, id: UInt64?, from: ParticipantHandle)
        /// The participant's socket is closed. Not sent after a `close` effect.
        case left(ParticipantHandle, DisconnectReason)
        /// The participant's connection is lost and may resume under another handle. Its slot is kept until `handOver` or `close`.
        case connectionLost(ParticipantHandle, DisconnectReason)
        /// The client has received the `hello` of a resume: the resume token it used becomes invalid.
        case resumeConfirmed(ParticipantHandle)
        /// An administrative command, already authorised by the shell.
        case administered(AdminCommand)
        /// A talkspurt began or ended according to the track's meter.
        case talkStarted(TrackSID, at: MediaTime)
        case talkStopped(TrackSID, at: MediaTime, TalkEnd)
        /// Level measurements of this room's tracks, every 400 ms while there are tracks.
        case measured([TrackMeasurement])
        /// A playout report from the queue on the publisher's shard.
        case playout(TrackSID, PlayoutQueueReport)
        /// Connection statistics of one participant, every 5 s.
        case connectionMeasured(ParticipantHandle, ConnectionMeasurement)
        /// The gateway is shutting down. `deadline` in seconds since 1970.
        case draining(deadline: Int64)
        /// The time given by `deadline` has come.
        case deadlinePassed
    }

    /// Effects of a room, to be performed in this order.
    package enum Effect: Sendable, Hashable {
        /// Send to each of these handles; the shell adds the per-participant `seq`.
        case send(Event, to: [ParticipantHandle])
        /// An event that describes the past to a participant that has just joined, after its `hello` and before any other event. It is sent
        /// at the connection's own pace and does not count as backlog.
        case replay(Event, to: ParticipantHandle)
        case reply(Reply, re: UInt64, to: ParticipantHandle)
        /// An error: always counted, and sent if the request had an `id` or could not be parsed.
        case reject(RequestError, re: UInt64?, to: ParticipantHandle)
        case patch(PatchChange)
        /// Mint a token: sent as a reply if `re` is set, otherwise as `token.refreshed`.
        case mintToken(for: ParticipantHandle, TokenContent, re: UInt64?)
        /// A participant resumes on another socket: move the event log and sequence numbers from the old slot to the new one and
        /// replay missed events first. Send nothing more to the old slot, and close its socket if it is still open.
        case handOver(from: ParticipantHandle, to: ParticipantHandle)
        /// The participant has left: flush its queued messages, close its socket and free its slot.
        case close(ParticipantHandle, CloseReason)
        /// An audit event for services, if the room's `RoomReporting` wants it.
        case record(AuditEvent, Snapshot)
        /// Copy the track's frames to the recorder from now on. Repeated wherever the publisher moves.
        case tap(RecordingTap, by: ParticipantHandle)
        /// Stop copying; the recording of this track is complete.
        case untap(TrackInfo, by: ParticipantHandle)
        /// The last effect of a room.
        case closed
    }

    /// Changes of the patch panels (forwarding tables).
    package enum PatchChange: Sendable, Hashable {
        case publish(TrackInfo, by: ParticipantHandle)
        /// Also ends all subscriptions to the track; no `unsubscribe` follows.
        case unpublish(TrackAlias, by: ParticipantHandle)
        /// The publisher has a new handle; the subscribers stay the same.
        case move(TrackInfo, from: ParticipantHandle, to: ParticipantHandle, Gate, subscribers: [ParticipantHandle])
        /// A gate that is not open drops all frames.
        case gate(TrackAlias, by: ParticipantHandle, Gate)
        /// Drop the unreleased frames of an `ahead` track and reject older epochs. The publisher's shard answers with
        /// `PlayoutQueueReport.cleared`.
        case clear(TrackAlias, by: ParticipantHandle, epoch: UInt8)
        /// Retain frames of an `ahead` track from this time on, for subscribers that resume; nil if no subscriber needs any.
        case retain(TrackAlias, by: ParticipantHandle, from: MediaTime?)
        case subscribe(ParticipantHandle, to: TrackAlias, of: ParticipantHandle, SubscriptionOptions)
        case unsubscribe(ParticipantHandle, to: TrackAlias, of: ParticipantHandle)
    }

    package enum Gate: Sendable, Hashable {
        case open, muted, held
    }

    /// How a subscriber receives a track.
    package struct SubscriptionOptions: Sendable, Hashable {
        package var mode: TrackMode
        package var epoch: UInt8
        /// Media time at which to continue an `ahead` track; nil for the current position.
        package var from: MediaTime?
        /// Milliseconds of audio per frame, as published.
        package var frameMilliseconds: Double
        /// Subscription number, assigned by the room; distinguishes replies to an earlier subscription of the same subscriber.
        /// Wraps.
        package var number: UInt32

        package init(
            mode: TrackMode = .live, epoch: UInt8 = 0, from: MediaTime? = nil, frameMilliseconds: Double = 20, number: UInt32 = 0
        ) {
            self.mode = mode
            self.epoch = epoch
            self.from = from
            self.frameMilliseconds = frameMilliseconds
            self.number = number
        }
    }

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
        /// How far the publisher is ahead, and the frames dropped since the last report.
        case backlog(BacklogState, queuedMilliseconds: Int, dropped: Int)
        /// The queue was cleared: `epoch` is the new epoch, `end` the publishing position of the old one, nil if it was empty. Sent
        /// exactly once per `PatchChange.clear`.
        case cleared(epoch: UInt8, end: MediaTime?)
    }

    /// Administrative commands, from the HTTP API or from within the process.
    package enum AdminCommand: Sendable {
        case delete
        case close(DisconnectReason)
        /// Without a sender in the room; to the named participants or to everybody.
        case sendData(DataMessage)
        case startRecording
        /// Nil stops any recording.
        case stopRecording(RecordingID?, RecordingEnd)
        case remove(Identity)
        case mute(TrackSID, muted: Bool)
        case updateMetadata(String)
        case updatePermission(Identity, Permission)
        /// Same as the participant's own `call.hold`.
        case hold(Identity, Bool)
        /// Mutes all current and future tracks of the participant.
        case muteParticipant(Identity, Bool)
    }
}

/// Content of the token with which a participant joins, and of its join request.
package struct Admission: Sendable {
    package var identity: Identity
    package var name: String
    package var kind: ParticipantKind
    package var metadata: String
    package var attributes: [String: String]
    package var permission: Permission
    /// May mute, remove and update other participants (`roomAdmin`).
    package var isRoomAdmin: Bool
    package var sessionID: String?
    /// Briefing of the room's session; sent to agents only.
    package var briefing: SessionBriefing?
    package var autoSubscribe: Bool
    /// Whether it may receive text: transcripts, texts and readable data.
    package var receivesText: Bool
    /// Unguessable; made by the shell.
    package var resumeToken: String
    /// The resume token that the client presented, nil if it does not resume.
    package var resuming: String?
    package var server: ServerInfo
    /// Seconds since 1970.
    package var joinedAt: Int64

    package init(
        identity: Identity, name: String = "", kind: ParticipantKind = .standard, metadata: String = "",
        attributes: [String: String] = [:], permission: Permission = Permission(), isRoomAdmin: Bool = false, sessionID: String? = nil,
        briefing: SessionBriefing? = nil, autoSubscribe: Bool = true, receivesText: Bool = true, resumeToken: String = "",
        resuming: String? = nil,
        server: ServerInfo = ServerInfo(version: "", node: ""), joinedAt: Int64 = 0
    ) {
        self.identity = identity
        self.name = name
        self.kind = kind
        self.metadata = metadata
        self.attributes = attributes
        self.permission = permission
        self.isRoomAdmin = isRoomAdmin
        self.sessionID = sessionID
        self.briefing = briefing
        self.autoSubscribe = autoSubscribe
        self.receivesText = receivesText
        self.resumeToken = resumeToken
        self.resuming = resuming
        self.server = server
        self.joinedAt = joinedAt
    }
}

/// Content of a refreshed token: the participant's current state.
package struct TokenContent: Sendable, Hashable {
    package var identity: Identity
    package var name: String
    package var kind: ParticipantKind
    package var metadata: String
    package var attributes: [String: String]
    package var permission: Permission
    package var isRoomAdmin: Bool
    package var sessionID: String?
    package var receivesText: Bool
    package var room: String

    package init(
        identity: Identity, name: String, kind: ParticipantKind, metadata: String, attributes: [String: String], permission: Permission,
        isRoomAdmin: Bool, sessionID: String?, receivesText: Bool = true, room: String
    ) {
        self.identity = identity
        self.name = name
        self.kind = kind
        self.metadata = metadata
        self.attributes = attributes
        self.permission = permission
        self.isRoomAdmin = isRoomAdmin
        self.sessionID = sessionID
        self.receivesText = receivesText
        self.room = room
    }
}

/// Level measurement of one track over one window.
package struct TrackMeasurement: Sendable, Hashable {
    package var track: TrackSID
    /// Length of the window, in milliseconds of audio received or of time, whichever is less.
    package var windowMilliseconds: Int
    /// Milliseconds of the window at or above the active level.
    package var activeMilliseconds: Int
    /// The loudest frame, 0…127 in -dBov; 127 if there was none.
    package var loudestLevel: Int

    package init(track: TrackSID, windowMilliseconds: Int, activeMilliseconds: Int, loudestLevel: Int) {
        self.track = track
        self.windowMilliseconds = windowMilliseconds
        self.activeMilliseconds = activeMilliseconds
        self.loudestLevel = loudestLevel
    }
}

/// Statistics of a connection over the last 5 s.
package struct ConnectionMeasurement: Sendable, Hashable {
    package var roundTrip: Duration
    /// Interarrival jitter (RFC 3550 section 6.4.1).
    package var jitter: Duration
    /// Percentage of frames to this subscriber that were dropped, 0…100.
    package var lossPercent: Double
    /// Nothing was received for longer than the ping timeout allows.
    package var isSilent: Bool

    package init(roundTrip: Duration, jitter: Duration, lossPercent: Double, isSilent: Bool) {
        self.roundTrip = roundTrip
        self.jitter = jitter
        self.lossPercent = lossPercent
        self.isSilent = isSilent
    }
}
