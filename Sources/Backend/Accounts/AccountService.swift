internal import Foundation
package import HTTPServer
internal import HTTPTypes
internal import Identity
package import Store
internal import Wire

/// User accounts and authentication.
package struct AccountService: Sendable {
    package let store: Accounts
    package let tokens: UserTokens
    let webhooks: WebhookWriter
    package let settings: AccountSettings
    /// Wrong passwords and codes by address and by account, which limits both single and distributed guessing.
    let guesses = GuessLimit()
    /// Accounts that an address may try to create. An attempt counts even if the e-mail address is taken: each costs a password hash, and the
    /// response reveals whether the address has an account.
    private let registrations: RequestRate
    /// Requests for codes by address: each costs a webhook.
    let codeRequests = GuessLimit()

    /// Lifetime of an unused refresh token.
    static let refreshLifetime = Duration.seconds(30 * 86_400)

    package init(store: Accounts, tokens: UserTokens, webhooks: WebhookWriter, settings: AccountSettings = AccountSettings()) {
        self.store = store
        self.tokens = tokens
        self.webhooks = webhooks
        self.settings = settings
        registrations = RequestRate(
            settings.registrationsPerHour, per: .seconds(3_600),
            HTTPError(.tooManyRegistrations, "too many accounts were created from this address; try again later"))
    }

    /// Requires the access token of a user whose address is confirmed, if that is configured.
    package var userAccess: Access<UserID> { access(isConfirmed: settings.confirmsEmail) }

    /// Requires a user's access token, even if its address is not confirmed.
    var ownerAccess: Access<UserID> { access(isConfirmed: false) }

    private func access(isConfirmed: Bool) -> Access<UserID> {
        .token("user", refusing: isConfirmed ? [403] : [], on: store.threads) { request in
            try await user(try tokens.verify(request.bearerToken, now: WallClock.seconds).subject, isConfirmed: isConfirmed)
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
                throw HTTPError(.unknownUser, "the access token's user has been deleted")
            }
            guard standing.tokenGeneration == generation else {
                throw HTTPError(.tokenRevoked, "the password was changed after this token was issued; log in again")
            }
            guard !isConfirmed || !standing.isUnconfirmed else {
                throw HTTPError(
                    .emailUnconfirmed, "the e-mail address is not confirmed; confirm it with the code that was sent to it")
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
            throw HTTPError(.emailTaken, "this e-mail address has an account; log in instead")
        }
        return (user, try await makeTokens(for: user.id))
    }

    /// - Throws: the same `HTTPError` for an unknown user and a wrong password, taking the same time.
    func logIn(_ account: Credentials, _ request: HTTPServerRequest) async throws -> TokenPair {
        let names = [GuessLimit.addressPrefix + request.peerAddress, "account \(account.email.lowercased())"]
        let invalid = HTTPError(.invalidCredentials, "no account has this e-mail address and this password")
        let found = try await guesses.attempt(by: names) {
            try await store.user(email: account.email, password: SecretText(account.password))
        }
        guard let user = found else { throw invalid }
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
            throw HTTPError(.invalidRefreshToken, "the refresh token is invalid or expired; log in again")
        case .reused:
            throw HTTPError(
                .refreshTokenReused,
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
    func changeSettings(of user: UserID, _ change: SettingsChange) async throws -> User {
        let names = change.settings.handle == nil ? [] : ["handles of \(user)"]
        let changed = try await guesses.attempt(by: names) { () -> User? in
            do throws(StoreError) {
                return try await store.updateSettings(of: user) { change.apply(to: &$0) }
            } catch .handleTaken {
                return nil
            }
        }
        guard let changed else { throw StoreError.handleTaken }
        return changed
    }

    /// The name under which addresses that are not found count as failures of a user or an assistant, whether it calls or invites: this limits
    /// how fast existing addresses can be enumerated.
    static func callees(of requester: String) -> String { "callees of \(requester)" }
}

extension WallTime {
    static var now: WallTime { WallTime(milliseconds: WallClock.milliseconds) }
}

extension HTTPError {
    static let idempotencyKeyReused = HTTPError(
        .idempotencyKeyReused,
        "this Idempotency-Key was used for a request with another body; use a new key")
}

extension StoreError: HTTPErrorConvertible {
    package var httpError: HTTPError {
        switch self {
        case .notFound: HTTPError(.notFound, "there is no such thing")
        case .handleTaken: HTTPError(.handleTaken, "another user has this handle; choose another one")
        case .emailTaken: HTTPError(.emailTaken, "this e-mail address has an account")
        case .invalidCursor: HTTPError(.invalidCursor, "the cursor is invalid; start again without one")
        case .keyReused: .idempotencyKeyReused
        case .tooManySessions: HTTPError(.tooManySessions, "this user has 1,000 running sessions; end some first")
        case .tooManyInvitations:
            HTTPError(
                .tooManyInvitations, "this user has not answered 10 of your invitations; wait for an answer",
                retryAfterSeconds: 60)
        case .refused(let reason): HTTPError(.invalidValue, reason)
        case .full:
            HTTPError(
                .storeFull,
                "the store is full; nothing was written, try again later", retryAfterSeconds: 30)
        case .busy, .cancelled:
            HTTPError(.storeBusy, "the store is busy; try again", retryAfterSeconds: 1)
        case .superseded:
            HTTPError(.storeBusy, "the room has moved to another gateway; try again", retryAfterSeconds: 1)
        case .unreachable:
            .storeUnavailable
        default: HTTPError(.storeFailed, "the store failed; see the gateway's log for this request ID")
        }
    }
}

/// Passwords, and codes sent to e-mail addresses.
extension AccountService {
    /// Changes a password and revokes all other tokens.
    func changePassword(of user: UserID, _ change: PasswordChange) async throws -> TokenPair {
        let (current, new) = (SecretText(change.currentPassword), SecretText(change.newPassword))
        let outcome = try await guesses.attempt(by: ["account \(user)"]) { () -> PasswordChangeOutcome? in
            let outcome = try await store.changePassword(of: user, from: current, to: new, at: .now)
            return outcome == .wrongPassword ? nil : outcome
        }
        switch outcome {
        case .changed: return try await makeTokens(for: user)
        case nil, .wrongPassword:
            throw HTTPError(.wrongPassword, "the current password is wrong")
        case .noPassword:
            throw HTTPError(.noPassword, "this account has no password; it belongs to another issuer of tokens")
        }
    }

    /// Responds equally, after the same work, whether the address has an account or not.
    func requestPasswordReset(_ email: String, _ request: HTTPServerRequest) async throws {
        try checkCodeRequests(request)
        try await store.requestPasswordReset(email: email, webhooks: webhooks.accountCodes(at: .now), at: .now)
    }

    /// - Throws: the same `HTTPError` for an unknown address, a wrong code and an expired one.
    func resetPassword(_ reset: PasswordReset, _ request: HTTPServerRequest) async throws -> (UserID, TokenPair) {
        let names = [GuessLimit.addressPrefix + request.peerAddress, "account \(reset.email.lowercased())"]
        let code = AccountCode.Text(typed: reset.code)
        let user = try await guesses.attempt(by: names) {
            try await store.resetPassword(email: reset.email, code: code, to: SecretText(reset.newPassword), at: .now)
        }
        guard let user else { throw HTTPError(.invalidCode, "the code is wrong or expired; request another one") }
        return (user, try await makeTokens(for: user))
    }

    func requestEmailConfirmation(of user: UserID, _ request: HTTPServerRequest) async throws {
        try checkCodeRequests(request)
        switch try await store.requestEmailConfirmation(of: user, webhooks: webhooks.accountCodes(at: .now), at: .now) {
        case .sent, .notNeeded: break
        case .tooSoon:
            throw HTTPError(
                .tooManyCodes, "a code was sent within the last minute; wait for it, or try again in a minute",
                retryAfterSeconds: Int(StoreLimits.codeInterval.components.seconds))
        }
    }

    func confirmEmail(of user: UserID, _ code: String) async throws -> User {
        let confirmed = try await guesses.attempt(by: ["account \(user)"]) {
            try await store.confirmEmail(of: user, code: AccountCode.Text(typed: code), at: .now)
        }
        guard let confirmed else { throw HTTPError(.invalidCode, status: .forbidden, "the code is wrong or expired; request another one") }
        return confirmed
    }

    private func checkCodeRequests(_ request: HTTPServerRequest) throws(HTTPError) {
        guard webhooks.hasEndpoints else {
            throw HTTPError(.noWebhooks, "the gateway cannot send codes; its configuration has no webhook.urls")
        }
        // Every request counts.
        guard let reservation = codeRequests.reserve(1, for: [request.peerAddress]) else { throw .tooManyAttempts }
        codeRequests.settle(reservation, failures: 1)
    }
}
