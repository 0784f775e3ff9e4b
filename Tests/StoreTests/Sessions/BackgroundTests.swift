import Store
import Testing

struct BackgroundTests {
    private let world: StoreWorld
    private var store: Store { world.store }

    init() throws {
        world = try StoreWorld()
    }

    private func makeUser(shares: Bool = true) async throws -> User {
        let user = try await world.makeUser()
        return try await store.accounts.updateSettings(of: user.id) { $0.sharesPastSummaries = shares }
    }

    /// Sessions that are over and summed up, a hundred seconds apart.
    private func talk(_ user: User, times count: Int) async throws -> [Session] {
        var sessions: [Session] = []
        for index in 0..<count {
            sessions.append(try await world.talk(user, ["hi"], at: world.now + .seconds(100 * index)))
            var content = StoreWorld.content
            content.title = "\(index)"
            try await store.sessions.saveSummary(content, for: sessions[index].id, of: user.id, at: world.now)
        }
        return sessions
    }

    @Test func earlierSessionsComeNewestFirst() async throws {
        let user = try await makeUser()
        let sessions = try await talk(user, times: 5)
        let past = try await store.sessions.background(of: sessions[3].id, of: user.id, limit: 2).past
        #expect(past.map(\.id) == [sessions[2].id, sessions[1].id])
        #expect(past.map(\.title) == ["2", "1"] && past.allSatisfy { $0.summaryText == StoreWorld.content.summaryText })
        #expect(past.map(\.endedAt) == [sessions[2], sessions[1]].map(\.endedAt))
    }

    @Test func earlierSessionsNeedTheirOwnersConsent() async throws {
        let user = try await makeUser(shares: false)
        let sessions = try await talk(user, times: 2)
        #expect(try await store.sessions.background(of: sessions[1].id, of: user.id).past.isEmpty)
        _ = try await store.accounts.updateSettings(of: user.id) { $0.sharesPastSummaries = true }
        #expect(try await store.sessions.background(of: sessions[1].id, of: user.id).past.count == 1)
    }

    @Test func openOrUnsummarizedSessionsAreOmitted() async throws {
        let user = try await makeUser()
        try await world.talk(user, ["hi"])
        _ = try await world.startSession(of: user, at: world.now + .seconds(1))
        let session = try await world.startSession(of: user, at: world.now + .seconds(2))
        #expect(try await store.sessions.background(of: session.id, of: user.id).past.isEmpty)
    }

    @Test func otherUsersSessionsAreOmitted() async throws {
        _ = try await talk(makeUser(), times: 1)
        let user = try await makeUser()
        let session = try await world.startSession(of: user, at: world.now + .seconds(100))
        #expect(try await store.sessions.background(of: session.id, of: user.id).past.isEmpty)
    }

    @Test(arguments: [false, true])
    func theClientContextIsKeptForLoggedSessions(isLogged: Bool) async throws {
        let user = try await world.makeUser(isLogged: isLogged)
        let request = SessionRequest(context: "phone", clientContext: "on the road")
        let session = try await store.sessions.start(request, of: user.id, at: world.now).session
        #expect(try await store.sessions.background(of: session.id, of: user.id).clientContext == (isLogged ? "on the road" : nil))
    }
}
