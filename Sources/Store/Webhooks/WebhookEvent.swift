package import Wire

/// A webhook event: LiveKit's events, and ours in the same format.
///
/// Events carry no conversation text: receivers of session events fetch it with the user's token.
package struct WebhookEvent: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        case roomStarted(WebhookRoom)
        case roomFinished(WebhookRoom)
        case participantJoined(WebhookRoom, ParticipantInfo)
        case participantLeft(WebhookRoom, ParticipantInfo, DisconnectReason)
        /// The participant never became active.
        case participantConnectionAborted(WebhookRoom, ParticipantInfo, DisconnectReason)
        /// Carries only sid and name or identity of room and participant, as LiveKit does.
        case trackPublished(WebhookRoom, ParticipantSID, TrackInfo)
        case trackUnpublished(WebhookRoom, ParticipantSID, TrackInfo)
        case sessionEnded(Session)
        case summaryReady(Session, SummaryID)
        case call(WebhookCall)
        /// Asks a backend to wake devices for a call. Contains their push tokens.
        case callPush(CallInfo, of: UserID, [PushDevice], expiresAt: WallTime)
        /// Asks a backend to notify devices of a session's summary. Contains their push tokens.
        case summaryPush(Session, [PushDevice], expiresAt: WallTime)
        case conversation(ConversationNews)
        /// Asks a backend to send a code to the user's address. Contains the code.
        case accountCode(User, AccountCode)
    }

    /// The same for every attempt and endpoint, so that receivers can deduplicate.
    package var id: WebhookID
    package var createdAt: WallTime
    package var content: Content

    package init(id: WebhookID, createdAt: WallTime, content: Content) {
        self.id = id
        self.createdAt = createdAt
        self.content = content
    }

    /// `room_started`, …, `session_ended`, `summary_ready`, `call_…`, `push.…`, `conversation.event`, `account.…`.
    package var name: String {
        switch content {
        case .roomStarted: "room_started"
        case .roomFinished: "room_finished"
        case .participantJoined: "participant_joined"
        case .participantLeft: "participant_left"
        case .participantConnectionAborted: "participant_connection_aborted"
        case .trackPublished: "track_published"
        case .trackUnpublished: "track_unpublished"
        case .sessionEnded: "session_ended"
        case .summaryReady: "summary_ready"
        case .call(let call):
            if let member = call.member { "call_member_\(member.state.rawValue)" } else { "call_\(call.info.status.rawValue)" }
        case .callPush: "push.call_incoming"
        case .summaryPush: "push.summary_ready"
        case .conversation: "conversation.event"
        case .accountCode(_, let code): "account.\(code.purpose.rawValue)_requested"
        }
    }

    /// The delivery lane: the room's name, so that a session's events follow those of its room; one for each user for events of accounts
    /// and pushes, one for each conversation.
    package var lane: String {
        switch content {
        case .roomStarted(let room), .roomFinished(let room), .participantJoined(let room, _), .participantLeft(let room, _, _),
            .participantConnectionAborted(let room, _, _), .trackPublished(let room, _, _), .trackUnpublished(let room, _, _):
            room.info.name
        case .sessionEnded(let session), .summaryReady(let session, _): session.roomName
        case .call(let call): call.info.room
        case .callPush(_, let user, _, _): "push-" + user.text
        case .summaryPush(let session, _, _): "push-" + session.userID.text
        case .conversation(let news): "conversation-" + news.conversation.text
        case .accountCode(let user, _): "account-" + user.id.text
        }
    }
}

/// A room at the time of an event.
package struct WebhookRoom: Sendable, Hashable {
    package var info: RoomInfo
    package var participants: Int
    package var publishers: Int

    package init(_ info: RoomInfo, participants: Int, publishers: Int) {
        self.info = info
        self.participants = participants
        self.publishers = publishers
    }
}

/// A call at the time of an event.
package struct WebhookCall: Sendable, Hashable {
    package var info: CallInfo
    /// The member concerned; nil if the event is about the call's status.
    package var member: CallMember?

    package init(_ info: CallInfo, member: CallMember? = nil) {
        self.info = info
        self.member = member
    }
}

/// Protobuf JSON as LiveKit sends it: camel case, defaults left out, 64-bit integers as strings, enums by name.
extension WebhookEvent: Encodable {
    /// The exact body that is signed and sent.
    package var body: [UInt8] {
        // Encoding only throws for infinite numbers, which do not occur.
        (try? JSON.encode(self, names: .asDeclared)) ?? []
    }

    /// Prefix of event identifiers in bodies.
    package static let idPrefix = "EV_"

    private enum Key: CodingKey {
        case event, room, participant, id, createdAt, track, session, summary, call, account, push, conversation
    }

    package func encode(to encoder: any Encoder) throws {
        var event = encoder.container(keyedBy: Key.self)
        try event.encode(name, forKey: .event)
        switch content {
        case .roomStarted(let room), .roomFinished(let room):
            try event.encode(RoomMessage(room), forKey: .room)
        case .participantJoined(let room, let participant):
            try event.encode(RoomMessage(room), forKey: .room)
            try event.encode(ParticipantMessage(participant), forKey: .participant)
        case .participantLeft(let room, let participant, let reason), .participantConnectionAborted(let room, let participant, let reason):
            try event.encode(RoomMessage(room), forKey: .room)
            try event.encode(ParticipantMessage(participant, left: reason), forKey: .participant)
        case .trackPublished(let room, let participant, let track), .trackUnpublished(let room, let participant, let track):
            try event.encode(["sid": room.info.sid.text, "name": room.info.name], forKey: .room)
            try event.encode(["sid": participant.text, "identity": track.participant.text], forKey: .participant)
            try event.encode(TrackMessage(track), forKey: .track)
        case .sessionEnded(let session):
            try event.encode(SessionMessage(session), forKey: .session)
        case .summaryReady(let session, let summary):
            try event.encode(SessionMessage(session), forKey: .session)
            try event.encode(["id": summary.text, "sessionId": session.id.text], forKey: .summary)
        case .call(let call):
            try event.encode(CallWebhookMessage(call), forKey: .call)
        case .callPush(let call, let user, let devices, let expiresAt):
            try event.encode(CallWebhookMessage(WebhookCall(call)), forKey: .call)
            try event.encode(PushMessage(user: user, devices: devices, expiresAt: expiresAt), forKey: .push)
        case .summaryPush(let session, let devices, let expiresAt):
            try event.encode(SessionMessage(session), forKey: .session)
            try event.encode(PushMessage(user: session.userID, devices: devices, expiresAt: expiresAt), forKey: .push)
        case .conversation(let news):
            try event.encode(ConversationMessage(news), forKey: .conversation)
        case .accountCode(let user, let code):
            try event.encode(AccountCodeMessage(user: user, code: code), forKey: .account)
        }
        try event.encode(Self.idPrefix + id.text, forKey: .id)
        // Floor division, for times before 1970.
        let seconds = createdAt.milliseconds >= 0 ? createdAt.milliseconds / 1_000 : (createdAt.milliseconds - 999) / 1_000
        try event.encode(String(seconds), forKey: .createdAt)
    }
}
