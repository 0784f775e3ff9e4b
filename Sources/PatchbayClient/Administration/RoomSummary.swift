public import Wire

/// A room in the list of open rooms.
public struct RoomSummary: Sendable, Hashable, Codable {
    public var sid: RoomSID
    public var name: String
    public var metadata: String
    /// Seconds since 1970.
    public var createdAt: Int64
    /// 0 means no limit.
    public var maxParticipants: Int
    public var numParticipants: Int
    public var numTracks: Int
}

/// A room and its participants.
public struct RoomDetail: Sendable, Hashable, Codable {
    public var room: RoomInfo
    public var participants: [ParticipantInfo]
}
