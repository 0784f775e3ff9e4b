package import Wire

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

/// The reason why a participant with a valid token cannot join.
package enum JoinError: Sendable, Hashable {
    /// The room has `maxParticipants` participants (HTTP 409, close code 4105).
    case roomFull
    /// The room has ended but is not removed yet; create a new one.
    case roomClosed
}
