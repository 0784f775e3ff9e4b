internal import Identity
internal import Wire

/// LiveKit's `Room`.
struct RoomMessage: Encodable {
    let sid: String
    let name: String
    let maxParticipants: Int?
    let creationTime: String?
    let creationTimeMs: String?
    let metadata: String?
    let numParticipants: Int?
    let numPublishers: Int?

    init(_ room: WebhookRoom) {
        sid = room.info.sid.text
        name = room.info.name
        maxParticipants = room.info.maxParticipants.unless(0)
        creationTime = long(room.info.createdAt)
        creationTimeMs = long(room.info.createdAt * 1_000)
        metadata = room.info.metadata.unless("")
        numParticipants = room.participants.unless(0)
        numPublishers = room.publishers.unless(0)
    }
}

/// LiveKit's `ParticipantInfo`.
struct ParticipantMessage: Encodable {
    let sid: String
    let identity: String
    let state: String
    let tracks: [TrackMessage]?
    let metadata: String?
    let joinedAt: String?
    let joinedAtMs: String?
    let name: String?
    let permission: PermissionMessage
    let isPublisher: Bool?
    let kind: String?
    let attributes: [String: String]?
    let disconnectReason: String?

    /// - Parameter reason: nil while the participant is active.
    init(_ participant: ParticipantInfo, left reason: DisconnectReason? = nil) {
        sid = participant.sid.text
        identity = participant.identity.text
        state = reason == nil ? "ACTIVE" : "DISCONNECTED"
        tracks = (participant.tracks ?? []).map(TrackMessage.init).unless([])
        metadata = participant.metadata.unless("")
        joinedAt = long(participant.joinedAt)
        joinedAtMs = long(participant.joinedAt * 1_000)
        name = participant.name.unless("")
        permission = PermissionMessage(participant.permission)
        isPublisher = (tracks != nil).unless(false)
        kind = participant.kind.unless(.standard)?.rawValue.uppercased()
        attributes = participant.attributes.unless([:])
        disconnectReason = reason?.unless(.unknown)?.rawValue
    }
}

/// LiveKit's `ParticipantPermission`.
struct PermissionMessage: Encodable {
    let canSubscribe: Bool?
    let canPublish: Bool?
    let canPublishData: Bool?
    let hidden: Bool?
    let canPublishSources: [String]?
    let canUpdateMetadata: Bool?

    init(_ permission: Permission) {
        canSubscribe = permission.canSubscribe.unless(false)
        canPublish = permission.canPublish.unless(false)
        canPublishData = permission.canPublishData.unless(false)
        hidden = permission.hidden.unless(false)
        canPublishSources = permission.canPublishSources.map { $0.uppercased() }.unless([])
        canUpdateMetadata = permission.canUpdateMetadata.unless(false)
    }
}

/// LiveKit's `TrackInfo`. `type` is AUDIO, the default, and an assistant's voice is a microphone to LiveKit.
struct TrackMessage: Encodable, Equatable {
    let sid: String
    let name: String?
    let muted: Bool?
    let disableDtx: Bool?
    let source: String
    let mimeType: String
    let stereo: Bool?

    init(_ track: TrackInfo) {
        sid = track.sid.text
        name = track.name.unless("")
        muted = track.muted.unless(false)
        disableDtx = (!track.dtx).unless(false)
        source = "MICROPHONE"
        mimeType = "audio/\(track.codec)"
        stereo = (track.channels == 2).unless(false)
    }
}

struct SessionMessage: Encodable {
    let id: SessionID
    let userId: UserID
    let context: String
    let roomName: String
    let startedAt: WallTime
    let endedAt: WallTime?
    let summaryStatus: SummaryStatus

    init(_ session: Session) {
        (id, userId, context, roomName) = (session.id, session.userID, session.context, session.roomName)
        (startedAt, endedAt, summaryStatus) = (session.startedAt, session.endedAt, session.summaryStatus)
    }
}

/// A call's parties and status, without the caller's own text.
struct CallWebhookMessage: Encodable {
    let id: String
    let uuid: String
    let roomName: String
    let from: CallParty
    let to: [CallParty]
    let status: CallStatus
    let member: [String: String]?
    let startedAt: WallTime?
    let answeredAt: WallTime?
    let endedAt: WallTime?

    init(_ call: WebhookCall) {
        uuid = call.info.id.uuid
        startedAt = call.info.startedAt.map(WallTime.init(milliseconds:))
        answeredAt = call.info.answeredAt.map(WallTime.init(milliseconds:))
        endedAt = call.info.endedAt.map(WallTime.init(milliseconds:))
        (id, roomName, from, status) = (call.info.id.text, call.info.room, call.info.caller, call.info.status)
        to = call.info.members.map(\.party).filter { $0 != call.info.caller }
        member = call.member.map { ["identity": $0.party.text, "status": $0.status.rawValue] }
    }
}

/// A conversation's event without its text.
struct ConversationMessage: Encodable {
    struct Event: Encodable {
        let number: Int64
        let type: ConversationEvent.Kind
        let userId: UserID
        let timestamp: WallTime
    }

    let id: ConversationID
    let event: Event

    init(_ news: ConversationNews) {
        id = news.conversation
        event = Event(number: news.event.number, type: news.event.kind, userId: news.event.user, timestamp: news.event.at)
    }
}

struct PushMessage: Encodable {
    struct Device: Encodable {
        let id: PushDeviceID
        let platform: String
        let pushToken: String
        let alertToken: String?
    }

    let userId: UserID
    let devices: [Device]
    let expiresAt: WallTime

    init(user: UserID, devices: [PushDevice], expiresAt: WallTime) {
        userId = user
        self.devices = devices.map {
            Device(
                id: $0.id, platform: $0.platform.rawValue, pushToken: $0.token.revealedText, alertToken: $0.alertToken?.revealedText)
        }
        self.expiresAt = expiresAt
    }
}

struct AccountCodeMessage: Encodable {
    let userId: UserID
    let email: String?
    let code: String
    let expiresAt: WallTime

    init(user: User, code: AccountCode) {
        (userId, email, self.code, expiresAt) = (user.id, user.email, code.text.revealed, code.expiresAt)
    }
}

/// Protobuf JSON writes 64-bit integers as strings.
private func long(_ number: Int64) -> String? { number == 0 ? nil : String(number) }

extension Equatable {
    /// Nil for the default value, which protobuf JSON leaves out.
    fileprivate func unless(_ standard: Self) -> Self? { self == standard ? nil : self }
}
