package import Wire

/// A token's permissions: LiveKit's `video` claim with LiveKit's names.
///
/// Optional properties distinguish absent from `false`, because LiveKit's defaults differ. Use the resolved properties (`allowsPublishing`
/// and the others) for decisions, and the raw ones to copy a token.
package struct VideoGrant: Sendable, Hashable {
    /// The room that `roomJoin` and `roomAdmin` apply to; empty if none.
    package var room = ""
    package var roomJoin = false
    package var roomCreate = false
    package var roomList = false
    package var roomRecord = false
    package var roomAdmin = false
    package var ingressAdmin = false
    package var canPublish: Bool?
    package var canSubscribe: Bool?
    package var canPublishData: Bool?
    /// Sources that may be published (`microphone`, …). Empty allows all.
    package var canPublishSources: [String] = []
    package var canUpdateOwnMetadata: Bool?
    package var canSubscribeMetrics: Bool?
    package var canManageAgentSession: Bool?
    /// The participant is invisible to others.
    package var hidden = false
    /// LiveKit's older form of kind `egress`.
    package var recorder = false
    /// Allows a worker to open `/agent`.
    package var agent = false
    /// The room to which a participant may be forwarded or moved; empty if none.
    package var destinationRoom = ""

    package init() {}

    /// A grant to join `room`, with LiveKit's defaults.
    package static func joining(_ room: String) -> VideoGrant {
        var grant = VideoGrant()
        grant.room = room
        grant.roomJoin = true
        return grant
    }
}

extension VideoGrant {
    /// Absent means true.
    package var allowsPublishing: Bool { canPublish ?? true }
    /// Absent means true.
    package var allowsSubscribing: Bool { canSubscribe ?? true }
    /// Absent means the value of `allowsPublishing`.
    package var allowsPublishingData: Bool { canPublishData ?? allowsPublishing }
    /// Name, metadata and attributes. Absent means false.
    package var allowsUpdatingOwnMetadata: Bool { canUpdateOwnMetadata ?? false }

    /// Whether a track of `source` may be published. O(n) in `canPublishSources`.
    package func allowsPublishing(source: String) -> Bool {
        allowsPublishing && (canPublishSources.isEmpty || canPublishSources.contains(source))
    }

    /// The resolved permissions, as rooms store them.
    package var permission: Permission {
        Permission(
            canPublish: allowsPublishing, canSubscribe: allowsSubscribing, canPublishData: allowsPublishingData,
            canPublishSources: canPublishSources,
            canUpdateMetadata: allowsUpdatingOwnMetadata, hidden: hidden)
    }
}

/// JSON coding compatible with LiveKit's SDKs: camelCase names, defaults for absent or null values, unknown names ignored. Default values are
/// omitted, because not every SDK treats an explicit `false` like an absent name.
extension VideoGrant: Codable {
    private enum CodingKeys: String, CodingKey {
        case room, roomJoin, roomCreate, roomList, roomRecord, roomAdmin, ingressAdmin
        case canPublish, canSubscribe, canPublishData, canPublishSources
        case canUpdateOwnMetadata, canSubscribeMetrics, canManageAgentSession
        case hidden, recorder, agent, destinationRoom
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func flag(_ key: CodingKeys) throws -> Bool { try values.decodeIfPresent(Bool.self, forKey: key) ?? false }
        room = try values.decodeIfPresent(String.self, forKey: .room) ?? ""
        roomJoin = try flag(.roomJoin)
        roomCreate = try flag(.roomCreate)
        roomList = try flag(.roomList)
        roomRecord = try flag(.roomRecord)
        roomAdmin = try flag(.roomAdmin)
        ingressAdmin = try flag(.ingressAdmin)
        canPublish = try values.decodeIfPresent(Bool.self, forKey: .canPublish)
        canSubscribe = try values.decodeIfPresent(Bool.self, forKey: .canSubscribe)
        canPublishData = try values.decodeIfPresent(Bool.self, forKey: .canPublishData)
        canPublishSources = try values.decodeIfPresent([String].self, forKey: .canPublishSources) ?? []
        canUpdateOwnMetadata = try values.decodeIfPresent(Bool.self, forKey: .canUpdateOwnMetadata)
        canSubscribeMetrics = try values.decodeIfPresent(Bool.self, forKey: .canSubscribeMetrics)
        canManageAgentSession = try values.decodeIfPresent(Bool.self, forKey: .canManageAgentSession)
        hidden = try flag(.hidden)
        recorder = try flag(.recorder)
        agent = try flag(.agent)
        destinationRoom = try values.decodeIfPresent(String.self, forKey: .destinationRoom) ?? ""
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        func write(_ flag: Bool, _ key: CodingKeys) throws { if flag { try values.encode(true, forKey: key) } }
        func write(_ text: String, _ key: CodingKeys) throws { if !text.isEmpty { try values.encode(text, forKey: key) } }
        try write(room, .room)
        try write(roomJoin, .roomJoin)
        try write(roomCreate, .roomCreate)
        try write(roomList, .roomList)
        try write(roomRecord, .roomRecord)
        try write(roomAdmin, .roomAdmin)
        try write(ingressAdmin, .ingressAdmin)
        try values.encodeIfPresent(canPublish, forKey: .canPublish)
        try values.encodeIfPresent(canSubscribe, forKey: .canSubscribe)
        try values.encodeIfPresent(canPublishData, forKey: .canPublishData)
        if !canPublishSources.isEmpty { try values.encode(canPublishSources, forKey: .canPublishSources) }
        try values.encodeIfPresent(canUpdateOwnMetadata, forKey: .canUpdateOwnMetadata)
        try values.encodeIfPresent(canSubscribeMetrics, forKey: .canSubscribeMetrics)
        try values.encodeIfPresent(canManageAgentSession, forKey: .canManageAgentSession)
        try write(hidden, .hidden)
        try write(recorder, .recorder)
        try write(agent, .agent)
        try write(destinationRoom, .destinationRoom)
    }
}

