package import Wire

extension Room {
    /// What happens to a room. Each comes with the instant at which it happened.
    package enum Input: Sendable {
        /// Somebody with a valid token has connected. Answered by `hello` or `close`.
        case joined(ParticipantHandle, Admission)
        /// A participant asks for something. `ping` never comes here: the shard answers it.
        case request(Request, id: UInt64?, from: ParticipantHandle)
        /// A participant's socket is gone, for a reason the shell knows. After a `close` effect it is not told again.
        case left(ParticipantHandle, DisconnectReason)
        /// A participant's socket is lost, and may come back under another handle. Its slot is kept until `handOver` or `close`.
        case connectionLost(ParticipantHandle, DisconnectReason)
        /// A participant that came back has got its `hello`: the token that it came back with is of no use any more.
        case resumeConfirmed(ParticipantHandle)
        /// An administrator's command, already authorised by the shell.
        case administered(AdminCommand)
        /// A talkspurt of a track began or ended, as its meter found.
        case talkStarted(TrackSID, at: MediaTime)
        case talkStopped(TrackSID, at: MediaTime, TalkEnd)
        /// What the meters of this room's tracks measured since the last time; every 400 ms while there are tracks.
        case measured([TrackMeasurement])
        /// What became of an `ahead` track's queue on its publisher's shard.
        case playout(TrackSID, PlayoutQueueReport)
        /// How one participant's connection fared; every 5 s for each.
        case connectionMeasured(ParticipantHandle, ConnectionMeasurement)
        /// The gateway is about to stop: tell everybody. Seconds since 1970.
        case draining(deadline: Int64)
        /// The instant that `deadline` asked for has come.
        case deadlinePassed
    }

    /// What a room wants done, in this order.
    package enum Effect: Sendable, Hashable {
        /// Goes to each of these; the shell gives it each one's next `seq`.
        case send(Event, to: [ParticipantHandle])
        /// An event that describes the past to a participant that has just joined, after its `hello` and before any other event. It is sent
        /// at the connection's own pace and does not count as backlog.
        case replay(Event, to: ParticipantHandle)
        case reply(Reply, re: UInt64, to: ParticipantHandle)
        /// Refused: counted in any case, and answered if the request had an `id` (or could not be read at all).
        case reject(RequestError, re: UInt64?, to: ParticipantHandle)
        case patch(PatchChange)
        /// Mint a token for what this participant may do now: a reply if `re` is there, else `token.refreshed`.
        case mintToken(for: ParticipantHandle, TokenContent, re: UInt64?)
        /// A participant has another socket: its numbers and what it missed go from the old slot to the new one, which tells it before
        /// anything else. Nothing more goes to the old slot; a socket that is still there is closed.
        case handOver(from: ParticipantHandle, to: ParticipantHandle)
        /// The participant is out of the room; close its socket, if it has one, after what is queued for it. Its slot is free then.
        case close(ParticipantHandle, CloseReason)
        /// Told to those outside who keep records, in rooms that are kept (`RoomReporting`).
        case record(AuditEvent, Snapshot)
        /// Frames of the track are copied for whoever writes them down, from now on and once more wherever its publisher has gone.
        case tap(RecordingTap, by: ParticipantHandle)
        /// No longer: all that is to be written has come.
        case untap(TrackInfo, by: ParticipantHandle)
        /// The last effect of a room's life.
        case closed
    }

    /// Changes of the patch panels, which carry the frames (they never visit the room).
    package enum PatchChange: Sendable, Hashable {
        case publish(TrackInfo, by: ParticipantHandle)
        /// With it ends all options to the track: no `unsubscribe` follows.
        case unpublish(TrackAlias, by: ParticipantHandle)
        /// A track goes on under another handle of its publisher, with the same subscribers.
        case move(TrackInfo, from: ParticipantHandle, to: ParticipantHandle, Gate, subscribers: [ParticipantHandle])
        /// A closed gate lets nothing through: the track is muted, its publisher held, or the room so decided.
        case gate(TrackAlias, by: ParticipantHandle, Gate)
        /// Forgets what of an `ahead` track has not been let out yet, and lets nothing of an older epoch through any more. The publisher's
        /// shard answers with `PlayoutQueueReport.cut`.
        case clear(TrackAlias, by: ParticipantHandle, epoch: UInt8)
        /// From there on somebody may want to go on with an `ahead` track after an interruption; nil is nobody.
        case retain(TrackAlias, by: ParticipantHandle, from: MediaTime?)
        case subscribe(ParticipantHandle, to: TrackAlias, of: ParticipantHandle, SubscriptionOptions)
        case unsubscribe(ParticipantHandle, to: TrackAlias, of: ParticipantHandle)
    }

