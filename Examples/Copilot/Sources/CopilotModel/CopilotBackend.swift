public import PatchbayClient

/// The requests that the app sends to a gateway: an `Account`, or a stand-in for tests and previews.
public protocol CopilotBackend: Sendable {
    func isLoggedIn() async -> Bool
    func register(email: String, password: String) async throws(AccountError)
    func login(email: String, password: String) async throws(AccountError)
    func logout() async throws(AccountError)

    func settings() async throws(AccountError) -> Settings.Values
    func change(_ change: Settings.Change) async throws(AccountError) -> Settings.Values

    func sessions(after cursor: String?) async throws(AccountError) -> Sessions.Page
    func session(_ id: String) async throws(AccountError) -> Sessions.Detail
    func delete(session id: String) async throws(AccountError)
    func deleteAllSessions() async throws(AccountError)
}

/// A backend that uses a user's account.
public struct AccountBackend: CopilotBackend {
    private let account: Account

    public init(_ account: Account) {
        self.account = account
    }

    public func isLoggedIn() async -> Bool { await account.isLoggedIn }

    public func register(email: String, password: String) async throws(AccountError) {
        _ = try await account.register(email: email, password: password)
    }

    public func login(email: String, password: String) async throws(AccountError) {
        try await account.login(email: email, password: password)
    }

    public func logout() async throws(AccountError) {
        try await account.logout()
    }

    public func settings() async throws(AccountError) -> Settings.Values {
        try await account.settings.current()
    }

    public func change(_ change: Settings.Change) async throws(AccountError) -> Settings.Values {
        try await account.settings.change(change)
    }

    public func sessions(after cursor: String?) async throws(AccountError) -> Sessions.Page {
        try await account.sessions.list(after: cursor)
    }

    public func session(_ id: String) async throws(AccountError) -> Sessions.Detail {
        try await account.sessions.detail(id)
    }

    public func delete(session id: String) async throws(AccountError) {
        try await account.sessions.delete(id)
    }

    public func deleteAllSessions() async throws(AccountError) {
        try await account.sessions.deleteAll()
    }
}
