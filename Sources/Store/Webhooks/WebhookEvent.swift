package import Wire

/// Something that happened, as other servers are told it: LiveKit's webhook event, and ours in the same form.
///
/// No event carries what was said: who is told of a session or a summary asks for it with the user's token.
package struct WebhookEvent: Sendable, Hashable {
    package enum Fact: Sendable, Hashable {
        case roomStarted(WebhookRoom)
        case roomFinished(WebhookRoom)
        case participantJoined(WebhookRoom, ParticipantInfo)
        case participantLeft(WebhookRoom, ParticipantInfo, DisconnectReason)
        /// It never got as far as to be there.
        case participantConnectionAborted(WebhookRoom, ParticipantInfo, DisconnectReason)
        /// Of room and participant only sid and name or identity are told, as LiveKit does.
        case trackPublished(WebhookRoom, ParticipantSID, TrackInfo)
        case trackUnpublished(WebhookRoom, ParticipantSID, TrackInfo)
        case sessionEnded(Session)
        case summaryReady(Session, SummaryID)
        case call(WebhookCall)
    }

    /// The same at each attempt and for each endpoint, so that a receiver can tell what it has had.
    package var id: WebhookID
    package var createdAt: WallTime
    package var fact: Fact

    package init(id: WebhookID, createdAt: WallTime, fact: Fact) {
        self.id = id
        self.createdAt = createdAt
        self.fact = fact
    }

    /// `room_started`, …, `session_ended`, `summary_ready`, `call_…`.
    package var name: String {
        switch fact {
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
        }
    }

    /// Events of one lane reach an endpoint one after the other: a room's name, which a session's room has too, so that `session_ended` comes
    /// after what happened in it.
    package var lane: String {
        switch fact {
        case .roomStarted(let room), .roomFinished(let room), .participantJoined(let room, _), .participantLeft(let room, _, _),
            .participantConnectionAborted(let room, _, _), .trackPublished(let room, _, _), .trackUnpublished(let room, _, _):
            room.info.name
        case .sessionEnded(let session), .summaryReady(let session, _): session.roomName
        case .call(let call): call.info.room
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
    /// Whom the event is about; nil if it is about the call's status.
    package var member: CallMember?

    package init(_ info: CallInfo, member: CallMember? = nil) {
        self.info = info
        self.member = member
    }
}
