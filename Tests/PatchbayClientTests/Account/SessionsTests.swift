import Foundation
import PatchbayClient
import Testing
import Wire

@Suite(.timeLimit(.minutes(2)))
struct SessionsTests {
    /// A new user who has answered the consent screen.
    static func account(_ gateway: CallGateway, _ name: String = "ann", logging: Bool = true) async throws -> Account {
        let account = try Account(url: gateway.url, trust: gateway.options.trust, timeout: .seconds(60))
        try await account.register(email: "\(name)@example.org", password: "correct horse battery")
        try await account.settings.answerConsent(logging)
        return account
    }

    private static func turn(_ text: String) -> Sessions.NewTurn {
        Sessions.NewTurn(speaker: .user, text: text, timestamp: Date())
    }

    @Test func aSessionIsStartedJoinedLoggedEndedAndSummarized() async throws {
        try await CallGateway.run { gateway in
            let sessions = try await Self.account(gateway).sessions
            let started = try await sessions.start(.phone, idempotencyKey: "once")
            #expect(try await sessions.start(.phone, idempotencyKey: "once").sessionId == started.sessionId)
            let room = try await RoomConnection.connect(
                url: started.livekitUrl, token: started.livekitToken, options: gateway.options)
            let other = try await sessions.join(started.sessionId, .carplay)
            #expect(other.roomName == started.roomName && room.snapshot.room.name == started.roomName)

            let said = Self.turn("Please book a table for two at the harbour tomorrow at seven.")
            #expect(try await sessions.log(said, in: started.sessionId, idempotencyKey: "turn"))
            #expect(try await sessions.log(said, in: started.sessionId, idempotencyKey: "turn"))
            await room.leave()
            let ended = try await sessions.end(started.sessionId)
            #expect(ended.endedAt != nil && ended.loggingEnabledSnapshot)

            var detail = try await sessions.detail(started.sessionId)
            while detail.summary == nil {
                try await Task.sleep(for: .milliseconds(20))
                detail = try await sessions.detail(started.sessionId)
            }
            #expect(detail.turns.map(\.text) == [said.text] && detail.turns.map(\.speaker) == [.user])
            #expect(abs(detail.turns[0].timestamp.timeIntervalSince(said.timestamp)) < 0.001)
            #expect(detail.session.summaryStatus == .ready && detail.summary?.summaryText.isEmpty == false)
        }
    }

    @Test func aSessionWithoutConsentKeepsNothing() async throws {
        try await CallGateway.run { gateway in
            let sessions = try await Self.account(gateway, logging: false).sessions
            let started = try await sessions.start(.phone)
            #expect(try await !sessions.log(Self.turn("A secret."), in: started.sessionId))
            try await sessions.end(started.sessionId)
            let detail = try await sessions.detail(started.sessionId)
            #expect(detail.turns == [] && detail.summary == nil && detail.session.summaryStatus == .none)
        }
    }

    @Test func listsHavePages() async throws {
        try await CallGateway.run { gateway in
            let sessions = try await Self.account(gateway).sessions
            var ids: [String] = []
            for _ in 0..<5 { ids.append(try await sessions.start(.web).sessionId) }
            var listed: [String] = []
            var page = try await sessions.list(limit: 2)
            while true {
                listed += page.sessions.map(\.id)
                guard let next = page.next else { break }
                page = try await sessions.list(limit: 2, after: next)
            }
            #expect(listed == ids.reversed())
            try await sessions.delete(ids[0])
            #expect(try await sessions.list().sessions.count == 4)
            try await sessions.deleteAll()
            #expect(try await sessions.list() == Sessions.Page(sessions: [], next: nil))
        }
    }

    @Test func anotherUsersSessionDoesNotExist() async throws {
        try await CallGateway.run { gateway in
            let started = try await Self.account(gateway).sessions.start(.phone)
            let stranger = try await Self.account(gateway, "bob").sessions
            for attempt: () async throws -> Void in [
                { _ = try await stranger.detail(started.sessionId) }, { _ = try await stranger.end(started.sessionId) },
                { _ = try await stranger.join(started.sessionId, .phone) }, { try await stranger.delete(started.sessionId) },
            ] {
                let error = await #expect(throws: AccountError.self) { try await attempt() }
                guard case .refused(let refusal) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(refusal.status == 404 && refusal.code == .notFound)
            }
            #expect(try await stranger.list().sessions == [])
        }
    }
}
