internal import Engine
internal import Foundation
internal import HTTPTypes
internal import Identity
internal import Sockets
internal import Wire

/// `/v1/rooms…`: what an administrator sees and may do. Each needs a token with the grant that LiveKit asks for it.
extension Shard {
    /// - Parameter path: what comes after `/v1/rooms`.
    func administer(_ exchange: HTTPExchange, _ path: [String]) throws(Refusal) -> Response {
        switch (exchange.method, path.count) {
        case (.get, 0):
            try authorise(exchange, .listRooms)
            return json(RoomList(rooms: rooms.compactMap { $0.map { RoomSummary($0.room) } }))
        case (.get, 1):
            try authorise(exchange, .administer(room: path[0]))
            return json(RoomDetail(try room(path[0]).hosted.room))
        case (.delete, 1):
            try authorise(exchange, .createRooms)
            return try command(.delete, in: path[0])
        case (.patch, 1):
            try authorise(exchange, .administer(room: path[0]))
            let metadata = try body(of: exchange, MetadataChange.self).metadata
            guard metadata.utf8.count <= ProtocolLimits.metadataBytesMax else {
                throw Refusal(.contentTooLarge, "metadata_too_large", "metadata has at most \(ProtocolLimits.metadataBytesMax) bytes")
            }
            return try command(.updateMetadata(metadata), in: path[0])
        case (.delete, 3) where path[1] == "participants":
            try authorise(exchange, .administer(room: path[0]))
            let who = Identity(text: path[2])
            guard try room(path[0]).hosted.room.handle(of: who) != nil else {
                throw Refusal(.notFound, "participant_not_found", "no participant of that identity is in the room")
            }
            return try command(.remove(who), in: path[0])
        case (.patch, 3) where path[1] == "tracks":
            try authorise(exchange, .administer(room: path[0]))
            let track = TrackSID(text: path[2])
            guard try room(path[0]).hosted.room.participants.contains(where: { $0.tracks?.contains { $0.sid == track } == true }) else {
                throw Refusal(.notFound, "track_not_found", "no track of that sid is in the room")
            }
            return try command(.mute(track, muted: try body(of: exchange, MuteChange.self).muted), in: path[0])
        default:
            throw Refusal(.notFound, "not_found", "there is nothing at this path, or not with this method")
        }
    }

    private func authorise(_ exchange: HTTPExchange, _ grant: AdminGrant) throws(Refusal) {
        guard failures.verdict(on: exchange.peerAddress, at: loop.now) == .mayTry else {
            throw Refusal(.tooManyRequests, "too_many_attempts", "too many failed attempts from this address; wait a minute")
        }
        let token: AccessToken
        do throws(TokenError) {
            let text = try TokenPlace.find(authorization: exchange.authorization, subprotocols: [], query: nil)
            token = try TokenVerifier().verify(text, keys: keys, now: WallClock.seconds)
        } catch {
            failures.recordFailure(from: exchange.peerAddress, at: loop.now)
            throw Refusal(.unauthorized, error.code, error.message)
        }
        do throws(GrantError) {
            try grant.check(token)
        } catch {
            throw Refusal(.forbidden, error.code, error.message)
        }
    }

    private func room(_ name: String) throws(Refusal) -> (index: Int, hosted: HostedRoom) {
        guard let index = roomByName[name], let hosted = rooms[index] else {
            throw Refusal(.notFound, "room_not_found", "no room of that name is open")
        }
        return (index, hosted)
    }

    private func command(_ command: Room.AdminCommand, in name: String) throws(Refusal) -> Response {
        perform(.administered(command), in: try room(name).index)
        return json(Done())
    }

    private func body<Body: Decodable>(of exchange: HTTPExchange, _: Body.Type) throws(Refusal) -> Body {
        do {
            return try JSONDecoder().decode(Body.self, from: Data(exchange.body))
        } catch {
            throw Refusal(.badRequest, "invalid_body", "the body is not the JSON object that this route takes")
        }
    }

    private func json(_ value: some Encodable) -> Response {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = (try? encoder.encode(value)).map(Array.init) ?? []
        return Response(status: .ok, fields: [.contentType: "application/json"], body: body)
    }
}

private struct Done: Encodable {}

private struct MetadataChange: Decodable {
    var metadata: String
}

private struct MuteChange: Decodable {
    var muted: Bool
}

private struct RoomList: Encodable {
    var rooms: [RoomSummary]
}

private struct RoomSummary: Encodable {
    var sid: RoomSID
    var name: String
    var metadata: String
    var createdAt: Int64
    var maxParticipants: Int
    var numParticipants: Int
    var numTracks: Int

    init(_ room: Room) {
        let info = room.info
        let participants = room.participants
        sid = info.sid
        name = info.name
        metadata = info.metadata
        createdAt = info.createdAt
        maxParticipants = info.maxParticipants
        numParticipants = participants.count
        numTracks = participants.reduce(0) { $0 + ($1.tracks?.count ?? 0) }
    }
}

private struct RoomDetail: Encodable {
    var room: RoomInfo
    var participants: [ParticipantInfo]

    init(_ room: Room) {
        self.room = room.info
        participants = room.participants
    }
}
