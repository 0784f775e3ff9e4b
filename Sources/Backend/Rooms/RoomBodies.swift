package import Engine
package import HTTPServer
internal import Wire

struct RoomList: Encodable, Described {
    var rooms: [RoomListEntry]

    static let schema = Schema.named("RoomList", .object([.required("rooms", .array(of: RoomListEntry.schema))]))
}

/// A room in the list of open rooms.
package struct RoomListEntry: Encodable, Sendable, Described {
    var sid: RoomSID
    var name: String
    var metadata: String
    var createdAt: Int64
    var maxParticipants: Int
    var numParticipants: Int
    var numTracks: Int
    /// Active speakers.
    var numSpeakers: Int
    /// The port of the shard that hosts the room; absent with a single shard.
    var homePort: Int?

    package static let schema = Schema.named(
        "RoomSummary",
        .object([
            .required("sid", .text), .required("name", .text), .required("metadata", .text), .required("created_at", .count),
            .required("max_participants", .count), .required("num_participants", .count), .required("num_tracks", .count),
            .required("num_speakers", .count),
            .optional("home_port", .integer(1...65_535)),
        ]))

    package init(_ room: Room, homePort: Int?) {
        let info = room.info
        let participants = room.participants
        sid = info.sid
        name = info.name
        metadata = info.metadata
        createdAt = info.createdAt
        maxParticipants = info.maxParticipants
        numParticipants = participants.count
        numTracks = participants.reduce(0) { $0 + ($1.tracks?.count ?? 0) }
        numSpeakers = room.activeSpeakers.count
        self.homePort = homePort
    }
}

/// A room with all its participants, including hidden ones.
package struct RoomView: Encodable, Sendable, Described {
    var room: RoomInfo
    var participants: [ParticipantInfo]
    /// Loudest first.
    var activeSpeakers: [Speaker]
    var homePort: Int?

    /// Rooms and participants have the same form as in `hello` (PROTOCOL, "Hello").
    package static let schema = Schema.named(
        "RoomDetail",
        .object([
            .required("room", .map(of: .anything)), .required("participants", .array(of: .map(of: .anything))),
            .required("active_speakers", .array(of: .map(of: .anything))),
            .optional("home_port", .integer(1...65_535)),
        ]))

    package init(_ room: Room, homePort: Int?) {
        self.homePort = homePort
        self.room = room.info
        participants = room.participants
        activeSpeakers = room.activeSpeakers
    }
}
