internal import Engine
internal import HTTPTypes
package import HTTPServer
internal import Identity
internal import Sockets
internal import Wire

/// `/v1/rooms…`: what an administrator sees and may do. Each needs a token with the grant that LiveKit asks for it.
package enum RoomRoutes {
    package static func routes(_ desk: RoomService, keys: KeysInUse) -> [Route] {
        let administrator = Access.grant(keys) { .administer(room: $0.parameter("room")) }
        let creator = Access.grant(keys) { _ in .createRooms }
        return [
            Route(
                .get, "/v1/rooms", "Lists the rooms that are open", access: .grant(keys) { _ in .listRooms },
                gives: [.json(RoomList.self)]
            ) { _, _ in
                try .json(RoomList(rooms: await desk.rooms()))
            },
            Route(
                .get, "/v1/rooms/:room", "Shows a room and who is in it", access: administrator,
                gives: [.json(RoomDetail.self), .refusal(.notFound)]
            ) { question, _ in
                try .json(try await desk.detail(of: question.parameter("room")))
            },
            Route(
                .patch, "/v1/rooms/:room", "Changes a room's metadata", access: administrator, takes: MetadataChange.self,
                gives: [.json(.empty), .refusal(.notFound), .refusal(.contentTooLarge)]
            ) { question, _, change in
                guard change.metadata.utf8.count <= ProtocolLimits.metadataBytesMax else {
                    throw HTTPError(.contentTooLarge, "metadata_too_large", "metadata has at most \(ProtocolLimits.metadataBytesMax) bytes")
                }
                return try await done(.updateMetadata(change.metadata), question, desk)
            },
            Route(
                .delete, "/v1/rooms/:room", "Ends a room and sends everybody away", access: creator,
                gives: [.json(.empty), .refusal(.notFound)]
            ) { question, _ in
                try await done(.delete, question, desk)
            },
            Route(
                .delete, "/v1/rooms/:room/participants/:identity", "Sends a participant away", access: administrator,
                gives: [.json(.empty), .refusal(.notFound)]
            ) { question, _ in
                try await done(.remove(Identity(text: question.parameter("identity"))), question, desk)
            },
            Route(
                .patch, "/v1/rooms/:room/tracks/:track", "Mutes a track, or takes that back", access: administrator,
                takes: MuteChange.self, gives: [.json(.empty), .refusal(.notFound)]
            ) { question, _, change in
                try await done(.mute(TrackSID(text: question.parameter("track")), muted: change.muted), question, desk)
            },
        ]
    }

    private static func done(_ command: Room.AdminCommand, _ question: HTTPServerRequest, _ desk: RoomService) async throws -> HTTPServerResponse {
        try await desk.perform(command, in: question.parameter("room"))
        return try .json(Done())
    }
}

private struct Done: Encodable {}

private struct MetadataChange: Decodable, Sendable, Described {
    var metadata: String

    /// In bytes it is at most 512 KiB, which is looked at apart.
    static let schema = Schema.named("MetadataChange", .object([.required("metadata", .text)]))
}

private struct MuteChange: Decodable, Sendable, Described {
    var muted: Bool

    static let schema = Schema.named("MuteChange", .object([.required("muted", .boolean)]))
}
