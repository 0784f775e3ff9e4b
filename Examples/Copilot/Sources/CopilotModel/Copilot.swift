public import Observation
public import PatchbayClient

/// The state of the app's screens: login, consent, sessions and settings. The call has its own state (`AssistantCall`).
@MainActor @Observable
public final class Copilot {
    public enum Screen: Sendable, Hashable {
        case loading, login
        /// The consent screen, shown once.
        case consent
        case home
        /// The settings could not be read. The user may retry, or call nevertheless.
        case unreachable
    }

    public private(set) var screen = Screen.loading
    public private(set) var settings: Settings.Values?
    public private(set) var sessions: [Sessions.Line] = []
    public private(set) var hasMoreSessions = false
    /// The session that is open on the phone.
    public private(set) var detail: Sessions.Detail?
    /// A description of the latest failed request. The next request removes it.
    public private(set) var problem: String?
    public private(set) var isBusy = false

    private let backend: any CopilotBackend
    private var nextPage: String?

    public init(backend: any CopilotBackend) {
        self.backend = backend
    }

    /// Whether sessions are logged, as far as known.
    public var isLoggingEnabled: Bool { settings?.loggingEnabled ?? false }

    // MARK: Login and consent

    /// Determines the first screen, at launch and when the app becomes active.
    ///
    /// Does nothing during another request, so that an older response does not replace a newer one.
    public func load() async {
        guard !isBusy else { return }
        guard await backend.isLoggedIn() else { return show(.login) }
        if await attempt({ settings = try await backend.settings() }) == .loggedOut { return }
        guard settings != nil else { return show(.unreachable) }
        show(settings?.hasSeenOnboarding == false ? .consent : .home)
    }

    public func register(email: String, password: String) async {
        if await perform({ try await backend.register(email: email, password: password) }) { await load() }
    }

    public func logIn(email: String, password: String) async {
        if await perform({ try await backend.login(email: email, password: password) }) { await load() }
    }

    /// Logs out on this device, even if the gateway cannot be reached.
    public func logOut() async {
        await perform { try await backend.logout() }
        forget()
        show(.login)
    }

    /// Stores the answer on the consent screen. Until it is stored, the screen stays and nothing is logged.
    public func answerConsent(_ isAllowed: Bool) async {
        let change = Settings.Change(loggingEnabled: isAllowed, hasSeenOnboarding: true)
        if await perform({ settings = try await backend.change(change) }) { show(.home) }
    }

    // MARK: Settings

    public func setLogging(_ isEnabled: Bool) async {
        await perform { settings = try await backend.change(Settings.Change(loggingEnabled: isEnabled)) }
    }

    /// - Parameter days: clamped to the permitted range.
    public func setRetention(days: Int) async {
        let range = Settings.Values.retentionDaysRange
        let days = min(max(days, range.lowerBound), range.upperBound)
        await perform { settings = try await backend.change(Settings.Change(retentionDays: days)) }
    }

    // MARK: Sessions

    /// Reloads the newest sessions.
    public func refresh() async {
        await perform {
            let page = try await backend.sessions(after: nil)
            (sessions, nextPage, hasMoreSessions) = (page.sessions, page.next, page.next != nil)
        }
    }

    /// Loads older sessions when the user reaches the end of the list.
    public func loadMore() async {
        guard let cursor = nextPage else { return }
        await perform {
            let page = try await backend.sessions(after: cursor)
            // Another request has loaded this page already.
            guard nextPage == cursor else { return }
            let known = Set(sessions.map(\.id))
            sessions += page.sessions.filter { !known.contains($0.id) }
            (nextPage, hasMoreSessions) = (page.next, page.next != nil)
        }
    }

    public func open(_ id: String) async {
        if detail?.session.id != id { detail = nil }
        await perform { detail = try await backend.session(id) }
    }

    public func delete(_ id: String) async {
        let isDeleted = await perform { try await backend.delete(session: id) }
        guard isDeleted else { return }
        sessions.removeAll { $0.id == id }
        if detail?.session.id == id { detail = nil }
    }

    public func deleteAll() async {
        guard await perform({ try await backend.deleteAllSessions() }) else { return }
        (sessions, nextPage, hasMoreSessions, detail) = ([], nil, false, nil)
    }

    // MARK: Requests

    /// - Returns: whether the request succeeded.
    @discardableResult
    private func perform(_ request: () async throws -> Void) async -> Bool {
        await attempt(request) == nil
    }

    /// - Returns: the error of a request that failed.
    private func attempt(_ request: () async throws -> Void) async -> AccountError? {
        isBusy = true
        problem = nil
        defer { isBusy = false }
        do {
            try await request()
            return nil
        } catch {
            // The backend throws only `AccountError`.
            guard let error = error as? AccountError else { preconditionFailure("an unexpected error: \(error)") }
            problem = Texts.text(of: error)
            if error == .loggedOut {
                forget()
                show(.login)
            }
            return error
        }
    }

    private func show(_ screen: Screen) {
        self.screen = screen
    }

    /// Removes the user's data, so that nothing remains for the next user.
    private func forget() {
        (settings, sessions, nextPage, hasMoreSessions, detail) = (nil, [], nil, false, nil)
    }
}
