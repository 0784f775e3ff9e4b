import Backend
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

    private func connect() async throws -> NATSBroker {
        try await NATSBroker.start(NATSSettings(servers: [cluster.nats.address], bucket: "b", subjects: []), onEvent: { _ in })
    }

    private func record(of room: String, _ broker: NATSBroker) async throws -> (RoomRecord, revision: UInt64) {
        let key = Cluster.ClusterNode.key(of: room)
        let read = await withCheckedContinuation { continuation in broker.read(key) { continuation.resume(returning: $0) } }
        let stored = try #require(try read.get())
        return (try #require(RoomRecord(stored.value)), stored.revision)
    }

    /// The snapshot that another node would continue a room from now.
    private func snapshot(of room: String) async throws -> [UInt8] {
        let broker = try await connect()
        let snapshot = try await record(of: room, broker).0.snapshot
        await broker.close()
        return snapshot
    }

    /// Changes the record of a room that was handed over, as if its home had ended without handing it over.
    ///
    /// - Parameter snapshot: the latest one that the home has written; nil for that of the record.
    private func loseHome(of room: String, snapshot: [UInt8]? = nil) async throws {
        let broker = try await connect()
        var (record, revision) = try await record(of: room, broker)
        #expect(record.home == nil && !record.snapshot.isEmpty)
        record.home = NodeIdentity(name: "lost", incarnation: 1)
        if let snapshot { record.snapshot = snapshot }
        let bytes = record.bytes
        let written = await withCheckedContinuation { continuation in
            broker.write(bytes, of: Cluster.ClusterNode.key(of: room), after: revision) { continuation.resume(returning: $0) }
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

    @Test func tokenThatALostNodeGaveOutAfterItsSnapshotResumes() async throws {
        let ann = try first.join("ann")
        // The reply promises that the record has the track, and so its publisher.
        let track = try ann.publish()
        let snapshot = try await snapshot(of: "r")
        let resumed = try Caller(resuming: ann, on: first)
        try resumed.settle()
        first.gateway.drain()
        #expect(try resumed.closeCode() == 4005)
        try await loseHome(of: "r", snapshot: snapshot)
        try Patience.until("the room is restored") { try ask("GET", "/v1/rooms/r", at: second).status == 200 }
        let again = try Caller(movedFrom: resumed, to: second)
        #expect(again.hello.resumed == true && again.hello.participant.sid == ann.hello.participant.sid)
        #expect(again.hello.participant.tracks?.map(\.sid) == [track.sid])
        #expect(Set([ann, resumed, again].map(\.hello.resumeToken)).count == 3)
    }

    @Test func roomOfALostNodeIsDeleted() async throws {
        _ = try handedOver()
        try await loseHome(of: "r")
        try Patience.until("it is deleted") { try ask("DELETE", "/v1/rooms/r", at: second).status == 200 }
        try Patience.until("it has no home") { try second.homeRooms == 0 }
        #expect(try ask("DELETE", "/v1/rooms/r", at: second).status == 404)
    }

    /// For example, a user leaves a call while nobody has come back to its room.
    @Test func commandOfAServiceReachesARoomWithoutAHome() throws {
        let (ann, _) = try handedOver()
        second.gateway.rooms.send(.remove(Identity(text: "bob")), to: "r")
        try Patience.until("the room goes on for the command") { try second.homeRooms == 1 }
        try Patience.until("he is removed") {
            let answer = try ask("GET", "/v1/rooms/r", at: second)
            return answer.status == 200 && answer.text.contains("\"ann\"") && !answer.text.contains("\"bob\"")
        }
        let again = try Caller(movedFrom: ann, to: second)
        #expect(!again.hello.participants.contains { $0.identity.text == "bob" })
    }

    @Test func questionAboutAHandedOverRoomIsAnswered() throws {
        _ = try handedOver()
        let answer = try ask("GET", "/v1/rooms/r", at: second)
        #expect(answer.status == 200 && answer.text.contains("\"ann\"") && answer.text.contains("\"bob\""), "\(answer.text)")
        #expect(try ask("GET", "/v1/rooms", at: second).text.contains("\"name\":\"r\""))
    }

    @Test func roomThatALostNodeHadNeverWrittenIsNotFound() async throws {
        _ = try handedOver()
        try await loseHome(of: "r", snapshot: [])
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
