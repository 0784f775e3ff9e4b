import CopilotModel
import Foundation
import PatchbayClient
import Synchronization
import Testing

/// A gateway in memory.
private final class FakeBackend: CopilotBackend {
    struct State {
        var isLoggedIn = true
        var values: String
        var failure: AccountError?
        var changes: [Settings.Change] = []
        var ids: [String] = []
    }

    static let pageSize = 2
    let state: Mutex<State>

    init(hasSeenOnboarding: Bool = true, isLoggedIn: Bool = true, sessions: [String] = []) {
        let values = """
            {"loggingEnabled":false,"retentionDays":30,"hasSeenOnboarding":\(hasSeenOnboarding),"sharesPastSummaries":false,"pushesSummaries":true,\
            "reachableBy":"contacts"}
            """
        state = Mutex(State(isLoggedIn: isLoggedIn, values: values, ids: sessions))
    }

    func fail(_ failure: AccountError?) { state.withLock { $0.failure = failure } }

    private func check() throws(AccountError) {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private static func decode<Value: Decodable>(_ text: String) -> Value {
        do { return try JSONDecoder().decode(Value.self, from: Data(text.utf8)) } catch { preconditionFailure("\(error)") }
    }

    func isLoggedIn() async -> Bool { state.withLock { $0.isLoggedIn } }

    func register(email: String, password: String) async throws(AccountError) { try await login(email: email, password: password) }

    func login(email: String, password: String) async throws(AccountError) {
        try check()
        state.withLock { $0.isLoggedIn = true }
    }

    func logout() async throws(AccountError) {
        state.withLock { $0.isLoggedIn = false }
        try check()
    }

    func settings() async throws(AccountError) -> Settings.Values {
        try check()
        return Self.decode(state.withLock { $0.values })
    }

    func change(_ change: Settings.Change) async throws(AccountError) -> Settings.Values {
        try check()
        var values: Settings.Values = Self.decode(state.withLock { $0.values })
        if let isEnabled = change.loggingEnabled { values.loggingEnabled = isEnabled }
        if let days = change.retentionDays { values.retentionDays = days }
        if let hasSeen = change.hasSeenOnboarding { values.hasSeenOnboarding = hasSeen }
        let encoded = String(decoding: (try? JSONEncoder().encode(values)) ?? Data(), as: UTF8.self)
        state.withLock { state in
            state.values = encoded
            state.changes.append(change)
        }
        return values
    }

    func sessions(after cursor: String?) async throws(AccountError) -> Sessions.Page {
        try check()
        let ids = state.withLock { $0.ids }
        let start = cursor.flatMap { ids.firstIndex(of: $0) } ?? 0
        let lines = ids[start...].prefix(Self.pageSize).map { id -> Sessions.Line in
            Self.decode(
                """
                {"id":"\(id)","title":"T","summarySnippet":"S","startedAt":"2026-11-21T13:16:56.000Z","endedAt":null}
                """)
        }
        let next = start + Self.pageSize
        return Self.page(lines, next: next < ids.count ? ids[next] : nil)
    }

    private static func page(_ lines: [Sessions.Line], next: String?) -> Sessions.Page {
        Sessions.Page(sessions: lines, next: next)
    }

    func session(_ id: String) async throws(AccountError) -> Sessions.Detail {
        try check()
        return Self.decode(Self.detail(id: id))
    }

    static func detail(id: String, status: String = "pending", summary: String = "null", turns: String = "[]") -> String {
        """
        {"session":{"id":"\(id)","context":"phone","startedAt":"2026-11-21T13:16:56Z","loggingEnabledSnapshot":true,\
        "summaryStatus":"\(status)"},"summary":\(summary),"turns":\(turns)}
        """
    }

    func delete(session id: String) async throws(AccountError) {
        try check()
        state.withLock { $0.ids.removeAll { $0 == id } }
    }

    func deleteAllSessions() async throws(AccountError) {
        try check()
        state.withLock { $0.ids = [] }
    }
}

private let offline = AccountError.badAnswer(status: 502)

@MainActor
struct CopilotTests {
    @Test func withoutALoginTheLoginIsShown() async {
        let copilot = Copilot(backend: FakeBackend(isLoggedIn: false))
        await copilot.load()
        #expect(copilot.screen == .login && copilot.problem == nil)
        await copilot.logIn(email: "ann@example.org", password: "p")
        #expect(copilot.screen == .home)
    }

