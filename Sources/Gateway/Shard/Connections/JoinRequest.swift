internal import Engine
internal import Identity
internal import Wire

/// The verified data of an upgrade request that is needed after the upgrade.
final class JoinRequest: Sendable {
    let admission: Admission
    /// The last event that a resuming client has received; nil if not given.
    let lastSeq: UInt64?
    let room: String
    let settings: RoomSettings
    let startedAt: Instant
    /// The node through which the client reaches this one; nil for a connection of its own.
    let forwarder: String?
    /// Nil if the room's home decides alone.
    let check: JoinCheck?
    /// Whether the participant may join anew is not known (`JoinChecks`).
    let resumesOnly: Bool

    init(
        admission: Admission, lastSeq: UInt64?, room: String, settings: RoomSettings, startedAt: Instant, forwarder: String? = nil,
        check: JoinCheck? = nil, resumesOnly: Bool = false
    ) {
        self.admission = admission
        self.lastSeq = lastSeq
        self.room = room
        self.settings = settings
        self.startedAt = startedAt
        self.forwarder = forwarder
        (self.check, self.resumesOnly) = (check, resumesOnly)
    }

    /// The same join without the attempt to resume; `hello` says that nothing was resumed.
    var withoutResume: JoinRequest {
        var admission = admission
        admission.resuming = ""
        return JoinRequest(
            admission: admission, lastSeq: nil, room: room, settings: settings, startedAt: startedAt, forwarder: forwarder,
            check: check, resumesOnly: resumesOnly)
    }
}

extension Admission {
    /// The admission that a verified token and its grant give.
    init(_ token: AccessToken, _ grant: JoinGrant, autoSubscribe: Bool, server: ServerInfo, now: Int64) {
        self.init(
            identity: grant.identity, name: token.name, kind: token.kind, metadata: token.metadata, attributes: token.attributes,
            permission: grant.permission, isRoomAdmin: token.video?.roomAdmin ?? false, sessionID: token.sessionID,
            autoSubscribe: autoSubscribe, receivesText: token.receivesText, resumeToken: ResumeSecret.randomToken(),
            resumeSecret: .random(), server: server, joinedAt: now)
    }
}

/// Resume tokens stand in URLs, so they consist of `RT_` and hexadecimal digits.
extension ResumeSecret {
    private static var byteCount: Int { 16 }

    static func random() -> ResumeSecret { ResumeSecret(Hex.encode(randomBytes(byteCount))) }

    /// A participant's first token.
    static func randomToken() -> String { token(of: randomBytes(byteCount)) }

    /// The token with that number, the same at all nodes. No token reveals another one without the secret.
    func token(_ number: UInt32) -> String {
        let code = SHA2.hmac(of: Array("patchbay resume token \(number)".utf8), key: Array(revealedText.utf8))
        return Self.token(of: code.prefix(Self.byteCount))
    }

    private static func token(of bytes: some Collection<UInt8>) -> String { "RT_" + Hex.encode(bytes) }
}

extension TokenContent {
    /// LiveKit's lifetime of a refreshed token, in seconds.
    static let lifetimeSeconds: Int64 = 600

    /// The claims of a refreshed token, with the current name, metadata and permission.
    func claims(issuer: String, now: Int64) -> AccessToken {
        var video = VideoGrant.joining(room)
        video.canPublish = permission.canPublish
        video.canSubscribe = permission.canSubscribe
        video.canPublishData = permission.canPublishData
        video.canPublishSources = permission.canPublishSources
        video.canUpdateOwnMetadata = permission.canUpdateMetadata
        video.hidden = permission.hidden
        video.roomAdmin = isRoomAdmin
        return AccessToken(
            issuer: issuer, identity: identity.text, notBefore: now, expires: now + Self.lifetimeSeconds, name: name, metadata: metadata,
            attributes: attributes, kind: kind, video: video, sessionID: sessionID,
            receivesText: receivesText)
    }
}

extension RoomOpening {
    /// The settings in a token's `roomConfig`. As in Protocol Buffers, zero and an empty string mean the default.
    init(_ asked: TokenRoomSettings) {
        self.init(
            emptyTimeout: Self.duration(asked.emptyTimeout), departureTimeout: Self.duration(asked.departureTimeout),
            maxParticipants: asked.maxParticipants.flatMap { $0 > 0 ? Int($0) : nil },
            metadata: asked.metadata.flatMap { $0.isEmpty ? nil : $0 },
            agents: asked.agents?.map { AgentRequest(assistant: $0.agentName, metadata: $0.metadata) } ?? [])
    }

    private static func duration(_ seconds: UInt32?) -> Duration? {
        seconds.flatMap { $0 > 0 ? .seconds(Int64($0)) : nil }
    }
}
