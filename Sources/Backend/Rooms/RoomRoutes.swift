package import Engine
package import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Sockets
package import Wire

/// `/v1/rooms…`: room administration. Each route needs a token with the grant that LiveKit requires for it.
package enum RoomRoutes {
    package static func routes(_ rooms: RoomService, keys: KeysInUse) -> [Route] {
        let administrator = Access.grant("`roomAdmin`", keys) { .administer(room: $0.parameter("room")) }
        let creator = Access.grant("`roomCreate`", keys) { _ in .createRooms }
        return [
            Route(
                .get, "/v1/rooms", "Lists open rooms", access: .grant("`roomList`", keys) { _ in .listRooms },
                responses: [.json(RoomList.self), .error(.serviceUnavailable)]
            ) { _, _ in
                try .json(RoomList(rooms: try await rooms.rooms()))
            },
            Route(
                .get, "/v1/rooms/:room", "Shows a room and its participants", access: administrator,
                responses: [.json(RoomView.self), .error(.notFound)]
            ) { request, _ in
                try .json(try await rooms.detail(of: request.parameter("room")))
            },
            Route(
                .get, "/v1/rooms/:room/events", "Shows the latest events of a room, without what was said or written",
                access: administrator,
                responses: [.json(RoomLogView.self), .error(.notFound)]
            ) { request, _ in
                try .json(try await rooms.log(of: request.parameter("room")))
            },
            Route(
                .patch, "/v1/rooms/:room", "Changes a room's metadata", access: administrator, body: MetadataChange.self,
                responses: [.json(.empty), .error(.notFound), .error(.contentTooLarge)]
            ) { request, _, change in
                guard change.metadata.utf8.count <= ProtocolLimits.metadataBytesMax else {
                    throw HTTPError(.metadataTooLarge, "metadata has at most \(ProtocolLimits.metadataBytesMax) bytes")
                }
                return try await done(.updateMetadata(change.metadata), request, rooms)
            },
            Route(
                .delete, "/v1/rooms/:room", "Ends a room and disconnects its participants", access: creator,
                responses: [.json(.empty), .error(.notFound)]
            ) { request, _ in
                try await done(.delete, request, rooms)
            },
            Route(
                .delete, "/v1/rooms/:room/participants/:identity", "Disconnects a participant", access: administrator,
                responses: [.json(.empty), .error(.notFound)]
            ) { request, _ in
                try await done(.remove(Identity(text: request.parameter("identity"))), request, rooms)
            },
            Route(
                .patch, "/v1/rooms/:room/tracks/:track", "Mutes or unmutes a track", access: administrator,
                body: MuteChange.self, responses: [.json(.empty), .error(.notFound)]
            ) { request, _, change in
                try await done(.mute(TrackSID(text: request.parameter("track")), muted: change.muted), request, rooms)
            },
        ]
    }

    private static func done(_ command: Room.AdminCommand, _ request: HTTPServerRequest, _ rooms: RoomService) async throws
        -> HTTPServerResponse
    {
        try await rooms.perform(command, in: request.parameter("room"))
        return try .json(Done())
    }
}

private struct Done: Encodable {}

private struct MetadataChange: Decodable, Sendable, Described {
    var metadata: String

    /// The limit of 512 KiB is checked in the handler.
    static let schema = Schema.named("MetadataChange", .object([.required("metadata", .text)]))
}

private struct MuteChange: Decodable, Sendable, Described {
    var muted: Bool

    static let schema = Schema.named("MuteChange", .object([.required("muted", .boolean)]))
}

struct RoomList: Encodable, Described {
    var rooms: [RoomListEntry]

    static let schema = Schema.named("RoomList", .object([.required("rooms", .array(of: RoomListEntry.schema))]))
}

/// A room in the list of open rooms.
package struct RoomListEntry: Codable, Sendable, Described {
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
    var reconnecting: [ReconnectingParticipant]
    var homePort: Int?
    /// Not part of the response.
    package var snapshot: Room.Snapshot

    private enum CodingKeys: String, CodingKey {
        case room, participants, activeSpeakers, reconnecting, homePort
    }

    /// Rooms and participants have the same form as in `hello` (docs/protocol/connecting.md, "Hello").
    package static let schema = Schema.named(
        "RoomDetail",
        .object([
            .required("room", .map(of: .anything)), .required("participants", .array(of: .map(of: .anything))),
            .required("active_speakers", .array(of: .map(of: .anything))),
            .required("reconnecting", .array(of: ReconnectingParticipant.schema)),
            .optional("home_port", .integer(1...65_535)),
        ]))

    package init(_ room: Room, homePort: Int?, at now: Instant) {
        self.homePort = homePort
        snapshot = room.snapshot
        self.room = room.info
        participants = room.participants
        activeSpeakers = room.activeSpeakers
        reconnecting = room.reconnecting.map { ReconnectingParticipant(participant: $0.identity, lostMs: (now - $0.since).inMilliseconds) }
    }
}

/// A participant whose connection is lost.
struct ReconnectingParticipant: Encodable, Sendable, Described {
    var participant: Identity
    /// For how long, in milliseconds.
    var lostMs: Int64

    static let schema = Schema.named(
        "ReconnectingParticipant", .object([.required("participant", .text), .required("lost_ms", .count)]))
}
