internal import Foundation
package import HTTPServer
internal import HTTPTypes
internal import Identity
package import Store
internal import Wire

/// User accounts and authentication.
package struct AccountService: Sendable {
    package let store: SessionStore
    package let tokens: UserTokens
    let webhooks: WebhookWriter
    package let settings: AccountSettings
    /// Wrong passwords and codes by address and by account, which limits both single and distributed guessing.
    private let failures = AuthFailureLimiter()
    private let registrations: RateLimiter
    /// Requests for codes by address: each costs a webhook.
    let codeRequests = AuthFailureLimiter()

    /// Lifetime of an unused refresh token.
    static let refreshLifetime = Duration.seconds(30 * 86_400)

    package init(store: SessionStore, tokens: UserTokens, webhooks: WebhookWriter, settings: AccountSettings = AccountSettings()) {
        self.store = store
        self.tokens = tokens
        self.webhooks = webhooks
        self.settings = settings
        registrations = .registrations(perHour: settings.registrationsPerHour)
    }

    /// Requires the access token of a user whose address is confirmed, if that is configured.
    package var userAccess: Access<UserID> { access(isConfirmed: settings.confirmsEmail) }

    /// Requires a user's access token, even if its address is not confirmed.
    var ownerAccess: Access<UserID> { access(isConfirmed: false) }

    private func access(isConfirmed: Bool) -> Access<UserID> {
        .token(refusing: isConfirmed ? [403] : [], on: store.threads) { request in
            let subject: UserTokens.Subject
            do throws(TokenError) {
                let text = try RequestToken.extract(authorization: request.headers[.authorization], subprotocols: [], query: nil)
                subject = try tokens.verify(text, now: WallClock.seconds).subject
            } catch {
                throw HTTPError(.unauthorized, error.code, error.message)
            }
            return try await user(subject, isConfirmed: isConfirmed)
        }
    }

    /// - Throws: `HTTPError` with 401 if the user has been deleted or has changed its password, with 403 if its address must be confirmed.
    package func user(_ subject: UserTokens.Subject) async throws -> UserID {
        try await user(subject, isConfirmed: settings.confirmsEmail)
    }

    private func user(_ subject: UserTokens.Subject, isConfirmed: Bool) async throws -> UserID {
        switch subject {
        case .user(let id, let generation):
            guard let standing = try await store.standing(of: id) else {
                throw HTTPError(.unauthorized, "unknown_user", "the access token's user has been deleted")
            }
            guard standing.tokenGeneration == generation else {
                throw HTTPError(.unauthorized, "token_revoked", "the password was changed after this token was issued; log in again")
            }
            guard !isConfirmed || !standing.isUnconfirmed else {
                throw HTTPError(
                    .forbidden, "email_unconfirmed", "the e-mail address is not confirmed; confirm it with the code that was sent to it")
            }
            return id
        case .external(let claims):
            return try await store.user(issuer: claims.issuer, subject: claims.subject, email: claims.email, at: .now).id
        }
    }

    func register(_ account: Credentials, _ request: HTTPServerRequest) async throws -> (User, TokenPair) {
        try registrations.check(request.peerAddress, at: request.receivedAt)
        let user: User
        do throws(StoreError) {
            user = try await store.createUser(
                email: account.email, password: SecretText(account.password),
                confirmedBy: settings.confirmsEmail ? webhooks.accountCodes(at: .now) : nil, at: .now)
        } catch .emailTaken {
            throw HTTPError(.conflict, "email_taken", "this e-mail address has an account; log in instead")
        }
        return (user, try await makeTokens(for: user.id))
    }

    /// - Throws: the same `HTTPError` for an unknown user and a wrong password, taking the same time.
    func logIn(_ account: Credentials, _ request: HTTPServerRequest) async throws -> TokenPair {
        let names = ["address \(request.peerAddress)", "account \(account.email.lowercased())"]
        try checkAttempts(of: names, request)
        let invalid = HTTPError(.unauthorized, "invalid_credentials", "no account has this e-mail address and this password")
        guard let user = try await store.user(email: account.email, password: SecretText(account.password)) else {
            recordFailure(of: names, request)
            throw invalid
        }
        do {
            return try await makeTokens(for: user.id, since: user.tokenGeneration)
        } catch StoreError.notFound {
            // The password has been changed, or the account deleted, while the old password was being checked.
            throw invalid
        }
    }

    func refresh(_ text: String) async throws -> TokenPair {
        switch try await store.renew(text, lasting: Self.refreshLifetime, at: .now) {
        case .renewed(let token): return try tokenPair(token)
        case .unknown:
            throw HTTPError(.unauthorized, "invalid_refresh_token", "the refresh token is invalid or expired; log in again")
        case .reused:
            throw HTTPError(
                .unauthorized, "refresh_token_reused",
                "the refresh token was already used, so all tokens of this login are revoked; log in again")
        }
    }

    /// - Parameter generation: if given, the user's token generation when its password was checked.
    /// - Throws: `StoreError.notFound` if the password has been changed since that generation.
    func makeTokens(for user: UserID, since generation: Int? = nil) async throws -> TokenPair {
        try tokenPair(try await store.makeRefreshToken(for: user, since: generation, lasting: Self.refreshLifetime, at: .now))
    }

    /// Both tokens have the same generation, so that a change of the password in the meantime revokes both.
    private func tokenPair(_ refresh: RefreshToken) throws -> TokenPair {
        let access = try tokens.mint(for: refresh.userID, generation: refresh.tokenGeneration, now: WallClock.seconds)
        return TokenPair(accessToken: access, refreshToken: refresh.text, expiresIn: UserTokens.lifetimeSeconds)
    }

    func checkAttempts(of names: [String], _ request: HTTPServerRequest) throws(HTTPError) {
        guard names.allSatisfy({ failures.allows($0, at: request.receivedAt) }) else {
            throw HTTPError(.tooManyRequests, "too_many_attempts", "too many failed attempts; wait a minute", retryAfterSeconds: 60)
        }
    }

    func recordFailure(of names: [String], _ request: HTTPServerRequest) {
        for name in names { failures.recordFailure(from: name, at: request.receivedAt) }
    }
}

