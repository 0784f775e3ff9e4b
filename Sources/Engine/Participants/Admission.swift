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
    /// The first resume token of a participant that joins anew. Unguessable; made by the shell.
    package var resumeToken: String
    /// The secret of its later ones. Nil if each resume brings a token of its own, in `resumeToken`.
    package var resumeSecret: ResumeSecret?
    /// The resume token that the client presented, nil if it does not resume.
    package var resuming: String?
    package var server: ServerInfo
    /// URLs of other nodes at which the session can be resumed; nil if there are none.
    package var nodes: [String]?
    /// Seconds since 1970.
    package var joinedAt: Int64

    package init(
        identity: Identity, name: String = "", kind: ParticipantKind = .standard, metadata: String = "",
        attributes: [String: String] = [:], permission: Permission = Permission(), isRoomAdmin: Bool = false, sessionID: String? = nil,
        briefing: SessionBriefing? = nil, autoSubscribe: Bool = true, receivesText: Bool = true, resumeToken: String = "",
        resumeSecret: ResumeSecret? = nil, resuming: String? = nil, server: ServerInfo = ServerInfo(version: "", node: ""),
        joinedAt: Int64 = 0
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
        self.resumeSecret = resumeSecret
        self.resuming = resuming
        self.server = server
        self.joinedAt = joinedAt
    }
}

/// The properties of a participant that do not change after the join.
package struct ParticipantStay: Sendable, Hashable, Decodable {
    package var sid: ParticipantSID
    package var identity: Identity
    package var kind: ParticipantKind
    /// The session of its token.
    package var session: String?
    package var isRoomAdmin: Bool
    package var autoSubscribe: Bool
    /// Whether it may receive text.
    package var receivesText: Bool
    /// Seconds since 1970.
    package var joinedAt: Int64

    init(_ admission: Admission, sid: ParticipantSID) {
        self.sid = sid
        identity = admission.identity
        kind = admission.kind
        session = admission.sessionID
        isRoomAdmin = admission.isRoomAdmin
        autoSubscribe = admission.autoSubscribe
        receivesText = admission.receivesText
        joinedAt = admission.joinedAt
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
}

/// The reason why a participant with a valid token cannot join.
package enum JoinError: Sendable, Hashable {
    /// The room has `maxParticipants` participants (HTTP 409, close code 4105).
    case roomFull
    /// The room has ended but is not removed yet; create a new one.
    case roomClosed
}

/// Settings of one room, from the configuration or a token.
package struct RoomSettings: Sendable, Hashable {
    /// Time that a room stays open before the first join.
    package var emptyTimeout: Duration
    /// Time that a room stays open after the last participant left.
    package var departureTimeout: Duration
    /// Time in which a participant with a lost connection may resume; zero disables it.
    package var resumeWindow: Duration
    /// 0 means no limit. Dependent participants do not count.
    package var maxParticipants: Int
    package var metadata: String
    /// Silence of a participant after which it is reported.
    package var silenceLimit: Duration
    /// Which events are reported to services.
    package var reporting: RoomReporting
    /// Assistants to dispatch when the room opens; for services.
    package var agents: [AgentRequest] = []

    package init(
        emptyTimeout: Duration = .seconds(300), departureTimeout: Duration = .seconds(20),
        resumeWindow: Duration = .milliseconds(ProtocolLimits.resumeWindowMilliseconds), maxParticipants: Int = 0,
        metadata: String = "", silenceLimit: Duration = .seconds(10), reporting: RoomReporting = .nothing
    ) {
        self.emptyTimeout = emptyTimeout
        self.departureTimeout = departureTimeout
        self.resumeWindow = resumeWindow
        self.maxParticipants = maxParticipants
        self.metadata = metadata
        self.silenceLimit = silenceLimit
        self.reporting = reporting
    }
}

/// The settings that whoever opens a room asks for: a token's `roomConfig`, or an administrator. Nil means the gateway's setting.
package struct RoomOpening: Sendable, Hashable {
    package var emptyTimeout: Duration?
    package var departureTimeout: Duration?
    /// 0 means no limit.
    package var maxParticipants: Int?
    package var metadata: String?
    /// Assistants to dispatch, at most `Limits.jobsPerRoomMax`. An empty name means `default`.
    package var agents: [AgentRequest] = []

    package init(
        emptyTimeout: Duration? = nil, departureTimeout: Duration? = nil, maxParticipants: Int? = nil, metadata: String? = nil,
        agents: [AgentRequest] = []
    ) {
        self.emptyTimeout = emptyTimeout
        self.departureTimeout = departureTimeout
        self.maxParticipants = maxParticipants
        self.metadata = metadata
        self.agents = agents
    }
}

extension RoomSettings {
    /// The assistant of a dispatch without a name.
    private static let defaultAssistant = "default"

    /// The settings of a new room, with the gateway's settings as defaults.
    package init(_ opening: RoomOpening, over base: RoomSettings) {
        self = base
        emptyTimeout = opening.emptyTimeout ?? base.emptyTimeout
        departureTimeout = opening.departureTimeout ?? base.departureTimeout
        maxParticipants = opening.maxParticipants ?? base.maxParticipants
        metadata = opening.metadata ?? base.metadata
        agents = opening.agents.prefix(Limits.jobsPerRoomMax).map {
            AgentRequest(assistant: $0.assistant.isEmpty ? Self.defaultAssistant : $0.assistant, metadata: $0.metadata)
        }
    }
}

/// An assistant to dispatch to a room that opens.
package struct AgentRequest: Sendable, Hashable, Codable {
    package var assistant: String
    package var metadata: String

    package init(assistant: String, metadata: String = "") {
        self.assistant = assistant
        self.metadata = metadata
    }
}

/// Which events a room reports to services, and whether it is recorded. Fixed when the room is created.
package struct RoomReporting: Sendable, Hashable {
    /// Joins, departures, tracks, hold and recordings.
    package var reportsEvents: Bool
    /// Transcripts. Without this no text leaves the room.
    package var reportsText: Bool
    /// Records all tracks from the start.
    package var records: Bool
    /// Joins and departures of agents, and whether users are present, for dispatch.
    package var reportsAgents = false

    package init(reportsEvents: Bool = true, reportsText: Bool = false, records: Bool = false) {
        self.reportsEvents = reportsEvents
        self.reportsText = reportsText
        self.records = records
    }

    package static let nothing = RoomReporting(reportsEvents: false)
    /// Everything except transcripts.
    package static let events = RoomReporting()
    package static let eventsAndText = RoomReporting(reportsText: true)
}