    @Test(arguments: [true, false]) func consentIsAskedForOnce(isAllowed: Bool) async {
        let backend = FakeBackend(hasSeenOnboarding: false)
        let copilot = Copilot(backend: backend)
        await copilot.load()
        #expect(copilot.screen == .consent && !copilot.isLoggingEnabled)
        await copilot.answerConsent(isAllowed)
        #expect(copilot.screen == .home && copilot.isLoggingEnabled == isAllowed)
        #expect(backend.state.withLock { $0.changes } == [Settings.Change(loggingEnabled: isAllowed, hasSeenOnboarding: true)])
        let next = Copilot(backend: backend)
        await next.load()
        #expect(next.screen == .home)
    }

    @Test func anAnswerThatIsNotStoredIsNoConsent() async {
        let backend = FakeBackend(hasSeenOnboarding: false)
        let copilot = Copilot(backend: backend)
        await copilot.load()
        backend.fail(offline)
        await copilot.answerConsent(true)
        #expect(copilot.screen == .consent && !copilot.isLoggingEnabled && copilot.problem != nil)
    }

    @Test func anUnreachableGatewayIsSaidAndTriedAgain() async {
        let backend = FakeBackend()
        backend.fail(offline)
        let copilot = Copilot(backend: backend)
        await copilot.load()
        #expect(copilot.screen == .unreachable && copilot.problem != nil && !copilot.isBusy)
        backend.fail(nil)
        await copilot.load()
        #expect(copilot.screen == .home && copilot.problem == nil)
        // Later failures do not change the screen.
        backend.fail(offline)
        await copilot.load()
        #expect(copilot.screen == .home)
    }

    @Test func aLoginThatEndsLeavesNothingOfTheUser() async {
        let backend = FakeBackend(sessions: ["a"])
        let copilot = Copilot(backend: backend)
        await copilot.load()
        await copilot.refresh()
        await copilot.open("a")
        backend.fail(.loggedOut)
        await copilot.refresh()
        #expect(copilot.screen == .login && copilot.sessions == [] && copilot.detail == nil && copilot.settings == nil)
    }

    @Test func loggingOutWorksWithoutTheGateway() async {
        let backend = FakeBackend(sessions: ["a"])
        let copilot = Copilot(backend: backend)
        await copilot.load()
        await copilot.refresh()
        backend.fail(offline)
        await copilot.logOut()
        #expect(copilot.screen == .login && copilot.sessions == [] && !copilot.isLoggingEnabled)
    }

    @Test func sessionsAreReadPageByPage() async {
        let copilot = Copilot(backend: FakeBackend(sessions: ["a", "b", "c", "d", "e"]))
        await copilot.load()
        await copilot.refresh()
        #expect(copilot.sessions.map(\.id) == ["a", "b"] && copilot.hasMoreSessions)
        await copilot.loadMore()
        await copilot.loadMore()
        #expect(copilot.sessions.map(\.id) == ["a", "b", "c", "d", "e"] && !copilot.hasMoreSessions)
        await copilot.loadMore()
        #expect(copilot.sessions.count == 5)
    }

    @Test func deletedSessionsDisappear() async {
        let backend = FakeBackend(sessions: ["a", "b", "c"])
        let copilot = Copilot(backend: backend)
        await copilot.load()
        await copilot.refresh()
        await copilot.open("a")
        #expect(copilot.detail?.session.id == "a")
        await copilot.delete("a")
        #expect(copilot.sessions.map(\.id) == ["b"] && copilot.detail == nil)
        backend.fail(offline)
        await copilot.delete("b")
        #expect(copilot.sessions.map(\.id) == ["b"] && copilot.problem != nil)
        backend.fail(nil)
        await copilot.deleteAll()
        #expect(copilot.sessions == [] && !copilot.hasMoreSessions)
    }

    @Test(arguments: [(1, 7), (30, 30), (1_000, 365)]) func retentionStaysWithinItsRange(days: Int, kept: Int) async {
        let copilot = Copilot(backend: FakeBackend())
        await copilot.load()
        await copilot.setRetention(days: days)
        #expect(copilot.settings?.retentionDays == kept)
    }
}
