/// As LiveKit's SDKs write it: camelCase, what is absent or null has its default, unknown names are ignored, and only what differs
/// from the default is written, because an explicit `false` and an absent name are not the same in every SDK.
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
