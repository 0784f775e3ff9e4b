import Backend
import Engine
import Foundation
import Gateway
import Identity
import Store
import Testing
import Wire

/// The session briefing that an assistant receives in `hello`.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(2)))
struct BriefingTests {
    private static let secret = "the harbour plan"

    private let backend: TestBackend
    private let ann: AppUser

    init() throws {
        backend = try TestBackend { $0.room.resumeWindow = .seconds(20) }
        ann = try AppUser(backend)
    }

    private func assistant(
        in started: StartedSession, on backend: TestBackend? = nil, shard: Int? = nil, _ change: (inout AccessToken) -> Void = { _ in }
    ) throws -> Caller {
        try Caller((backend ?? self.backend).gateway, room: started.room, identity: "assistant:guide", shard: shard) {
            $0.kind = .agent
            change(&$0)
        }
    }

    private func share(_ shares: Bool) throws {
        #expect(try ann.ask("PATCH", "/v1/users/me", ["settings": ["shares_past_summaries": shares]]).status == 200)
    }

    /// Runs a session to its end and waits for its summary.
    @discardableResult
    private func talk(_ text: String) throws -> String {
        // Timestamps have a resolution of 1 ms.
        Thread.sleep(forTimeInterval: 0.002)
        let session = try ann.start().session
        try ann.say(text, in: session)
        try ann.end(session)
        try Patience.until("a summary") { try ann.show(session)["summary"] is [String: Any] }
        return session
    }

    @Test(arguments: [0, 1])
    func assistantReceivesTheClientContext(shard: Int) throws {
        let started = try ann.start(context: "web", clientContext: Self.secret)
        let briefing = try assistant(in: started, shard: shard).hello.session
        #expect(briefing == SessionBriefing(sessionId: started.session, context: "web", clientContext: Self.secret))
    }

    @Test func otherParticipantsReceiveNoBriefing() throws {
        let started = try ann.start(clientContext: Self.secret)
        #expect(try started.join(backend.gateway).hello.session == nil)
        for kind in ParticipantKind.allCases where kind != .agent {
            let other = try Caller(backend.gateway, room: started.room, identity: "other") { $0.kind = kind }
            #expect(other.hello.session == nil, "\(kind)")
        }
    }

    @Test func assistantInAnotherRoomReceivesNoBriefing() throws {
        let started = try ann.start(clientContext: Self.secret)
        let elsewhere = try Caller(backend.gateway, room: "lobby", identity: "assistant:guide") {
            $0.kind = .agent
            $0.sessionID = started.session
        }
        #expect(elsewhere.hello.session == nil)
        let bobs = try AppUser(backend, "bob@example.org").start(clientContext: "nothing much")
        #expect(try assistant(in: bobs) { $0.sessionID = started.session }.hello.session?.clientContext == "nothing much")
    }

    @Test func resumedAssistantReceivesTheBriefingAgain() throws {
        let started = try ann.start(clientContext: Self.secret)
        let before = try assistant(in: started)
        before.socket.socket.reset()
        let again = try Caller(resuming: before, on: backend.gateway)
        #expect(again.hello.resumed == true && again.hello.session == before.hello.session)
    }

    @Test func repeatedStartAfterARestartRestoresTheContext() async throws {
        let bob = try AppUser(backend, "bob@example.org", logs: false)
        let started = try bob.start(clientContext: Self.secret, key: "tap")
        let next = try await backend.restarted()
        #expect(try assistant(in: started, on: next).hello.session?.clientContext == nil)
        #expect(try bob.on(next).start(clientContext: Self.secret, key: "tap").session == started.session)
        #expect(try assistant(in: started, on: next).hello.session?.clientContext == Self.secret)
    }

    @Test func assistantLearnsTheChosenVoiceAndLanguage() throws {
        let started = try ann.start()
        #expect(try assistant(in: started).hello.session?.voice == nil)
        #expect(try ann.ask("PATCH", "/v1/users/me", ["settings": ["voice": "nova", "language": "de-AT"]]).status == 200)
        let briefing = try assistant(in: started).hello.session
        #expect(briefing?.voice == "nova" && briefing?.language == "de-AT")
        let bobs = try AppUser(backend, "bob@example.org").start()
        #expect(try assistant(in: bobs).hello.session?.voice == nil, "another user's choice")
    }

