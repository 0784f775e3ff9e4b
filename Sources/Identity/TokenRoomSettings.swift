/// What of a token's `roomConfig` is followed when joining makes the room. The rest of LiveKit's RoomConfiguration is ignored.
package struct TokenRoomSettings: Sendable, Hashable {
    /// Seconds that a room nobody has joined yet is kept.
    package var emptyTimeout: UInt32?
    /// Seconds that a room is kept after the last participant has left.
    package var departureTimeout: UInt32?
    /// Participants at once; 0 is no limit.
    package var maxParticipants: UInt32?
    package var metadata: String?

    package init(
        emptyTimeout: UInt32? = nil, departureTimeout: UInt32? = nil, maxParticipants: UInt32? = nil, metadata: String? = nil
    ) {
        self.emptyTimeout = emptyTimeout
        self.departureTimeout = departureTimeout
        self.maxParticipants = maxParticipants
        self.metadata = metadata
    }
}

extension TokenRoomSettings: Codable {
    private enum CodingKeys: String, CodingKey {
        case emptyTimeout, departureTimeout, maxParticipants, metadata
    }

    /// The names as protobuf spells them, which LiveKit's server reads as well.
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
    }
}
