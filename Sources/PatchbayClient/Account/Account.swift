internal import Foundation
internal import NIOHTTP1

/// A user's account on a gateway with a store (docs/protocol/accounts.md): login, tokens that renew themselves, sessions and settings.
///
///     let account = try Account(url: "https://voice.example.org", storage: keychain)
///     if await !account.isLoggedIn { try await account.login(email: email, password: password) }
///     let started = try await account.sessions.start(.phone)
///     let channel = try await Channel.connect(url: url) { try await account.accessToken() }
///
/// Each request uses a connection of its own and gets a valid access token. Concurrent requests share one renewal, because a refresh token is
/// valid only once. When the gateway accepts the tokens no longer, they are removed from the storage and requests fail with
/// `AccountError.loggedOut`.
public actor Account {
    /// Access tokens that expire within this time are renewed first, in seconds.
    static let renewalMargin: TimeInterval = 60

    let gateway: GatewayHTTP
    private let storage: any TokenStorage
    private let now: @Sendable () -> Date
    /// Nil until the storage was read.
    private var login: Login?
    private var renewal: Task<AccountTokens, any Error>?

    private struct Login {
        var tokens: AccountTokens?
        /// The storage failed to keep these tokens; it is asked again with the next request.
        var isUnsaved = false
    }

    /// - Parameters:
    ///   - url: `https://host[:port]` or `wss://host[:port]`; the port defaults to 7880.
    ///   - storage: keeps the tokens, for example in the Keychain; by default they are lost with the object.
    ///   - timeout: how long each request may take.
    /// - Throws: `ConnectError` of kind `badURL`.
    public init(
        url: String, storage: any TokenStorage = MemoryTokenStorage(), trust: TLSTrust = .system, timeout: Duration = .seconds(15)
    ) throws(ConnectError) {
        self.init(
            gateway: GatewayHTTP(address: try GatewayAddress(url), trust: trust, timeout: timeout), storage: storage, now: { Date() })
    }

    /// - Parameter now: the wall clock.
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

    /// Removes the tokens from this device and revokes them at the gateway. The user is logged out here even if the gateway does not answer,
    /// which this reports.
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

    /// The user with its settings.
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

    /// The user's settings.
    public nonisolated var settings: Settings { Settings(account: self) }

    // MARK: Tokens

    /// A currently valid access token: for a `Channel`, and for requests of your own.
    ///
    /// - Throws: `AccountError`; `loggedOut` without a login, or once the gateway has ended it.
    public func accessToken() async throws(AccountError) -> String {
        guard let tokens = try await tokens() else { throw .loggedOut }
        guard tokens.expiresAt.timeIntervalSince(now()) < Self.renewalMargin else { return tokens.accessToken }
        do {
            return try await renewed(after: tokens).accessToken
        } catch {
            // The gateway cannot be reached now, but the old token may still be accepted a little later.
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

    /// The tokens that follow these, from the running renewal if there is one.
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
        // A logout or another login during the request wins.
        guard login?.tokens == tokens else {
            guard let others = login?.tokens else { throw .loggedOut }
            return others
        }
        let next = answer.tokens(at: now())
        // A storage that fails is asked again with the next request; the tokens are valid nevertheless.
        try? await set(next)
        return next
    }

    private func tokens() async throws(AccountError) -> AccountTokens? {
        if login == nil {
            do {
                let stored = try await storage.load()
                // Another task may have logged in meanwhile.
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

    private func save() async throws(AccountError) {
        let saved = login?.tokens
        do { try await storage.save(saved) } catch { throw .storage("\(error)") }
        if login?.tokens == saved { login?.isUnsaved = false }
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

/// A new user and its tokens, in one object.
private struct RegisteredBody: Decodable {
    var user: AccountUser
    var tokens: TokenBody

    init(from decoder: any Decoder) throws {
        user = try AccountUser(from: decoder)
        tokens = try TokenBody(from: decoder)
    }
}
