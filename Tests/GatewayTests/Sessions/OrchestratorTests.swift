import Foundation
import Identity
import Store
import Testing
import Wire

/// Turns that assistants and services add to sessions.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct OrchestratorTests {
    private let backend: TestBackend
    private let ann: AppUser

    init() throws {
        backend = try TestBackend()
        ann = try AppUser(backend)
    }

    private func startSession(with assistant: String? = nil, of user: AppUser? = nil) throws -> StartedSession {
        var body = ["context": "phone"]
        body["assistant_id"] = assistant
        return try StartedSession(try (user ?? ann).ask("POST", "/v1/sessions/start", body))
    }

    private func say(_ text: String, in session: String, with token: String, key: String? = nil) throws -> HTTPAnswer {
        let turn = ["speaker": "assistant", "text": text, "timestamp": "2026-11-21T13:16:56Z"]
        return try AppUser(backend, token: token).ask(
            "POST", "/v1/sessions/\(session)/turn", turn, with: key.map { [("Idempotency-Key", $0)] } ?? [])
    }

    private func service(_ room: String) -> String {
        TestToken.administering {
            $0.roomAdmin = true
            $0.room = room
        }
    }

    @Test func assistantAddsTurnsToTheSessionsItServes() throws {
        let started = try startSession(with: "guide")
        let answer = try say("Turn left.", in: started.session, with: TestToken.assistant("guide"), key: "k")
        #expect(answer.status == 200 && answer.json?["stored"] as? Bool == true, "\(answer.text)")
        #expect(try say("Turn left.", in: started.session, with: TestToken.assistant("guide"), key: "k").text == answer.text)
        #expect(try say("Turn right.", in: started.session, with: TestToken.assistant("guide"), key: "k").status == 422)
        #expect(try ann.words(of: started.session) == ["Turn left."])
    }

    @Test func assistantAddsTurnsWhileItsAgentIsInTheRoom() throws {
        let started = try startSession()
        #expect(try say("too early", in: started.session, with: TestToken.assistant("guide")).status == 404)
        let phone = try started.join(backend.gateway)
        let agent = try Caller(backend.gateway, room: started.room, identity: "assistant:guide") { $0.kind = .agent }
        #expect(try say("Turn left.", in: started.session, with: TestToken.assistant("guide")).status == 200)
        #expect(try say("no", in: started.session, with: TestToken.assistant("expert")).status == 404)
        try agent.socket.send(text: #"{"type":"leave"}"#)
        #expect(try agent.closeCode() == 1000)
        try phone.settle()
        try Patience.until("the agent is not served any more") {
            try say("too late", in: started.session, with: TestToken.assistant("guide")).status == 404
        }
        #expect(try ann.words(of: started.session).first == "Turn left.")
    }

    @Test func participantThatIsNoAgentServesNothing() throws {
        let started = try startSession()
        let phone = try started.join(backend.gateway)
        let impostor = try Caller(backend.gateway, room: started.room, identity: "assistant:guide")
        #expect(try say("no", in: started.session, with: TestToken.assistant("guide")).status == 404)
        withExtendedLifetime((phone, impostor)) {}
    }

    @Test func assistantCannotReachOtherSessions() throws {
        let served = try startSession(with: "guide")
        let bob = try AppUser(backend, "bob@example.org")
        let other = try startSession(with: "expert", of: bob)
        let madeUp = UUID().uuidString.lowercased()
        let answers = try [other.session, madeUp].map { try say("no", in: $0, with: TestToken.assistant("guide")) }
        #expect(answers.map(\.status) == [404, 404] && answers[0].text == answers[1].text, "they are not told apart")
        #expect(try bob.words(of: other.session).isEmpty && ann.words(of: served.session).isEmpty)
    }

    @Test func serviceAddsTurnsToTheRoomItAdministers() throws {
        let (started, other) = (try startSession(), try startSession())
        #expect(try say("Turn left.", in: started.session, with: service(started.room)).status == 200)
        #expect(try say("no", in: other.session, with: service(started.room)).status == 403)
        #expect(try say("no", in: started.session, with: service("")).status == 403)
        #expect(try say("no", in: started.session, with: TestToken.administering { $0.roomCreate = true }).status == 403)
        #expect(try say("no", in: started.session, with: TestToken.joining(started.room, as: ann.id)).status == 403)
        #expect(try say("no", in: started.session, with: started.token).status == 403, "a room token is no service's")
        #expect(try ann.words(of: started.session) == ["Turn left."] && ann.words(of: other.session).isEmpty)
        let gone = "session-" + UUID().uuidString.lowercased()
        #expect(try say("no", in: String(gone.dropFirst(8)), with: service(gone)).status == 404)
    }

    @Test func turnsOfAnUnloggedSessionAreNotStored() throws {
        let bob = try AppUser(backend, "bob@example.org", logs: false)
        let started = try startSession(with: "guide", of: bob)
        for token in [TestToken.assistant("guide"), service(started.room)] {
            let answer = try say("a rare sentence", in: started.session, with: token)
            #expect(answer.status == 200 && answer.json?["stored"] as? Bool == false)
        }
        #expect(try bob.words(of: started.session).isEmpty)
    }

    @Test func assistantsAndServicesHaveAMinuteAfterTheEnd() async throws {
        let user = try #require(UserID(text: ann.id))
        let start = WallTime(milliseconds: TestToken.now * 1_000) - .seconds(300)
        for (age, status) in [(30, 200), (90, 409)] {
            let request = SessionRequest(context: "phone", assistantID: "guide")
            let session = try await backend.store.sessions.start(request, of: user, at: start).session
            let end = WallTime(milliseconds: TestToken.now * 1_000) - .seconds(age)
            _ = try await backend.store.sessions.end(session.id, of: user, at: end)
            for token in [TestToken.assistant("guide"), service(session.roomName)] {
                let answer = try say("Turn left.", in: session.id.text, with: token)
                #expect(answer.status == status, "\(answer.text)")
            }
            #expect(try ann.say("Thank you.", in: session.id.text).status == 200, "the user may always")
        }
    }
}
