internal import Engine
internal import Foundation
internal import HTTPTypes
internal import Identity
internal import Sockets
internal import Wire

/// `/v1/rooms…`: what an administrator sees and may do. Each needs a token with the grant that LiveKit asks for it.
extension Shard {
    /// - Parameter path: what comes after `/v1/rooms`.
    func administer(_ exchange: HTTPExchange, _ path: [String]) throws(Refusal) {
        switch (exchange.method, path.count) {
        case (.get, 0):
            try authorise(exchange, .listRooms)
            ask(.rooms, of: Array(common.mailboxes.indices), for: exchange) { answers in
                let rooms = answers.flatMap { answer -> [RoomSummary] in
                    if case .rooms(let rooms) = answer { rooms } else { [] }
                }
                return json(RoomList(rooms: rooms.sorted { ($0.createdAt, $0.name) < ($1.createdAt, $1.name) }))
            }
        case (.get, 1):
            try authorise(exchange, .administer(room: path[0]))
            try ask(.room(path[0]), aboutRoom: path[0], for: exchange)
        case (.delete, 1):
            try authorise(exchange, .createRooms)
            try ask(.command(.delete, room: path[0]), aboutRoom: path[0], for: exchange)
        case (.patch, 1):
            try authorise(exchange, .administer(room: path[0]))
            let metadata = try body(of: exchange, MetadataChange.self).metadata
            guard metadata.utf8.count <= ProtocolLimits.metadataBytesMax else {
                throw Refusal(.contentTooLarge, "metadata_too_large", "metadata has at most \(ProtocolLimits.metadataBytesMax) bytes")
            }
            try ask(.command(.updateMetadata(metadata), room: path[0]), aboutRoom: path[0], for: exchange)
        case (.delete, 3) where path[1] == "participants":
            try authorise(exchange, .administer(room: path[0]))
            try ask(.command(.remove(Identity(text: path[2])), room: path[0]), aboutRoom: path[0], for: exchange)
        case (.patch, 3) where path[1] == "tracks":
            try authorise(exchange, .administer(room: path[0]))
            let muted = try body(of: exchange, MuteChange.self).muted
            try ask(.command(.mute(TrackSID(text: path[2]), muted: muted), room: path[0]), aboutRoom: path[0], for: exchange)
        default:
            throw Refusal(.notFound, "not_found", "there is nothing at this path, or not with this method")
        }
    }

    /// Asks the shard that a room is homed on, and responds with what it says.
    private func ask(_ question: Question, aboutRoom name: String, for exchange: HTTPExchange) throws(Refusal) {
        guard let home = common.directory.home(of: name) else { throw Self.roomNotFound }
        ask(question, of: [home], for: exchange) { [unowned self] answers in
            guard case .response(let response)? = answers.first else { return Response(Self.roomNotFound) }
            if response.status.kind != .successful, let code = response.errorCode { counters.httpRefused[code, default: 0] += 1 }
            return response
        }
    }

    /// What this shard answers another one, or itself.
    func answer(_ question: Question) -> Answer {
        do throws(Refusal) {
            switch question {
            case .rooms: return .rooms(rooms.compactMap { $0.map { RoomSummary($0.room, homePort: homePort) } })
            case .openRooms:
                return .openRooms(
                    rooms.compactMap { $0?.room }.map {
                        Gateway.OpenRoom(name: $0.name, sid: $0.sid, createdAt: $0.createdAt, participants: $0.participants)
                    })
            case .counters:
                publishMetrics()
                return .rooms([])
            case .room(let name): return .response(json(RoomDetail(try room(name).hosted.room, homePort: homePort)))
            case .command(let command, let name):
                let (index, hosted) = try room(name)
                try check(command, in: hosted.room)
                perform(.administered(command), in: index)
                return .response(json(Done()))
            }
        } catch {
            return .response(Response(error))
        }
    }

    private var homePort: Int? { common.shardPorts.isEmpty ? nil : common.shardPorts[index] }

    /// Whether what a command names is there.
    private func check(_ command: Room.AdminCommand, in room: Room) throws(Refusal) {
        switch command {
        case .remove(let who), .updatePermission(let who, _):
            guard room.handle(of: who) != nil else {
                throw Refusal(.notFound, "participant_not_found", "no participant of that identity is in the room")
            }
        case .mute(let track, _):
            guard room.participants.contains(where: { $0.tracks?.contains { $0.sid == track } == true }) else {
                throw Refusal(.notFound, "track_not_found", "no track of that sid is in the room")
            }
        case .startRecording:
            guard common.recorder != nil else {
                throw Refusal(.notImplemented, "not_recording", "this gateway has nothing to write recordings with")
            }
        case .delete, .close, .updateMetadata, .sendData, .stopRecording: break
        }
    }

    private static let roomNotFound = Refusal(.notFound, "room_not_found", "no room of that name is open")

    private func authorise(_ exchange: HTTPExchange, _ grant: AdminGrant) throws(Refusal) {
        guard common.failures.mayTry(exchange.peerAddress, at: loop.now) else {
            throw Refusal(.tooManyRequests, "too_many_attempts", "too many failed attempts from this address; wait a minute")
        }
        let token: AccessToken
        do throws(TokenError) {
            let text = try TokenPlace.find(authorization: exchange.authorization, subprotocols: [], query: nil)
            token = try TokenVerifier().verify(text, keys: keys, now: WallClock.seconds)
        } catch {
            common.failures.record(from: exchange.peerAddress, at: loop.now)
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
            throw Self.roomNotFound
        }
        return (index, hosted)
    }

    private func body<Body: Decodable>(of exchange: HTTPExchange, _: Body.Type) throws(Refusal) -> Body {
        do {
            return try JSONDecoder().decode(Body.self, from: Data(exchange.body))
        } catch {
            throw Refusal(.badRequest, "invalid_body", "the body is not the JSON object that this route takes")
        }
    }
}

private func json(_ value: some Encodable) -> Response {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let body = (try? encoder.encode(value)).map(Array.init) ?? []
    return Response(status: .ok, fields: [.contentType: "application/json"], body: body)
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

/// A room in a list.
struct RoomSummary: Encodable, Sendable {
    var sid: RoomSID
    var name: String
    var metadata: String
    var createdAt: Int64
    var maxParticipants: Int
    var numParticipants: Int
    var numTracks: Int
    /// A port that leads straight to the thread of the room; absent where there is one thread only.
    var homePort: Int?

    init(_ room: Room, homePort: Int?) {
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

private struct RoomDetail: Encodable {
    var room: RoomInfo
    var participants: [ParticipantInfo]
    var homePort: Int?

    init(_ room: Room, homePort: Int?) {
        self.homePort = homePort
        self.room = room.info
        participants = room.participants
    }
}
