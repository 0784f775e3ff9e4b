package import HTTPServer
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