    package enum Gate: Sendable, Hashable {
        case open, muted, held
    }

    /// How a track is listened to.
    package struct SubscriptionOptions: Sendable, Hashable {
        package var mode: TrackMode
        package var epoch: UInt8
        /// Where on an `ahead` track to go on; nil is where it is now.
        package var from: MediaTime?
        /// How much audio each frame holds, as its publisher says.
        package var frameMilliseconds: Double
        /// Counted by the room: what comes of this `listen` is told from what came of an earlier one of the same subscriber. Wraps.
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

    /// What the queue of an `ahead` track tells its room. Instants are the gateway's, times the track's.
    ///
    /// Told in the order in which it happened. What is of another epoch than the room's was under way when the room decided to clear, and
    /// is passed over; so is what comes after the track's end. While its gate is closed a queue lets nothing out and need not say so; when
    /// the gate opens its clock starts anew.
    package enum PlayoutQueueReport: Sendable, Hashable {
        /// The clock started: the sample at `time` plays at `playsAt`. An utterance's first, or the first after the queue had run dry too
        /// long to go on without a gap.
        case started(epoch: UInt8, at: MediaTime, playsAt: Instant)
        /// Everything that was published, up to there, has been let out.
        case drained(epoch: UInt8, end: MediaTime)
        /// More was published in time: the clock goes on.
        case refilled(epoch: UInt8)
        /// How far the publisher is ahead, and the frames that were refused since the last word.
        case backlog(BacklogState, queuedMilliseconds: Int, dropped: Int)
        /// Cleared: `epoch` is the new one, `end` up to where the old one had been published, nil if there was nothing. Told once for each
        /// `PatchChange.clear`, even if there was nothing to forget: somebody waits for the answer.
        case cleared(epoch: UInt8, end: MediaTime?)
    }

    /// What an administrator may do to a room, by HTTP or from inside the program.
    package enum AdminCommand: Sendable {
        case delete
        case close(DisconnectReason)
        /// From nobody in the room: to those named, or to everybody.
        case sendData(DataMessage)
        case startRecording
        /// Nil is whichever there is.
        case stopRecording(RecordingID?, RecordingEnd)
        case remove(Identity)
        case mute(TrackSID, muted: Bool)
        case updateMetadata(String)
        case updatePermission(Identity, Permission)
        /// As that participant's own `call.hold`.
        case hold(Identity, Bool)
        /// Nothing that it publishes is heard, now or later.
        case muteParticipant(Identity, Bool)
    }
}

/// What a token brought along.
package struct Admission: Sendable {
    package var identity: Identity
    package var name: String
    package var kind: ParticipantKind
    package var metadata: String
    package var attributes: [String: String]
    package var permission: Permission
    /// May mute, remove and update others (`roomAdmin`).
    package var isRoomAdmin: Bool
    package var sessionID: String?
    /// What the room's session is about, where it is one's; told to assistants alone.
    package var briefing: SessionBriefing?
    package var autoSubscribe: Bool
    /// Whether it may be sent what people read: transcripts, texts, messages. A car's screen may not.
    package var receivesText: Bool
    /// Unguessable; made by the shell.
    package var resumeToken: String
    /// The resume token that was shown to take a index back; nil if that was not asked for.
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

/// What a refreshed token says: who it is now, not who it was when it joined.
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

/// One track's loudness over one window.
package struct TrackMeasurement: Sendable, Hashable {
    package var track: TrackSID
    /// How long the window was, in milliseconds of audio seen or, if that is less, of time.
    package var windowMilliseconds: Int
    /// How much of the window was at or above the active level, in milliseconds.
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

/// How a connection fared over the last 5 s.
package struct ConnectionMeasurement: Sendable, Hashable {
    package var roundTrip: Duration
    /// How far arrival times of its frames strayed (RFC 3550 section 6.4.1).
    package var jitter: Duration
    /// Frames to this subscriber that were dropped, of those that should have gone, 0…100.
    package var lossPercent: Double
    /// Nothing came from it for longer than it should.
    package var isSilent: Bool

    package init(roundTrip: Duration, jitter: Duration, lossPercent: Double, isSilent: Bool) {
        self.roundTrip = roundTrip
        self.jitter = jitter
        self.lossPercent = lossPercent
        self.isSilent = isSilent
    }
}
