internal import Foundation
internal import NIOHTTP1

/// A user's account on a gateway with a store (docs/protocol/accounts.md): login, token renewal, sessions and settings.
///
///     let account = try Account(url: "https://voice.example.org", storage: keychain)
///     if await !account.isLoggedIn { try await account.login(email: email, password: password) }
///     let started = try await account.sessions.start(.phone)
///     let channel = try await Channel.connect(url: url) { try await account.accessToken() }
///
/// Each request uses its own connection and a valid access token. Concurrent requests share one renewal, because a refresh token is valid
/// only once. If the gateway rejects the tokens, they are removed from the storage and requests throw `AccountError.loggedOut`.
public actor Account {
    /// Access tokens that expire within this time are renewed before use, in seconds.
    static let renewalMargin: TimeInterval = 60

    let gateway: GatewayHTTP
    private let storage: any TokenStorage
    private let now: @Sendable () -> Date
    /// Nil until the storage was read.
    private var login: Login?
    private var renewal: Task<AccountTokens, any Error>?
    /// The latest save.
    private var saving: Task<Void, any Error>?

    private struct Login {
        var tokens: AccountTokens?
        /// Whether the storage failed to save these tokens. The next request tries again.
        var isUnsaved = false
    }

    /// - Parameters:
    ///   - url: `https://host[:port]` or `wss://host[:port]`; the port defaults to 443.
    ///   - storage: stores the tokens, for example in the Keychain. The default keeps them in memory only.
    ///   - timeout: the maximum duration of each request.
    /// - Throws: `ConnectError` of kind `badURL`.
    public init(
        url: String, storage: any TokenStorage = MemoryTokenStorage(), trust: TLSTrust = .system, timeout: Duration = .seconds(15)
    ) throws(ConnectError) {
        self.init(
            gateway: GatewayHTTP(address: try GatewayAddress(url), trust: trust, timeout: timeout), storage: storage, now: { Date() })
    }

    /// - Parameter now: returns the wall-clock time.
    init(gateway: GatewayHTTP, storage: any TokenStorage, now: @escaping @Sendable () -> Date) {
        self.gateway = gateway
        self.storage = storage
        self.now = now
    }

    // MARK: Login

    /// Creates an account and logs in.
    ///
    /// - Parameter password: 8 to 1,024 characters.
    /// - Throws: `AccountError`; `email_taken` if the address has an account.
    @discardableResult
    public func register(email: String, password: String) async throws(AccountError) -> AccountUser {
        let registered = try await authenticate("register", Credentials(email: email, password: password), RegisteredBody.self)
        try await keep(registered.tokens)
        return registered.user
    }

    /// Logs in with an e-mail address and a password.
    ///
    /// - Throws: `AccountError`; `invalid_credentials` for a wrong address or password.
    public func login(email: String, password: String) async throws(AccountError) {
        try await keep(try await authenticate("token", Credentials(email: email, password: password), TokenBody.self))
    }

    /// Removes the tokens from this device and revokes them at the gateway.
    ///
    /// The user is logged out on this device even if revoking fails.
    ///
    /// - Throws: `AccountError` if the gateway or the storage fails.
    public func logout() async throws(AccountError) {
        let tokens = try await tokens()
        try await set(nil)
        guard let tokens else { return }
        _ = try await gateway.send(.POST, "/v1/auth/logout", body: GatewayHTTP.body(RefreshBody(refreshToken: tokens.refreshToken)))
            .checked()
    }

    /// Whether there are tokens. The gateway may have revoked them.
    public var isLoggedIn: Bool {
        get async { (try? await tokens()) != nil }
    }

    /// Returns the user with its settings.
    public func user() async throws(AccountError) -> AccountUser {
        try await send(.GET, "/v1/users/me", AccountUser.self)
    }

    /// Deletes the user with all data, and logs out.
    public func delete() async throws(AccountError) {
        _ = try await send(.DELETE, "/v1/users/me")
        try await set(nil)
    }

    /// The user's sessions.
    public nonisolated var sessions: Sessions { Sessions(account: self) }

    /// The installations that are woken for calls and summaries.
    public nonisolated var devices: PushDevices { PushDevices(account: self) }

    /// The user's settings.
    public nonisolated var settings: Settings { Settings(account: self) }

    // MARK: Tokens

    /// Returns a valid access token, for a `Channel` or for your own requests.
    ///
    /// - Throws: `AccountError`; `loggedOut` without a login, or if the gateway has revoked it.
    public func accessToken() async throws(AccountError) -> String {
        guard let tokens = try await tokens() else { throw .loggedOut }
        guard tokens.expiresAt.timeIntervalSince(now()) < Self.renewalMargin else { return tokens.accessToken }
        do {
            return try await renewed(after: tokens).accessToken
        } catch {
            // The gateway may accept the old token a little longer.
            if case .loggedOut = error { throw error }
            guard tokens.expiresAt > now() else { throw error }
            return tokens.accessToken
        }
    }

    /// Sends a request with a valid access token. If the gateway does not accept the token, it is renewed once.
    func send(
        _ method: HTTPMethod, _ target: String, body: [UInt8] = [], idempotencyKey: String? = nil
    ) async throws(AccountError) -> HTTPExchangeResponse {
        let token = try await accessToken()
        let response = try await gateway.send(method, target, token: token, body: body, idempotencyKey: idempotencyKey)
        guard response.status == 401, let tokens = try await tokens() else { return try response.checked() }
        let next = tokens.accessToken == token ? try await renewed(after: tokens) : tokens
        return try await gateway.send(method, target, token: next.accessToken, body: body, idempotencyKey: idempotencyKey).checked()
    }

    func send<Value: Decodable>(
        _ method: HTTPMethod, _ target: String, body: [UInt8] = [], idempotencyKey: String? = nil, _: Value.Type
    ) async throws(AccountError) -> Value {
        try await send(method, target, body: body, idempotencyKey: idempotencyKey).decoded(Value.self)
    }

    /// Returns the tokens that replace these. Joins a renewal that is already running.
    private func renewed(after tokens: AccountTokens) async throws(AccountError) -> AccountTokens {
        if let current = login?.tokens, current != tokens { return current }
        let task = renewal ?? Task { try await self.renew(tokens) }
        renewal = task
        do {
            return try await task.value
        } catch {
            throw error as? AccountError ?? .unreachable(ConnectError(.unreachable, "\(error)"))
        }
    }

    private func renew(_ tokens: AccountTokens) async throws(AccountError) -> AccountTokens {
        defer { renewal = nil }
        let answer: TokenBody
        do {
            answer = try await authenticate("refresh", RefreshBody(refreshToken: tokens.refreshToken), TokenBody.self)
        } catch {
            guard case .refused(let refusal) = error, refusal.status == 401 else { throw error }
            if login?.tokens == tokens { try? await set(nil) }
            throw .loggedOut
        }
        // A logout or another login during the request takes precedence.
        guard login?.tokens == tokens else {
            guard let others = login?.tokens else { throw .loggedOut }
            return others
        }
        let next = answer.tokens(at: now())
        // The tokens are valid even if saving fails; the next request tries to save them again.
        try? await set(next)
        return next
    }

    private func tokens() async throws(AccountError) -> AccountTokens? {
        if login == nil {
            do {
                let stored = try await storage.load()
                // Another task may have logged in in the meantime.
                if login == nil { login = Login(tokens: stored) }
            } catch {
                throw .storage("\(error)")
            }
        } else if login?.isUnsaved == true {
            try? await save()
        }
        return login?.tokens
    }

    private func keep(_ body: TokenBody) async throws(AccountError) {
        try await set(body.tokens(at: now()))
    }

    private func set(_ tokens: AccountTokens?) async throws(AccountError) {
        login = Login(tokens: tokens, isUnsaved: true)
        try await save()
    }

    /// Saves the current tokens. Saves run one at a time, so a slow one cannot overwrite a later one, such as that of a logout.
    private func save() async throws(AccountError) {
        let previous = saving
        let task = Task {
            _ = await previous?.result
            let saved = login?.tokens
            try await storage.save(saved)
            if login?.tokens == saved { login?.isUnsaved = false }
        }
        saving = task
        do { try await task.value } catch { throw .storage("\(error)") }
    }

    private func authenticate<Value: Decodable>(
        _ route: String, _ body: some Encodable, _: Value.Type
    ) async throws(AccountError) -> Value {
        try await gateway.send(.POST, "/v1/auth/\(route)", body: GatewayHTTP.body(body)).decoded(Value.self)
    }
}

private struct Credentials: Encodable {
    var email: String
    var password: String
}

private struct RefreshBody: Encodable {
    var refreshToken: String
}

private struct TokenBody: Decodable {
    var accessToken: String
    var refreshToken: String
    var expiresIn: Int

    func tokens(at now: Date) -> AccountTokens {
        AccountTokens(
            accessToken: accessToken, refreshToken: refreshToken, expiresAt: now.addingTimeInterval(TimeInterval(expiresIn)))
    }
}

/// The response to a registration: the new user and its tokens.
private struct RegisteredBody: Decodable {
    var user: AccountUser
    var tokens: TokenBody

    init(from decoder: any Decoder) throws {
        user = try AccountUser(from: decoder)
        tokens = try TokenBody(from: decoder)
    }
}
