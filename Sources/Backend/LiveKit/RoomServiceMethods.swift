internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import LiveKitProtocol
internal import Wire

/// LiveKit's RoomService: its methods on whole rooms.
struct RoomServiceMethods: Sendable {
    let rooms: RoomService
    let service: TwirpService

    static let create = "`roomCreate`"
    static let list = "`roomList`"
    static let administer = "`roomAdmin` of the room"

    var routes: [Route] {
        [
            service.method(
                "CreateRoom", "Opens a room without participants, or returns the open one", Self.create, grant: { _ in .createRooms },
                perform: createRoom),
            service.method("ListRooms", "Lists open rooms", Self.list, grant: { _ in .listRooms }, perform: listRooms),
            service.method(
                "DeleteRoom", "Ends a room and disconnects its participants", Self.create,
                grant: { (_: LiveKitDeleteRoomRequest) in .createRooms }
            ) { [rooms] request, _ in
                try await rooms.perform(.delete, in: request.room)
                return LiveKitDeleteRoomResponse()
            },
            service.method(
                "UpdateRoomMetadata", "Changes a room's metadata", Self.administer,
                limits: { (request: LiveKitUpdateRoomMetadataRequest) throws(TwirpError) in
                    try LiveKitLimits.check(metadata: request.metadata)
                },
                grant: { .administer(room: $0.room) }
            ) { [rooms] request, _ in
                try await rooms.perform(.updateMetadata(request.metadata), in: request.room)
                return LiveKitRoom(try await rooms.detail(of: request.room).snapshot)
            },
        ]
    }

    private func createRoom(_ request: LiveKitCreateRoomRequest, _: HTTPServerRequest) async throws -> LiveKitRoom {
        guard !request.name.isEmpty else { throw TwirpError(argument: "name", "no room name") }
        guard request.name.utf8.count <= ProtocolLimits.roomNameBytesMax else {
            throw TwirpError(argument: "name", "name length exceeds limits: at most \(ProtocolLimits.roomNameBytesMax) bytes")
        }
        try LiveKitLimits.check(metadata: request.metadata)
        for agent in request.agents {
            guard agent.metadata.utf8.count <= ProtocolLimits.jobMetadataBytesMax else {
                throw TwirpError(
                    argument: "agents", "metadata size exceeds limits: of an agent at most \(ProtocolLimits.jobMetadataBytesMax) bytes")
            }
        }
        guard request.roomPreset.isEmpty else {
            throw TwirpError(argument: "room_preset", "this gateway has no room presets; set the fields themselves")
        }
        guard !request.hasEgress else {
            throw TwirpError(
                .unimplemented, "a room cannot be recorded from its creation; logged sessions are recorded from their start")
        }
        func span(_ seconds: UInt32) -> Duration? { seconds == 0 ? nil : .seconds(Int64(seconds)) }
        let opening = RoomOpening(
            emptyTimeout: span(request.emptyTimeout), departureTimeout: span(request.departureTimeout),
            maxParticipants: request.maxParticipants == 0 ? nil : Int(request.maxParticipants),
            metadata: request.metadata.isEmpty ? nil : request.metadata,
            agents: request.agents.map { AgentRequest(assistant: $0.agentName, metadata: $0.metadata) })
        return LiveKitRoom(try await rooms.open(request.name, opening).snapshot)
    }

    private func listRooms(_ request: LiveKitListRoomsRequest, _: HTTPServerRequest) async throws -> LiveKitListRoomsResponse {
        let names = Set(request.names)
        var open = try await rooms.snapshots().filter { names.isEmpty || names.contains($0.info.name) }
        // Rooms whose home has ended continue at this node.
        for name in names.subtracting(open.map(\.info.name)).prefix(Self.soughtMax) {
            do {
                open.append(try await rooms.detail(of: name).snapshot)
            } catch {
                if error.status != .notFound { throw error }
            }
        }
        var response = LiveKitListRoomsResponse()
        response.rooms = open.map(LiveKitRoom.init)
        return response
    }

    /// Names that are in no node's list and are looked up, each with a request to the broker.
    private static let soughtMax = 100
}

/// LiveKit's limits of texts, with its messages.
enum LiveKitLimits {
    static func check(metadata: String) throws(TwirpError) {
        guard metadata.utf8.count <= ProtocolLimits.metadataBytesMax else {
            throw TwirpError(argument: "metadata", "metadata size exceeds limits: at most \(ProtocolLimits.metadataBytesMax) bytes")
        }
    }

    static func check(name: String) throws(TwirpError) {
        guard name.utf8.count <= ProtocolLimits.participantNameBytesMax else {
            throw TwirpError(argument: "name", "name length exceeds limits: at most \(ProtocolLimits.participantNameBytesMax) bytes")
        }
    }

    static func check(attributes: [String: String]) throws(TwirpError) {
        let bytes = attributes.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard bytes <= ProtocolLimits.attributesBytesMax else {
            throw TwirpError(
                argument: "attributes", "attribute size exceeds limits: at most \(ProtocolLimits.attributesBytesMax) bytes together")
        }
    }
}
