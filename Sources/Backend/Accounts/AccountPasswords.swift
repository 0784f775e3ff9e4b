internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Store

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
