internal import Engine
package import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Sockets
internal import Wire

/// `/v1/rooms…`: room administration. Each route needs a token with the grant that LiveKit requires for it.
package enum RoomRoutes {
    package static func routes(_ rooms: RoomService, keys: KeysInUse) -> [Route] {
        let administrator = Access.grant(keys) { .administer(room: $0.parameter("room")) }
        let creator = Access.grant(keys) { _ in .createRooms }
        return [
            Route(
                .get, "/v1/rooms", "Lists open rooms", access: .grant(keys) { _ in .listRooms },
                responses: [.json(RoomList.self)]
            ) { _, _ in
                try .json(RoomList(rooms: await rooms.rooms()))
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
                    throw HTTPError(.contentTooLarge, "metadata_too_large", "metadata has at most \(ProtocolLimits.metadataBytesMax) bytes")
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
