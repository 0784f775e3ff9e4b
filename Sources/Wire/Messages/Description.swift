/// A participant as others see it.
public struct ParticipantInfo: Sendable, Hashable, Codable {
    public var sid: ParticipantSID
    public var identity: Identity
    public var name: String
    public var kind: ParticipantKind
    public var metadata: String
    public var attributes: [String: String]
    public var permission: Permission
    /// Seconds since 1970.
    public var joinedAt: Int64
    /// What it publishes; nil in messages that do not tell.
    public var tracks: [TrackInfo]?

    public init(
        sid: ParticipantSID, identity: Identity, name: String, kind: ParticipantKind, metadata: String, attributes: [String: String],
        permission: Permission, joinedAt: Int64, tracks: [TrackInfo]?
    ) {
        self.sid = sid
        self.identity = identity
        self.name = name
        self.kind = kind
        self.metadata = metadata
        self.attributes = attributes
        self.permission = permission
        self.joinedAt = joinedAt
        self.tracks = tracks
    }
}

/// LiveKit's kinds of participant.
public enum ParticipantKind: String, Sendable, Codable, CaseIterable {
    case standard, ingress, egress, sip, agent, connector, bridge

    /// Whether a room is empty when only such participants are left in it.
    public var isDependent: Bool { self == .agent || self == .egress }
}

/// What a participant may do, with LiveKit's defaults already filled in.
public struct Permission: Sendable, Hashable, Codable {
    public var canPublish: Bool
    public var canSubscribe: Bool
    public var canPublishData: Bool
    /// Sources that may be published; empty is no restriction.
    public var canPublishSources: [String]
    public var canUpdateMetadata: Bool
    public var hidden: Bool

    public init(
        canPublish: Bool = true, canSubscribe: Bool = true, canPublishData: Bool = true, canPublishSources: [String] = [],
        canUpdateMetadata: Bool = false, hidden: Bool = false
    ) {
        self.canPublish = canPublish
        self.canSubscribe = canSubscribe
        self.canPublishData = canPublishData
        self.canPublishSources = canPublishSources
        self.canUpdateMetadata = canUpdateMetadata
        self.hidden = hidden
    }
}

/// A published track as others see it.
public struct TrackInfo: Sendable, Hashable, Codable {
    public var sid: TrackSID
    public var alias: TrackAlias
    /// Whose it is.
    public var participant: Identity
    public var name: String
    public var source: TrackSource
    public var codec: String
    public var mode: TrackMode
    public var muted: Bool
    public var frameMs: Double
    public var dtx: Bool
    public var fec: Bool
    public var channels: Int
    public var epoch: UInt8

    public init(sid: TrackSID, alias: TrackAlias, participant: Identity, description: PublishTrack, muted: Bool = false, epoch: UInt8 = 0) {
        self.sid = sid
        self.alias = alias
        self.participant = participant
        self.name = description.name
        self.source = description.source
        self.codec = description.codec
        self.mode = description.mode
        self.muted = muted
        self.frameMs = description.frameMs
        self.dtx = description.dtx
        self.fec = description.fec
        self.channels = description.channels
        self.epoch = epoch
    }
}

/// A room as its participants see it.
public struct RoomInfo: Sendable, Hashable, Codable {
    public var sid: RoomSID
    public var name: String
    public var metadata: String
    /// Seconds since 1970.
    public var createdAt: Int64
    /// 0 is no limit.
    public var maxParticipants: Int

    public init(sid: RoomSID, name: String, metadata: String, createdAt: Int64, maxParticipants: Int) {
        self.sid = sid
        self.name = name
        self.metadata = metadata
        self.createdAt = createdAt
        self.maxParticipants = maxParticipants
    }
}

/// The first message on every connection.
public struct Hello: Sendable, Hashable, Codable {
    public var `protocol`: Int
    public var server: ServerInfo
    public var room: RoomInfo
    public var participant: ParticipantInfo
    /// The others.
    public var participants: [ParticipantInfo]
    public var sessionId: String?
    /// For assistants in a session's room.
    public var session: SessionBriefing?
    public var resumeToken: String
    public var pingIntervalMs: Int
    public var pingTimeoutMs: Int
    public var limits: AnnouncedLimits
    /// True after the events that were missed, where the place was taken back; false where that could not be; nil where it was not
    /// asked for.
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

    /// Written out because `session_id` is null, and not absent, where there is none.
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

/// The limits that `hello` tells a client.
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
