package import Engine
package import HTTPServer
internal import Wire

struct RoomList: Encodable, Described {
    var rooms: [RoomSummary]

    static let schema = Schema.named("RoomList", .object([.required("rooms", .array(of: RoomSummary.schema))]))
}

/// A room in a list.
package struct RoomSummary: Encodable, Sendable, Described {
    var sid: RoomSID
    var name: String
    var metadata: String
    var createdAt: Int64
    var maxParticipants: Int
    var numParticipants: Int
    var numTracks: Int
    /// A port that leads straight to the thread of the room; absent where there is one thread only.
    var homePort: Int?

    package static let schema = Schema.named(
        "RoomSummary",
        .object([
            .required("sid", .text), .required("name", .text), .required("metadata", .text), .required("created_at", .count),
            .required("max_participants", .count), .required("num_participants", .count), .required("num_tracks", .count),
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
        self.homePort = homePort
    }
}

/// A room with all who are in it, hidden ones too.
package struct RoomDetail: Encodable, Sendable, Described {
    var room: RoomInfo
    var participants: [ParticipantInfo]
    var homePort: Int?

    /// What a room and a participant are is the protocol's to say (PROTOCOL section 5), as in `hello`.
    package static let schema = Schema.named(
        "RoomDetail",
        .object([
            .required("room", .map(of: .anything)), .required("participants", .array(of: .map(of: .anything))),
            .optional("home_port", .integer(1...65_535)),
        ]))

    package init(_ room: Room, homePort: Int?) {
        self.homePort = homePort
        self.room = room.info
        participants = room.participants
    }
}
