/// The first message on every room connection.
public struct Hello: Sendable, Hashable {
    public var `protocol`: Int
    public var server: ServerInfo
    public var room: RoomInfo
    public var participant: ParticipantInfo
    /// The other participants.
    public var participants: [ParticipantInfo]
    public var sessionId: String?
    /// Whether this user's speech and texts may be stored, so that the client informs its user. Nil for participants that are not users,
    /// such as agents; false for a client that may show no text.
    public var logged: Bool?
    /// For assistants in the room of a session.
    public var session: SessionBriefing?
    public var resumeToken: String
    public var pingIntervalMs: Int
    public var pingTimeoutMs: Int
    public var limits: AnnouncedLimits
    /// Whether the requested resume succeeded and missed events were replayed; nil if the client did not request one.
    public var resumed: Bool?
    /// True after a resume in which events may have been missed: this message and the events that follow it describe the whole state, which
    /// replaces the client's own. Nil otherwise.
    public var snapshot: Bool?
    /// URLs of other nodes of a cluster at which the session can be resumed if this one ends; at most `ProtocolLimits.helloNodesMax`. Nil if none is
    /// known.
    public var nodes: [String]?
}

extension Hello {
    public init(
        server: ServerInfo, room: RoomInfo, participant: ParticipantInfo, participants: [ParticipantInfo], sessionId: String?,
        logged: Bool? = nil,
        session: SessionBriefing? = nil, resumeToken: String, resumed: Bool? = nil, snapshot: Bool? = nil,
        nodes: [String]? = nil
    ) {
        self.init(
            protocol: 1, server: server, room: room, participant: participant, participants: participants, sessionId: sessionId,
            logged: logged, session: session, resumeToken: resumeToken, pingIntervalMs: ProtocolLimits.pingIntervalMilliseconds,
            pingTimeoutMs: ProtocolLimits.pingTimeoutMilliseconds, limits: AnnouncedLimits(), resumed: resumed,
            snapshot: snapshot, nodes: nodes)
    }
}

extension Hello: Fields {
    static func coded(_ hello: Hello?, by fields: inout some FieldCoder) throws -> Hello {
        try Hello(
            protocol: fields("protocol", hello?.protocol), server: fields("server", hello?.server), room: fields("room", hello?.room),
            participant: fields("participant", hello?.participant), participants: fields("participants", hello?.participants),
            sessionId: fields.nullable("session_id", hello?.sessionId), logged: fields.optional("logged", hello?.logged),
            session: fields.optional("session", hello?.session),
            resumeToken: fields("resume_token", hello?.resumeToken), pingIntervalMs: fields("ping_interval_ms", hello?.pingIntervalMs),
            pingTimeoutMs: fields("ping_timeout_ms", hello?.pingTimeoutMs), limits: fields("limits", hello?.limits),
            resumed: fields.optional("resumed", hello?.resumed), snapshot: fields.optional("snapshot", hello?.snapshot),
            nodes: fields.optional("nodes", hello?.nodes))
    }
}

public struct ServerInfo: Sendable, Hashable {
    public var version: String
    public var node: String

    public init(version: String, node: String) {
        self.version = version
        self.node = node
    }
}

extension ServerInfo: Fields {
    static func coded(_ server: ServerInfo?, by fields: inout some FieldCoder) throws -> ServerInfo {
        try ServerInfo(version: fields("version", server?.version), node: fields("node", server?.node))
    }
}

/// The limits that `hello` announces.
public struct AnnouncedLimits: Sendable, Hashable {
    public var maxFrameBytes = ProtocolLimits.frameBytesMax
    public var maxMessageBytes = ProtocolLimits.messageBytesMax
    public var maxControlBytes = ProtocolLimits.controlBytesMax
    public var liveFramesPerSecond = ProtocolLimits.liveFramesPerSecond
    public var liveBurst = ProtocolLimits.liveBurst
    public var aheadMs = ProtocolLimits.aheadMilliseconds
    public var metadataBytes = ProtocolLimits.metadataBytesMax
    public var attributesBytes = ProtocolLimits.attributesBytesMax
    public var dataBytes = ProtocolLimits.dataBytesMax
}

extension AnnouncedLimits: Fields {
    static func coded(_ limits: AnnouncedLimits?, by fields: inout some FieldCoder) throws -> AnnouncedLimits {
        try AnnouncedLimits(
            maxFrameBytes: fields("max_frame_bytes", limits?.maxFrameBytes),
            maxMessageBytes: fields("max_message_bytes", limits?.maxMessageBytes),
            maxControlBytes: fields("max_control_bytes", limits?.maxControlBytes),
            liveFramesPerSecond: fields("live_frames_per_second", limits?.liveFramesPerSecond),
            liveBurst: fields("live_burst", limits?.liveBurst), aheadMs: fields("ahead_ms", limits?.aheadMs),
            metadataBytes: fields("metadata_bytes", limits?.metadataBytes),
            attributesBytes: fields("attributes_bytes", limits?.attributesBytes), dataBytes: fields("data_bytes", limits?.dataBytes))
    }
}

/// The description of a session that assistants receive in its room.
public struct SessionBriefing: Sendable, Hashable {
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

extension SessionBriefing: Fields {
    static func coded(_ session: SessionBriefing?, by fields: inout some FieldCoder) throws -> SessionBriefing {
        try SessionBriefing(
            sessionId: fields("session_id", session?.sessionId), context: fields("context", session?.context),
            clientContext: fields.optional("client_context", session?.clientContext), voice: fields.optional("voice", session?.voice),
            language: fields.optional("language", session?.language),
            pastSummaries: fields.optional("past_summaries", session?.pastSummaries))
    }
}

/// The summary of an earlier session.
public struct PastSummary: Sendable, Hashable {
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

extension PastSummary: Fields {
    static func coded(_ past: PastSummary?, by fields: inout some FieldCoder) throws -> PastSummary {
        try PastSummary(
            title: fields("title", past?.title), summary: fields("summary", past?.summary), endedAt: fields("ended_at", past?.endedAt))
    }
}

extension [PastSummary] {
    /// The longest prefix within `ProtocolLimits.pastSummariesMax` summaries and `pastSummariesBytesMax` bytes of JSON. It is a prefix, so that the
    /// summaries have no gap.
    package func fitting() -> [PastSummary] {
        var bytes = "[]".utf8.count
        var fitting: [PastSummary] = []
        for summary in prefix(ProtocolLimits.pastSummariesMax) {
            bytes += JSONOutput.bytes(ofBody: summary).count + (fitting.isEmpty ? 0 : 1)
            guard bytes <= ProtocolLimits.pastSummariesBytesMax else { break }
            fitting.append(summary)
        }
        return fitting
    }
}
