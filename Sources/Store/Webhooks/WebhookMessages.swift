internal import Identity
internal import Wire

/// LiveKit's `Room`.
struct RoomMessage: Encodable {
    private let room: WebhookRoom

    init(_ room: WebhookRoom) {
        self.room = room
    }

    private enum Key: CodingKey {
        case sid, name, maxParticipants, creationTime, creationTimeMs, metadata, numParticipants, numPublishers
    }

    func encode(to encoder: any Encoder) throws {
        var message = encoder.container(keyedBy: Key.self)
        try message.encode(room.info.sid.text, forKey: .sid)
        try message.encode(room.info.name, forKey: .name)
        try message.encode(unlessDefault: room.info.maxParticipants, forKey: .maxParticipants)
        try message.encode(long: room.info.createdAt, forKey: .creationTime)
        try message.encode(long: room.info.createdAt * 1_000, forKey: .creationTimeMs)
        try message.encode(unlessDefault: room.info.metadata, forKey: .metadata)
        try message.encode(unlessDefault: room.participants, forKey: .numParticipants)
        try message.encode(unlessDefault: room.publishers, forKey: .numPublishers)
    }
}

/// LiveKit's `ParticipantInfo`.
struct ParticipantMessage: Encodable {
    private let participant: ParticipantInfo
    /// Nil while the participant is active.
    private let reason: DisconnectReason?

    init(_ participant: ParticipantInfo, left reason: DisconnectReason? = nil) {
        self.participant = participant
        self.reason = reason
    }

    private enum Key: CodingKey {
        case sid, identity, state, tracks, metadata, joinedAt, joinedAtMs, name, permission, isPublisher, kind, attributes, disconnectReason
    }

    func encode(to encoder: any Encoder) throws {
        var message = encoder.container(keyedBy: Key.self)
        try message.encode(participant.sid.text, forKey: .sid)
        try message.encode(participant.identity.text, forKey: .identity)
        try message.encode(reason == nil ? "ACTIVE" : "DISCONNECTED", forKey: .state)
        let tracks = participant.tracks ?? []
        if !tracks.isEmpty { try message.encode(tracks.map(TrackMessage.init), forKey: .tracks) }
        try message.encode(unlessDefault: participant.metadata, forKey: .metadata)
        try message.encode(long: participant.joinedAt, forKey: .joinedAt)
        try message.encode(long: participant.joinedAt * 1_000, forKey: .joinedAtMs)
        try message.encode(unlessDefault: participant.name, forKey: .name)
        try message.encode(PermissionMessage(permission: participant.permission), forKey: .permission)
        try message.encode(unlessDefault: !tracks.isEmpty, forKey: .isPublisher)
        if participant.kind != .standard { try message.encode(participant.kind.rawValue.uppercased(), forKey: .kind) }
        if !participant.attributes.isEmpty { try message.encode(participant.attributes, forKey: .attributes) }
        if let reason, reason != .unknown { try message.encode(reason.rawValue, forKey: .disconnectReason) }
    }
}

/// LiveKit's `ParticipantPermission`.
private struct PermissionMessage: Encodable {
    let permission: Permission

    private enum Key: CodingKey {
        case canSubscribe, canPublish, canPublishData, hidden, canPublishSources, canUpdateMetadata
    }

    func encode(to encoder: any Encoder) throws {
        var message = encoder.container(keyedBy: Key.self)
        try message.encode(unlessDefault: permission.canSubscribe, forKey: .canSubscribe)
        try message.encode(unlessDefault: permission.canPublish, forKey: .canPublish)
        try message.encode(unlessDefault: permission.canPublishData, forKey: .canPublishData)
        try message.encode(unlessDefault: permission.hidden, forKey: .hidden)
        let sources = permission.canPublishSources
        if !sources.isEmpty { try message.encode(sources.map { $0.uppercased() }, forKey: .canPublishSources) }
        try message.encode(unlessDefault: permission.canUpdateMetadata, forKey: .canUpdateMetadata)
    }
}

/// LiveKit's `TrackInfo`. `type` is AUDIO, the default, and an assistant's voice is a microphone to LiveKit.
struct TrackMessage: Encodable {
    private let track: TrackInfo

    init(_ track: TrackInfo) {
        self.track = track
    }

