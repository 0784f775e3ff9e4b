/// The first message on every room connection.
public struct Hello: Sendable, Hashable, Codable {
    public var `protocol`: Int
    public var server: ServerInfo
    public var room: RoomInfo
    public var participant: ParticipantInfo
    /// The other participants.
    public var participants: [ParticipantInfo]
    public var sessionId: String?
    /// For assistants in the room of a session.
    public var session: SessionBriefing?
    public var resumeToken: String
    public var pingIntervalMs: Int
    public var pingTimeoutMs: Int
    public var limits: AnnouncedLimits
    /// Whether the requested resume succeeded and missed events were replayed; nil if the client did not request one.
    public var resumed: Bool?

    public init(
        server: ServerInfo, room: RoomInfo, participant: ParticipantInfo, participants: [ParticipantInfo], sessionId: String?,
        session: SessionBriefing? = nil, resumeToken: String, resumed: Bool? = nil
    ) {
        self.protocol = 1
        self.server = server
        self.room = room
        self.participant = participant
        self.participants = participants
        self.sessionId = sessionId
        self.session = session
        self.resumeToken = resumeToken
        self.pingIntervalMs = ProtocolLimits.pingIntervalMilliseconds
        self.pingTimeoutMs = ProtocolLimits.pingTimeoutMilliseconds
        self.limits = AnnouncedLimits()
        self.resumed = resumed
    }

    /// Explicit because a missing `session_id` is encoded as null.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(`protocol`, forKey: .protocol)
        try fields.encode(server, forKey: .server)
        try fields.encode(room, forKey: .room)
        try fields.encode(participant, forKey: .participant)
        try fields.encode(participants, forKey: .participants)
        try fields.encode(sessionId, forKey: .sessionId)
        try fields.encodeIfPresent(session, forKey: .session)
        try fields.encode(resumeToken, forKey: .resumeToken)
        try fields.encode(pingIntervalMs, forKey: .pingIntervalMs)
        try fields.encode(pingTimeoutMs, forKey: .pingTimeoutMs)
        try fields.encode(limits, forKey: .limits)
        try fields.encodeIfPresent(resumed, forKey: .resumed)
    }
}

public struct ServerInfo: Sendable, Hashable, Codable {
    public var version: String
    public var node: String

    public init(version: String, node: String) {
        self.version = version
        self.node = node
    }
}

/// The limits that `hello` announces.
public struct AnnouncedLimits: Sendable, Hashable, Codable {
    public var maxFrameBytes = ProtocolLimits.frameBytesMax
    public var maxMessageBytes = ProtocolLimits.messageBytesMax
    public var maxControlBytes = ProtocolLimits.controlBytesMax
    public var liveFramesPerSecond = ProtocolLimits.liveFramesPerSecond
    public var liveBurst = ProtocolLimits.liveBurst
    public var aheadMs = ProtocolLimits.aheadMilliseconds
    public var metadataBytes = ProtocolLimits.metadataBytesMax
    public var attributesBytes = ProtocolLimits.attributesBytesMax
    public var dataBytes = ProtocolLimits.dataBytesMax

    public init() {}
}

/// The description of a session that assistants receive in its room.
public struct SessionBriefing: Sendable, Hashable, Codable {
    public var sessionId: String
    /// Where the user speaks: `carplay`, `phone`, `web`, ….
    public var context: String
    /// Context from the app for the assistant, unmodified.
    public var clientContext: String?
    /// The voice that the user has chosen for assistants (`GET /v1/voices`). Nil: the assistant's own.
    public var voice: String?
    /// The language that the user has chosen, as a BCP 47 tag. Nil: the assistant's own.
    public var language: String?
    /// Summaries of the user's earlier sessions, newest first. Nil if there are none that may be disclosed.
    public var pastSummaries: [PastSummary]?

    public init(
        sessionId: String, context: String, clientContext: String? = nil, voice: String? = nil, language: String? = nil,
        pastSummaries: [PastSummary]? = nil
    ) {
        self.sessionId = sessionId
        self.context = context
        self.clientContext = clientContext
        self.voice = voice
        self.language = language
        self.pastSummaries = pastSummaries
    }
}

/// The summary of an earlier session.
public struct PastSummary: Sendable, Hashable, Codable {
    public var title: String
    public var summary: String
    /// Seconds since 1970.
    public var endedAt: Int64

    public init(title: String, summary: String, endedAt: Int64) {
        self.title = title
        self.summary = summary
        self.endedAt = endedAt
    }
}

extension [PastSummary] {
    /// The longest prefix within `ProtocolLimits.pastSummariesMax` summaries and `pastSummariesBytesMax` bytes of JSON. It is a prefix, so that the
    /// summaries have no gap.
    package func fitting() throws -> [PastSummary] {
        var bytes = "[]".utf8.count
        var fitting: [PastSummary] = []
        for summary in prefix(ProtocolLimits.pastSummariesMax) {
            bytes += try JSON.encode(summary, names: .snakeCase).count + (fitting.isEmpty ? 0 : 1)
            guard bytes <= ProtocolLimits.pastSummariesBytesMax else { break }
            fitting.append(summary)
        }
        return fitting
    }
}
