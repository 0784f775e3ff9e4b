import Backend
import Gateway
import Testing
import Wire

/// Room queries and commands from inside the process.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct RoomServiceTests {
    @Test func openRoomsOfAllShardsAreListed() async throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "one", identity: "ann", shard: 0)
        let bob = try Caller(gateway, room: "two", identity: "bob", shard: 1)
        let rooms = await gateway.gateway.rooms.openRooms()
        #expect(Set(rooms.map(\.name)) == ["one", "two"])
        #expect(Set(rooms.flatMap(\.participants).map(\.identity.text)) == ["ann", "bob"])
        #expect(gateway.gateway.rooms.roomIsOpen(named: "one") && !gateway.gateway.rooms.roomIsOpen(named: "three"))
        withExtendedLifetime((ann, bob)) {}
    }

    @Test func roomIsClosedWithTheGivenReason() async throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "r", identity: "ann", shard: 1)
        #expect(await gateway.gateway.rooms.closeRoom(named: "r", reason: .roomClosed))
        try ann.await(.bye(.roomClosed, retryable: false))
        #expect(try ann.closeCode() == 4102)
        #expect(await gateway.gateway.rooms.closeRoom(named: "r") == false, "ending twice is fine")
        #expect(!gateway.gateway.rooms.roomIsOpen(named: "r"))
    }

    @Test func participantIsRemoved() async throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "r", identity: "ann")
        let bob = try Caller(gateway, room: "r", identity: "bob")
        #expect(await gateway.gateway.rooms.removeParticipant(Identity(text: "bob"), fromRoom: "r"))
        #expect(try bob.closeCode() == 4103)
        #expect(await gateway.gateway.rooms.removeParticipant(Identity(text: "bob"), fromRoom: "r") == false)
        try ann.await(.participantLeft(Identity(text: "bob"), reason: .participantRemoved))
    }

    @Test func dataHasNoSender() async throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "r", identity: "ann")
        #expect(await gateway.gateway.rooms.send(.text("ready"), topic: "summary", toRoom: "r"))
        try ann.await(.data(from: Identity(text: ""), topic: "summary", .text("ready")))
        #expect(await gateway.gateway.rooms.send(.text("ready"), topic: "summary", toRoom: "s") == false)
    }

    @Test func stoppedGatewayReportsNoRooms() async throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "r", identity: "ann")
        gateway.gateway.drain()
        gateway.gateway.drain()
        #expect(try ann.closeCode() == 4001)
        try await gateway.ended()
        #expect(await gateway.gateway.rooms.openRooms().isEmpty)
        #expect(await gateway.gateway.rooms.closeRoom(named: "r") == false)
    }

    @Test func recordingNeedsAStore() async throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "r", identity: "ann")
        #expect(await gateway.gateway.rooms.startRecording(ofRoom: "r") == false)
        try ann.settle()
        #expect(ann.events.isEmpty)
    }
}
