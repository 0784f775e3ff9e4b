import Engine
import Gateway
import HTTPServer
import Identity
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
        let rooms = try await gateway.gateway.rooms.rooms()
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
        #expect(try await gateway.gateway.rooms.rooms().isEmpty)
        #expect(await gateway.gateway.rooms.attempt(.close(.roomDeleted), in: "r") == false)
    }

    @Test func recordingNeedsAStore() async throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "r", identity: "ann")
        #expect(await gateway.gateway.rooms.attempt(.startRecording, in: "r") == false)
        try ann.settle()
        #expect(ann.events.isEmpty)
    }

    @Test func dataForUnknownParticipantsReachesNobody() async throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "r", identity: "ann")
        let message = DataMessage(topic: "t", payload: .text("x"), to: [Identity(text: "bob")])
        #expect(await gateway.gateway.rooms.attempt(.sendData(message), in: "r"))
        try ann.settle()
        #expect(ann.events.isEmpty)
    }

    @Test func participantIsUpdated() async throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "r", identity: "ann", shard: 0) { $0.attributes = ["old": "1"] }
        let bob = try Caller(gateway, room: "r", identity: "bob", shard: 1)
        let update = ParticipantUpdate(name: "Ann A.", attributes: ["old": "", "new": "2"])
        let command = Room.AdminCommand.updateParticipant(Identity(text: "ann"), update, Permission(canPublish: false))
        try await gateway.gateway.rooms.perform(command, in: "r")
        for caller in [ann, bob] {
            let info = try caller.event("the update") { if case .participantUpdated(let info, _) = $0 { info } else { nil } }
            #expect(info.name == "Ann A." && info.attributes == ["new": "2"] && !info.permission.canPublish)
            try caller.settle()
            #expect(!caller.events.contains { if case .participantUpdated = $0 { true } else { false } })
        }
        _ = try ann.event("a token") { if case .tokenRefreshed(let token, _) = $0 { token } else { nil } }
        let long = ParticipantUpdate(metadata: String(repeating: "m", count: ProtocolLimits.metadataBytesMax + 1))
        #expect(await code(.updateParticipant(Identity(text: "ann"), long, nil), gateway) == .limitExceeded)
        #expect(await code(.updateParticipant(Identity(text: "eve"), update, nil), gateway) == .participantNotFound)
    }

    @Test func subscriptionsAreChanged() async throws {
        let gateway = try TestGateway()
        let ann = try Caller(gateway, room: "r", identity: "ann", shard: 0)
        let bob = try Caller(gateway, room: "r", identity: "bob", shard: 1)
        let track = try bob.publish()
        try ann.settle()
        let annsName = Identity(text: "ann")
        try await gateway.gateway.rooms.perform(.subscribe(annsName, [track.sid], false), in: "r")
        // The change of the forwarding table precedes the answer to the next request.
        try ann.settle()
        try bob.settle()
        for number in 0..<3 { try bob.say(TestFrame.bytes(track.alias, number)) }
        try bob.settle()
        try await gateway.gateway.rooms.perform(.subscribe(annsName, [track.sid], true), in: "r")
        try ann.settle()
        try bob.settle()
        try bob.say(TestFrame.bytes(track.alias, 3))
        #expect(TestFrame.sequence(of: try ann.frame()) == 3)
        #expect(await code(.subscribe(annsName, [TrackSID(text: "TR_none")], true), gateway) == .trackNotFound)
        #expect(await code(.subscribe(Identity(text: "eve"), [track.sid], true), gateway) == .participantNotFound)
        #expect(await code(.subscribe(Identity(text: "bob"), [track.sid], true), gateway) == .invalidArgument)
        try await gateway.gateway.rooms.perform(.updatePermission(annsName, Permission(canSubscribe: false)), in: "r")
        #expect(await code(.subscribe(annsName, [track.sid], true), gateway) == .notAllowed)
    }

    /// The code with which a command in the room `r` is refused.
    private func code(_ command: Room.AdminCommand, _ gateway: TestGateway) async -> ErrorCode? {
        let rooms = gateway.gateway.rooms
        return await #expect(throws: HTTPError.self) { try await rooms.perform(command, in: "r") }?.code
    }
}