/// The part of a token's `roomConfig` that applies when joining creates the room. Other fields of LiveKit's RoomConfiguration are ignored.
package struct TokenRoomSettings: Sendable, Hashable {
    /// Seconds until a room that nobody has joined is closed.
    package var emptyTimeout: UInt32?
    /// Seconds until a room is closed after the last participant has left.
    package var departureTimeout: UInt32?
    /// 0 means no limit.
    package var maxParticipants: UInt32?
    package var metadata: String?
    /// Assistants to dispatch to the room.
    package var agents: [TokenAgent]?

    package init(
        emptyTimeout: UInt32? = nil, departureTimeout: UInt32? = nil, maxParticipants: UInt32? = nil, metadata: String? = nil,
        agents: [TokenAgent]? = nil
    ) {
        self.emptyTimeout = emptyTimeout
        self.departureTimeout = departureTimeout
        self.maxParticipants = maxParticipants
        self.metadata = metadata
        self.agents = agents
    }
}

/// LiveKit's RoomAgentDispatch: an assistant and metadata for it.
package struct TokenAgent: Sendable, Hashable, Codable {
    /// Empty or absent means `default`.
    package var agentName: String
    package var metadata: String

    package init(agentName: String, metadata: String = "") {
        self.agentName = agentName
        self.metadata = metadata
    }

    private enum SnakeKeys: String, CodingKey {
        case agentName = "agent_name"
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let snakes = try decoder.container(keyedBy: SnakeKeys.self)
        agentName =
            try values.decodeIfPresent(String.self, forKey: .agentName) ?? snakes.decodeIfPresent(String.self, forKey: .agentName) ?? ""
        metadata = try values.decodeIfPresent(String.self, forKey: .metadata) ?? ""
    }
}

extension TokenRoomSettings: Codable {
    private enum CodingKeys: String, CodingKey {
        case emptyTimeout, departureTimeout, maxParticipants, metadata, agents
    }

    /// Protobuf's spelling, which LiveKit's server accepts as well.
    private enum SnakeKeys: String, CodingKey {
        case emptyTimeout = "empty_timeout"
        case departureTimeout = "departure_timeout"
        case maxParticipants = "max_participants"
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let snakes = try decoder.container(keyedBy: SnakeKeys.self)
        func number(_ key: CodingKeys, _ snake: SnakeKeys) throws -> UInt32? {
            try values.decodeIfPresent(UInt32.self, forKey: key) ?? snakes.decodeIfPresent(UInt32.self, forKey: snake)
        }
        emptyTimeout = try number(.emptyTimeout, .emptyTimeout)
        departureTimeout = try number(.departureTimeout, .departureTimeout)
        maxParticipants = try number(.maxParticipants, .maxParticipants)
        metadata = try values.decodeIfPresent(String.self, forKey: .metadata)
        agents = try values.decodeIfPresent([TokenAgent].self, forKey: .agents)
    }
}
