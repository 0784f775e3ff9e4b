import Foundation
import Gateway
import Identity
import Store
import TestProcesses
import TestStore
import Testing
import Wire

/// The gateways of a cluster after one of them has changed the store that they share.
@Suite(.onOwnThread, .serialized, .enabled(if: NATSServer.isInstalled), .timeLimit(.minutes(2)))
final class SharedStoreTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "shared-store-\(UUID().uuidString)").path
    private let cluster: TestCluster
    private let (first, second): (CoordinatedNode, CoordinatedNode)
    private let ann: UserID

    init() async throws {
        let store = try StorePlace(directory: directory).open(masterKeys: [MasterKey()])
        cluster = try TestCluster()
        (first, second) = try CoordinatedNode.pair(cluster, store)
        ann = try await store.accounts.user(issuer: "tests", subject: "ann", email: nil, at: WallTime(milliseconds: TestToken.now * 1_000))
            .id
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    @Test(arguments: ["/v1/users/me", "/v1/sessions"])
    func deletionEndsTheUsersCallAtAnotherNode(path: String) throws {
        let annInRoom = try sessionAtFirstNode()
        #expect(try first.gateway.homeRooms == 1)
        let deletion = try ask(second, "DELETE", path, bearer: second.token(of: ann))
        #expect(deletion.status == 204)
        #expect(try annInRoom.closeCode() == CloseReason.roomClosed.code)
        let again = HTTPAsk.upgrade(token: TestToken.joining(annInRoom.hello.room.name, as: ann.text), path: "/v1/rtc")
        #expect(try #require(try again.answer(port: first.gateway.port)).fields["x-patchbay-error"] == "session_ended")
    }

    @Test func callGoesOnWhenAnotherSessionIsDeleted() throws {
        let other = try session(at: second)
        let annInRoom = try sessionAtFirstNode()
        let voice = try annInRoom.publish()
        let deletion = try ask(second, "DELETE", "/v1/sessions/\(other.id)", bearer: second.token(of: ann))
        #expect(deletion.status == 204)
        let anotherPhone = try Caller(second.gateway, room: annInRoom.hello.room.name, identity: ann.text + ".2")
        try annInRoom.say(TestFrame.bytes(voice.alias, 1))
        #expect(try anotherPhone.frame() == TestFrame.bytes(voice.alias, 1))
    }

    @Test func tokenOfASessionIsValidAtAnyNode() throws {
        let started = try session(at: first)
        let token = TestToken.joining(started.room, as: ann.text)
        for node in [second, first] { #expect(try ask(node, "GET", "/v1/rtc/validate", bearer: token).status == 200) }
        #expect(try ask(first, "DELETE", "/v1/sessions/\(started.id)", bearer: first.token(of: ann)).status == 204)
        for node in [second, first] { #expect(try ask(node, "GET", "/v1/rtc/validate", bearer: token).code == "session_ended") }
    }

    @Test func assistantInARoomAddsTurnsThroughAnyNode() throws {
        let (session, room) = try session(at: first)
        _ = try Caller(first.gateway, room: room, identity: ann.text)
        _ = try Caller(first.gateway, room: room, identity: CallParty.assistant("shop").identity.text) { $0.kind = .agent }
        func status(_ node: CoordinatedNode, _ assistant: String) throws -> Int {
            let turn = #"{"speaker":"assistant","text":"hello","timestamp":"2026-01-01T00:00:00Z"}"#
            return try ask(node, "POST", "/v1/sessions/\(session)/turn", turn, bearer: TestToken.assistant(assistant)).status
        }
        for node in [second, first] { #expect(try status(node, "shop") == 200) }
        for node in [second, first] { #expect(try status(node, "other") == 404) }
    }

    @Test func wrongPasswordsForAnAccountCountAtAllNodes() throws {
        let guess = #"{"email":"ann@example.org","password":"wrong horse"}"#
        for number in 0..<20 { #expect(try ask(number % 2 == 0 ? first : second, "POST", "/v1/auth/token", guess).status == 401) }
        for node in [first, second] {
            try Patience.until("it knows of all failures") { try ask(node, "POST", "/v1/auth/token", guess).status == 429 }
        }
    }

    @Test func definitionOfAnAssistantIsKnownAtAllNodesAtOnce() throws {
        let administrator = TestToken.administering { $0.roomCreate = true }
        let stored = try ask(first, "PUT", "/v1/assistants/shop", #"{"id":"shop","name":"Shop"}"#, bearer: administrator)
        #expect(stored.status == 200)
        let seen = try ask(second, "GET", "/v1/assistants/shop", bearer: administrator)
        #expect(seen.text.contains(#""name":"Shop""#))
        #expect(try ask(second, "DELETE", "/v1/assistants/shop", bearer: administrator).status == 204)
        #expect(try ask(first, "GET", "/v1/assistants/shop", bearer: administrator).status == 404)
    }

    // MARK: -

    private func session(at node: CoordinatedNode) throws -> (id: String, room: String) {
        let started = try ask(node, "POST", "/v1/sessions/start", #"{"context":"phone"}"#, bearer: node.token(of: ann))
        let json = try #require(started.json)
        return (try #require(json["session_id"] as? String), try #require(json["room_name"] as? String))
    }

    private func sessionAtFirstNode() throws -> Caller {
        try Caller(first.gateway, room: session(at: first).room, identity: ann.text)
    }

    private func ask(
        _ node: CoordinatedNode, _ method: String, _ path: String, _ body: String? = nil, bearer: String? = nil
    ) throws -> HTTPAnswer {
        let fields = [("Connection", "close")] + (bearer.map { [("Authorization", "Bearer \($0)")] } ?? [])
        let ask = body.map { HTTPAsk.json(method, path, $0, with: fields) } ?? HTTPAsk(method: method, path: path, fields: fields)
        return try #require(try ask.answer(port: node.gateway.port))
    }
}
