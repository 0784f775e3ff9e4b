internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Store
internal import Wire

/// Passwords, and codes sent to e-mail addresses.
extension AccountService {
    /// Changes a password and revokes all other tokens.
    func changePassword(of user: UserID, _ change: PasswordChange, _ request: HTTPServerRequest) async throws -> TokenPair {
        let names = ["account \(user)"]
        try checkAttempts(of: names, request)
        let (current, new) = (SecretText(change.currentPassword), SecretText(change.newPassword))
        switch try await store.changePassword(of: user, from: current, to: new, at: .now) {
        case .changed: return try await makeTokens(for: user)
        case .wrongPassword:
            recordFailure(of: names, request)
            throw HTTPError(.forbidden, "wrong_password", "the current password is wrong")
        case .noPassword:
            throw HTTPError(.conflict, "no_password", "this account has no password; it belongs to another issuer of tokens")
        }
    }

    /// Responds equally, after the same work, whether the address has an account or not.
    func requestPasswordReset(_ email: String, _ request: HTTPServerRequest) async throws {
        try checkCodeRequests(request)
        try await store.requestPasswordReset(email: email, webhooks: webhooks.accountCodes(at: .now), at: .now)
    }

    /// - Throws: the same `HTTPError` for an unknown address, a wrong code and an expired one.
    func resetPassword(_ reset: PasswordReset, _ request: HTTPServerRequest) async throws -> (UserID, TokenPair) {
        let names = ["address \(request.peerAddress)", "account \(reset.email.lowercased())"]
        try checkAttempts(of: names, request)
        let code = AccountCode.Text(typed: reset.code)
        guard let user = try await store.resetPassword(email: reset.email, code: code, to: SecretText(reset.newPassword), at: .now) else {
            recordFailure(of: names, request)
            throw HTTPError(.unauthorized, "invalid_code", "the code is wrong or expired; request another one")
        }
        return (user, try await makeTokens(for: user))
    }

    func requestEmailConfirmation(of user: UserID, _ request: HTTPServerRequest) async throws {
        try checkCodeRequests(request)
        switch try await store.requestEmailConfirmation(of: user, webhooks: webhooks.accountCodes(at: .now), at: .now) {
        case .sent, .notNeeded: break
        case .tooSoon:
            throw HTTPError(
                .tooManyRequests, "too_many_codes", "a code was sent within the last minute; wait for it, or try again in a minute",
                retryAfterSeconds: Int(StoreLimits.codeInterval.components.seconds))
        }
    }

    func confirmEmail(of user: UserID, _ code: String, _ request: HTTPServerRequest) async throws -> User {
        let names = ["account \(user)"]
        try checkAttempts(of: names, request)
        guard let confirmed = try await store.confirmEmail(of: user, code: AccountCode.Text(typed: code), at: .now) else {
            recordFailure(of: names, request)
            throw HTTPError(.forbidden, "invalid_code", "the code is wrong or expired; request another one")
        }
        return confirmed
    }

    private func checkCodeRequests(_ request: HTTPServerRequest) throws(HTTPError) {
        guard webhooks.hasEndpoints else {
            throw HTTPError(.serviceUnavailable, "no_webhooks", "the gateway cannot send codes; its configuration has no webhook.urls")
        }
        guard codeRequests.allows(request.peerAddress, at: request.receivedAt) else { throw .tooManyAttempts }
        codeRequests.recordFailure(from: request.peerAddress, at: request.receivedAt)
    }
}