    @Test func sharedSummariesArriveNewestFirst() throws {
        try talk("Please order apples for the cake.")
        try talk("Please book a table at the harbour.")
        let started = try ann.start()
        #expect(try assistant(in: started).hello.session?.pastSummaries == nil, "nobody is asked by saying nothing")
        try share(true)
        let past = try #require(try assistant(in: started).hello.session?.pastSummaries)
        #expect(past.count == 2)
        #expect(past.first?.summary.contains("harbour") == true && past.last?.summary.contains("apples") == true, "\(past)")
        #expect(past.allSatisfy { abs($0.endedAt - TestToken.now) < 60 && !$0.title.isEmpty })
        try share(false)
        #expect(try assistant(in: started).hello.session?.pastSummaries == nil, "shared no longer")
    }

    @Test func anotherUsersSummariesAreNotShared() throws {
        try talk("Please order apples for the cake.")
        let bob = try AppUser(backend, "bob@example.org")
        try bob.ask("PATCH", "/v1/users/me", ["settings": ["shares_past_summaries": true]])
        #expect(try assistant(in: bob.start()).hello.session?.pastSummaries == nil)
    }

    @Test func deletedSessionsLeaveTheBriefing() throws {
        try share(true)
        let first = try talk("Please order apples for the cake.")
        try talk("Please book a table at the harbour.")
        let started = try ann.start()
        #expect(try assistant(in: started).hello.session?.pastSummaries?.count == 2)
        #expect(try ann.ask("DELETE", "/v1/sessions/\(first)").status == 204)
        let past = try #require(try assistant(in: started).hello.session?.pastSummaries)
        #expect(past.count == 1 && !past[0].summary.contains("apples"))
    }

    @Test func laterSummaryIsIncluded() throws {
        try share(true)
        let before = try ann.start().session
        try ann.say("Please order apples for the cake.", in: before)
        Thread.sleep(forTimeInterval: 0.002)
        let started = try ann.start()
        try ann.end(before)
        try Patience.until("the summary is in the briefing") { try assistant(in: started).hello.session?.pastSummaries?.count == 1 }
    }

    @Test func unloggedSessionLeavesNothingOnDisk() async throws {
        let bob = try AppUser(backend, "bob@example.org", logs: false)
        let started = try bob.start(clientContext: Self.secret)
        #expect(try assistant(in: started).hello.session?.clientContext == Self.secret)
        #expect(try !backend.place.holds(Self.secret))
        // Encrypted text could not be found by searching for plaintext.
        let id = try #require(SessionID(text: started.session))
        let user = try #require(UserID(text: bob.id))
        #expect(try await backend.store.sessions.record(of: id, of: user).clientContext == nil)
        #expect(try await backend.store.sessions.background(of: id, of: user).clientContext == nil)
    }

    @Test func briefingSurvivesARestart() async throws {
        try share(true)
        try talk("Please order apples for the cake.")
        let kept = try ann.start(clientContext: Self.secret)
        let before = try #require(try assistant(in: kept).hello.session)
        #expect(before.clientContext == Self.secret && before.pastSummaries?.count == 1)
        let bob = try AppUser(backend, "bob@example.org", logs: false)
        let unkept = try bob.start(clientContext: Self.secret)
        let next = try await backend.restarted()
        #expect(try assistant(in: kept, on: next).hello.session == before)
        #expect(try assistant(in: unkept, on: next).hello.session == SessionBriefing(sessionId: unkept.session, context: "phone"))
    }

    @Test func onlyTheNewestOfManySessionsHaveFullBriefings() throws {
        let sessions = try (0...16).map { try ann.start(clientContext: "number \($0)") }
        #expect(try assistant(in: sessions[0]).hello.session == SessionBriefing(sessionId: sessions[0].session, context: "phone"))
        #expect(try assistant(in: sessions[1]).hello.session?.clientContext == "number 1")
    }
}