/// The configuration section `accounts`.
package struct AccountSettings: Sendable, Hashable {
    /// Whether accounts with a password may do nothing until their e-mail address is confirmed.
    package var confirmsEmail: Bool
    /// Accounts that an address may create; 0 for no limit.
    package var registrationsPerHour: Int

    package init(confirmsEmail: Bool = false, registrationsPerHour: Int = 0) {
        self.confirmsEmail = confirmsEmail
        self.registrationsPerHour = registrationsPerHour
    }
}

extension AccountService {
    /// Handles that are taken count as failures, which limits how fast existing handles can be enumerated.
    func changeSettings(of user: UserID, _ change: SettingsChange, _ request: HTTPServerRequest) async throws -> User {
        let names = ["handles of \(user)"]
        try checkAttempts(of: change.settings.handle == nil ? [] : names, request)
        do throws(StoreError) {
            return try await store.updateSettings(of: user) { change.apply(to: &$0) }
        } catch .handleTaken {
            recordFailure(of: names, request)
            throw StoreError.handleTaken
        }
    }

    /// Addresses that are not found count as failures, which limits how fast existing addresses can be enumerated.
    func limitingUnknownCallees(of user: UserID, _ request: HTTPServerRequest, _ body: () async throws -> Void) async throws {
        let names = ["callees of \(user)"]
        try checkAttempts(of: names, request)
        do {
            try await body()
        } catch StoreError.notFound {
            recordFailure(of: names, request)
            throw StoreError.notFound
        }
    }
}

extension WallTime {
    static var now: WallTime { WallTime(milliseconds: WallClock.milliseconds) }
}

extension HTTPError {
    static let idempotencyKeyReused = HTTPError(
        .unprocessableContent, "idempotency_key_reused",
        "this Idempotency-Key was used for a request with another body; use a new key")
}

extension StoreError: HTTPErrorConvertible {
    package var httpError: HTTPError {
        switch self {
        case .notFound: HTTPError(.notFound, "not_found", "there is no such thing")
        case .handleTaken: HTTPError(.conflict, "handle_taken", "another user has this handle; choose another one")
        case .emailTaken: HTTPError(.conflict, "email_taken", "this e-mail address has an account")
        case .invalidCursor: HTTPError(.badRequest, "invalid_cursor", "the cursor is invalid; start again without one")
        case .keyReused: .idempotencyKeyReused
        case .tooManySessions: HTTPError(.tooManyRequests, "too_many_sessions", "this user has 1,000 running sessions; end some first")
        case .refused(let reason): HTTPError(.badRequest, "invalid_value", reason)
        case .full:
            HTTPError(
                .init(code: 507, reasonPhrase: "Insufficient Storage"), "store_full",
                "the store is full; nothing was written, try again later", retryAfterSeconds: 30)
        case .busy, .cancelled:
            HTTPError(.serviceUnavailable, "store_busy", "the store is busy; try again", retryAfterSeconds: 1)
        default: HTTPError(.internalServerError, "store_failed", "the store failed; see the gateway's log for this request ID")
        }
    }
}
