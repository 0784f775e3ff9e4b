import Cluster
import Engine
import Gateway
import HTTPServer
import Identity
import TestProcesses
import Testing
import Wire

/// Requests about rooms whose home has ended or has handed them over, before any client has come back.
@Suite(.onOwnThread, .serialized, .enabled(if: NATSServer.isInstalled), .timeLimit(.minutes(2)))
struct LostHomeTests {
    private let cluster: TestCluster
    private let (first, second): (TestGateway, TestGateway)

    init() throws {
        cluster = try TestCluster()
        (first, second) = try cluster.startPair()
    }

    private func ask(_ method: String, _ path: String, at gateway: TestGateway) throws -> HTTPAnswer {
        let token = TestToken.administering { ($0.roomAdmin, $0.roomCreate, $0.roomList, $0.room) = (true, true, true, "r") }
        let ask = HTTPAsk(method: method, path: path, fields: [("Authorization", "Bearer \(token)"), ("Connection", "close")])
        guard let answer = try ask.answer(port: gateway.port) else { throw DidNotHappen(what: "an answer to \(method) \(path)") }
        return answer
    }

    /// Ann and Bob are in a room that its home hands over.
    private func handedOver() throws -> (ann: Caller, bob: Caller) {
        let (ann, bob) = (try first.join("ann"), try first.join("bob"))
        first.gateway.drain()
        #expect(try ann.closeCode() == 4005 && bob.closeCode() == 4005)
        return (ann, bob)
    }

    /// Changes the record of a room that was handed over, as if its home had ended without handing it over.
    private func loseHome(of room: String, snapshot isKept: Bool = true) async throws {
        let broker = try await NATSBroker.start(
            NATSSettings(servers: [cluster.nats.address], bucket: "b", subjects: []), onEvent: { _ in })
        let key = Cluster.ClusterNode.key(of: room)
        let read = await withCheckedContinuation { continuation in broker.read(key) { continuation.resume(returning: $0) } }
        let stored = try #require(try read.get())
        var record = try #require(RoomRecord(stored.value))
        #expect(record.home == nil && !record.snapshot.isEmpty)
        record.home = NodeIdentity(name: "lost", incarnation: 1)
        if !isKept { record.snapshot = [] }
        let bytes = record.bytes
        let written = await withCheckedContinuation { continuation in
            broker.write(bytes, of: key, after: stored.revision) { continuation.resume(returning: $0) }
        }
        _ = try written.get()
        await broker.close()
    }

    @Test func participantOfAHandedOverRoomIsRemovedBeforeItResumes() throws {
        let (ann, _) = try handedOver()
        #expect(try ask("DELETE", "/v1/rooms/r/participants/bob", at: second).status == 200)
        #expect(try second.homeRooms == 1, "the request has restored the room")
        let again = try Caller(movedFrom: ann, to: second)
        #expect(again.hello.participant.sid == ann.hello.participant.sid)
        #expect(!again.hello.participants.contains { $0.identity.text == "bob" })
    }

    @Test func participantOfALostNodeIsRemovedBeforeItResumes() async throws {
        let (ann, _) = try handedOver()
        try await loseHome(of: "r")
        // It cannot be known at once that a node has ended.
        try Patience.until("he is removed") {
            let answer = try ask("DELETE", "/v1/rooms/r/participants/bob", at: second)
            #expect(answer.status == 200 || answer.fields["x-patchbay-error"] == "home_unavailable", "\(answer.text)")
            return answer.status == 200
        }
        let again = try Caller(movedFrom: ann, to: second)
        #expect(!again.hello.participants.contains { $0.identity.text == "bob" })
    }

    @Test func roomOfALostNodeIsDeleted() async throws {
        _ = try handedOver()
        try await loseHome(of: "r")
        try Patience.until("it is deleted") { try ask("DELETE", "/v1/rooms/r", at: second).status == 200 }
        try Patience.until("it has no home") { try second.homeRooms == 0 }
        #expect(try ask("DELETE", "/v1/rooms/r", at: second).status == 404)
    }

    @Test func questionAboutAHandedOverRoomIsAnswered() throws {
        _ = try handedOver()
        let answer = try ask("GET", "/v1/rooms/r", at: second)
        #expect(answer.status == 200 && answer.text.contains("\"ann\"") && answer.text.contains("\"bob\""), "\(answer.text)")
        #expect(try ask("GET", "/v1/rooms", at: second).text.contains("\"name\":\"r\""))
    }

    @Test func roomThatALostNodeHadNeverWrittenIsNotFound() async throws {
        _ = try handedOver()
        try await loseHome(of: "r", snapshot: false)
        try Patience.until("it is not found") { try ask("GET", "/v1/rooms/r", at: second).status == 404 }
        #expect(try second.homeRooms == 0, "no room begins")
    }

    @Test func roomThatHasEndedIsNotFoundAnywhere() throws {
        let ann = try Caller(first, room: "r", identity: "ann")
        try ann.socket.send(text: #"{"type":"leave","data":{}}"#)
        try Patience.until("the room has no home") { try first.homeRooms == 0 }
        for gateway in [first, second] {
            try Patience.until("the room has ended") { try ask("GET", "/v1/rooms/r", at: gateway).status == 404 }
            #expect(try ask("DELETE", "/v1/rooms/r/participants/ann", at: gateway).status == 404)
            #expect(try gateway.homeRooms == 0, "a question does not begin the room")
        }
    }

    @Test func withoutTheBrokerNobodyHearsThatARoomIsNotOpen() throws {
        _ = try first.join("ann")
        cluster.nats.kill()
        for method in ["GET", "DELETE"] {
            let answer = try ask(method, "/v1/rooms/r", at: second)
            #expect(answer.status == 503 && answer.fields["x-patchbay-error"] == "home_unavailable", "\(answer.text)")
        }
        #expect(try ask("GET", "/v1/rooms/r", at: first).status == 200, "its home answers")
    }
}
