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
    /// Failed logins by address and by account, which limits both single and distributed guessing.
    private let failures = AuthFailureLimiter()

    /// Lifetime of an unused refresh token.
    static let refreshLifetime = Duration.seconds(30 * 86_400)

    package init(store: SessionStore, tokens: UserTokens) {
        self.store = store
        self.tokens = tokens
    }

    /// Requires a user's access token.
    package var userAccess: Access<UserID> {
        .token(on: store.threads) { request in
            let subject: UserTokens.Subject
            do throws(TokenError) {
                let text = try RequestToken.extract(authorization: request.headers[.authorization], subprotocols: [], query: nil)
                subject = try tokens.verify(text, now: WallClock.seconds).subject
            } catch {
                throw HTTPError(.unauthorized, error.code, error.message)
            }
            return try await user(subject)
        }
    }

    /// - Throws: `HTTPError` with 401 if the user has been deleted.
    package func user(_ subject: UserTokens.Subject) async throws -> UserID {
        switch subject {
        case .user(let id):
            guard try await store.isKnown(id) else {
                throw HTTPError(.unauthorized, "unknown_user", "the access token's user has been deleted")
            }
            return id
        case .external(let claims):
            return try await store.user(issuer: claims.issuer, subject: claims.subject, email: claims.email, at: .now).id
        }
    }

    func register(_ account: Credentials) async throws -> (User, TokenPair) {
        let user: User
        do throws(StoreError) {
            user = try await store.createUser(email: account.email, password: SecretText(account.password), at: .now)
        } catch .emailTaken {
            throw HTTPError(.conflict, "email_taken", "this e-mail address has an account; log in instead")
        }
        return (user, try await makeTokens(for: user.id))
    }

    /// - Throws: the same `HTTPError` for an unknown user and a wrong password, taking the same time.
    func logIn(_ account: Credentials, _ request: HTTPServerRequest) async throws -> TokenPair {
        let names = ["address \(request.peerAddress)", "account \(account.email.lowercased())"]
        guard names.allSatisfy({ failures.allows($0, at: request.receivedAt) }) else {
            throw HTTPError(.tooManyRequests, "too_many_attempts", "too many failed attempts; wait a minute", retryAfterSeconds: 60)
        }
        guard let user = try await store.user(email: account.email, password: SecretText(account.password)) else {
            for name in names { failures.recordFailure(from: name, at: request.receivedAt) }
            throw HTTPError(.unauthorized, "invalid_credentials", "no account has this e-mail address and this password")
        }
        return try await makeTokens(for: user.id)
    }

    func refresh(_ text: String) async throws -> TokenPair {
        switch try await store.renew(text, lasting: Self.refreshLifetime, at: .now) {
        case .renewed(let token):
            return TokenPair(
                accessToken: try tokens.mint(for: token.userID, now: WallClock.seconds), refreshToken: token.text,
                expiresIn: UserTokens.lifetimeSeconds)
        case .unknown:
            throw HTTPError(.unauthorized, "invalid_refresh_token", "the refresh token is invalid or expired; log in again")
        case .reused:
            throw HTTPError(
                .unauthorized, "refresh_token_reused",
                "the refresh token was already used, so all tokens of this login are revoked; log in again")
        }
    }

    private func makeTokens(for user: UserID) async throws -> TokenPair {
        let refresh = try await store.makeRefreshToken(for: user, lasting: Self.refreshLifetime, at: .now)
        return TokenPair(
            accessToken: try tokens.mint(for: user, now: WallClock.seconds), refreshToken: refresh.text,
            expiresIn: UserTokens.lifetimeSeconds)
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
        case .emailTaken: HTTPError(.conflict, "email_taken", "this e-mail address has an account")
        case .invalidCursor: HTTPError(.badRequest, "invalid_cursor", "the cursor is invalid; start again without one")
        case .keyReused: .idempotencyKeyReused
        case .refused(let reason): HTTPError(.badRequest, "invalid_value", reason)
        case .full:
            HTTPError(
                .init(code: 507, reasonPhrase: "Insufficient Storage"), "store_full",
                "the store is full; nothing was written, try again later", retryAfterSeconds: 30)
        case .busy, .cancelled:
            HTTPError(.serviceUnavailable, "store_busy", "the store is busy; try again", retryAfterSeconds: 1)
        default: HTTPError(.internalServerError, "store_failed", "the store failed; see the gateway's log")
        }
    }
}