    private enum Key: CodingKey {
        case sid, name, muted, disableDtx, source, mimeType, stereo
    }

    func encode(to encoder: any Encoder) throws {
        var message = encoder.container(keyedBy: Key.self)
        try message.encode(track.sid.text, forKey: .sid)
        try message.encode(unlessDefault: track.name, forKey: .name)
        try message.encode(unlessDefault: track.muted, forKey: .muted)
        try message.encode(unlessDefault: !track.dtx, forKey: .disableDtx)
        try message.encode("MICROPHONE", forKey: .source)
        try message.encode("audio/\(track.codec)", forKey: .mimeType)
        try message.encode(unlessDefault: track.channels == 2, forKey: .stereo)
    }
}

struct SessionMessage: Encodable {
    let session: Session

    private enum Key: CodingKey {
        case id, userId, context, roomName, startedAt, endedAt, summaryStatus
    }

    func encode(to encoder: any Encoder) throws {
        var message = encoder.container(keyedBy: Key.self)
        try message.encode(session.id, forKey: .id)
        try message.encode(session.userID, forKey: .userId)
        try message.encode(session.context, forKey: .context)
        try message.encode(session.roomName, forKey: .roomName)
        try message.encode(session.startedAt, forKey: .startedAt)
        try message.encodeIfPresent(session.endedAt, forKey: .endedAt)
        try message.encode(session.summaryStatus, forKey: .summaryStatus)
    }
}

/// A call's parties and status, without the caller's own text.
struct CallWebhookMessage: Encodable {
    let call: WebhookCall

    private enum Key: CodingKey {
        case id, roomName, from, to, status, member
    }

    func encode(to encoder: any Encoder) throws {
        var message = encoder.container(keyedBy: Key.self)
        try message.encode(call.info.id.text, forKey: .id)
        try message.encode(call.info.room, forKey: .roomName)
        try message.encode(call.info.caller, forKey: .from)
        try message.encode(call.info.members.map(\.party).filter { $0 != call.info.caller }, forKey: .to)
        try message.encode(call.info.status, forKey: .status)
        if let member = call.member {
            try message.encode(["identity": member.party.text, "status": member.status.rawValue], forKey: .member)
        }
    }
}

struct PushMessage: Encodable {
    let user: UserID
    let devices: [PushDevice]
    let expiresAt: WallTime

    private enum Key: CodingKey {
        case userId, devices, expiresAt
    }

    private enum DeviceKey: CodingKey {
        case id, platform, pushToken
    }

    func encode(to encoder: any Encoder) throws {
        var message = encoder.container(keyedBy: Key.self)
        try message.encode(user, forKey: .userId)
        var list = message.nestedUnkeyedContainer(forKey: .devices)
        for device in devices {
            var entry = list.nestedContainer(keyedBy: DeviceKey.self)
            try entry.encode(device.id, forKey: .id)
            try entry.encode(device.platform.rawValue, forKey: .platform)
            try entry.encode(device.token.revealedText, forKey: .pushToken)
        }
        try message.encode(expiresAt, forKey: .expiresAt)
    }
}

struct AccountCodeMessage: Encodable {
    let user: User
    let code: AccountCode

    private enum Key: CodingKey {
        case userId, email, code, expiresAt
    }

    func encode(to encoder: any Encoder) throws {
        var message = encoder.container(keyedBy: Key.self)
        try message.encode(user.id, forKey: .userId)
        try message.encodeIfPresent(user.email, forKey: .email)
        try message.encode(code.text.revealed, forKey: .code)
        try message.encode(code.expiresAt, forKey: .expiresAt)
    }
}

extension KeyedEncodingContainer {
    fileprivate mutating func encode(unlessDefault text: String, forKey key: Key) throws {
        if !text.isEmpty { try encode(text, forKey: key) }
    }

    fileprivate mutating func encode(unlessDefault number: Int, forKey key: Key) throws {
        if number != 0 { try encode(number, forKey: key) }
    }

    fileprivate mutating func encode(unlessDefault isTrue: Bool, forKey key: Key) throws {
        if isTrue { try encode(true, forKey: key) }
    }

    fileprivate mutating func encode(long number: Int64, forKey key: Key) throws {
        if number != 0 { try encode(String(number), forKey: key) }
    }
}
