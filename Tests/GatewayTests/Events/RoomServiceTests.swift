import Engine
import Gateway
import Testing
import Wire

@testable import Backend

/// Room queries and commands from inside the process.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct RoomServiceTests {
    @Test func openRoomsOfAllShardsAreListed() async throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "one", identity: "ann", shard: 0)
        let bob = try Caller(gateway, room: "two", identity: "bob", shard: 1)
        let rooms = await gateway.gateway.rooms.rooms()
        #expect(rooms.map(\.name).sorted() == ["one", "two"] && rooms.map(\.numParticipants) == [1, 1])
        #expect(gateway.gateway.rooms.roomIsOpen(named: "one") && !gateway.gateway.rooms.roomIsOpen(named: "three"))
        withExtendedLifetime((ann, bob)) {}
    }

    @Test func roomIsClosedWithTheGivenReason() async throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "r", identity: "ann", shard: 1)
        #expect(await gateway.gateway.rooms.attempt(.close(.roomClosed), in: "r"))
        try ann.await(.bye(.roomClosed, retryable: false))
        #expect(try ann.closeCode() == 4102)
        #expect(await gateway.gateway.rooms.attempt(.close(.roomDeleted), in: "r") == false, "ending twice is fine")
        #expect(!gateway.gateway.rooms.roomIsOpen(named: "r"))
    }

    @Test func participantIsRemoved() async throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "r", identity: "ann")
        let bob = try Caller(gateway, room: "r", identity: "bob")
        #expect(await gateway.gateway.rooms.attempt(.remove(Identity(text: "bob")), in: "r"))
        #expect(try bob.closeCode() == 4103)
        #expect(await gateway.gateway.rooms.attempt(.remove(Identity(text: "bob")), in: "r") == false)
        try ann.await(.participantLeft(Identity(text: "bob"), reason: .participantRemoved))
    }

    @Test func dataHasNoSender() async throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "r", identity: "ann")
        let ready = Room.AdminCommand.sendData(DataMessage(topic: "summary", payload: .text("ready"), to: nil))
        #expect(await gateway.gateway.rooms.attempt(ready, in: "r"))
        try ann.await(.data(from: Identity(text: ""), topic: "summary", .text("ready")))
        #expect(await gateway.gateway.rooms.attempt(ready, in: "s") == false)
    }

    @Test func stoppedGatewayReportsNoRooms() async throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "r", identity: "ann")
        gateway.gateway.drain()
        gateway.gateway.drain()
        #expect(try ann.closeCode() == 4001)
        try await gateway.ended()
        #expect(await gateway.gateway.rooms.rooms().isEmpty)
        #expect(await gateway.gateway.rooms.attempt(.close(.roomDeleted), in: "r") == false)
    }

    @Test func recordingNeedsAStore() async throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "r", identity: "ann")
        #expect(await gateway.gateway.rooms.attempt(.startRecording, in: "r") == false)
        try ann.settle()
        #expect(ann.events.isEmpty)
    }
}
