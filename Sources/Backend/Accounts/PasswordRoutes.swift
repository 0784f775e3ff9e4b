internal import HTTPServer
internal import HTTPTypes
internal import Sockets
internal import Store

/// Change and reset of passwords, and confirmation of e-mail addresses. Codes reach users through webhooks.
enum PasswordRoutes {
    /// - Parameter revoked: called after the user's tokens have been revoked, before the response.
    static func routes(_ accounts: AccountService, revoked: @escaping @Sendable (UserID) async -> Void) -> [Route] {
        let storage = RouteOutcome.error(.init(code: 507, reasonPhrase: "Insufficient Storage"))
        return [
            Route(
                .put, "/v1/users/me/password", "Changes the password and revokes all other tokens", access: accounts.ownerAccess,
                body: PasswordChange.self,
                responses: [.json(TokenPair.self), .error(.forbidden), .error(.conflict), .error(.tooManyRequests), storage]
            ) { request, user, change in
                let tokens = try await accounts.changePassword(of: user, change, request)
                await revoked(user)
                return try .json(tokens)
            },
            Route(
                .post, "/v1/auth/password/forgot", "Sends a code that resets the password, if the address has an account", access: .open,
                body: AddressBody.self,
                responses: [.noContent, .error(.tooManyRequests), .error(.serviceUnavailable), storage]
            ) { request, _, body in
                try await accounts.requestPasswordReset(body.email, request)
                return .noContent
            },
            Route(
                .post, "/v1/auth/password/reset", "Sets a new password with a code and revokes all other tokens", access: .open,
                body: PasswordReset.self,
                responses: [.json(TokenPair.self), .error(.unauthorized), .error(.tooManyRequests), storage]
            ) { request, _, reset in
                let (user, tokens) = try await accounts.resetPassword(reset, request)
                await revoked(user)
                return try .json(tokens)
            },
            Route(
                .post, "/v1/users/me/email_confirmation", "Sends a code that confirms the e-mail address", access: accounts.ownerAccess,
                responses: [.noContent, .error(.tooManyRequests), .error(.serviceUnavailable), storage]
            ) { request, user in
                try await accounts.requestEmailConfirmation(of: user, request)
                return .noContent
            },
            Route(
                .put, "/v1/users/me/email_confirmation", "Confirms the e-mail address with a code", access: accounts.ownerAccess,
                body: CodeBody.self, responses: [.json(UserView.self), .error(.forbidden), .error(.tooManyRequests), storage]
            ) { request, user, body in
                try .json(UserView(try await accounts.confirmEmail(of: user, body.code, request)))
            },
        ]
    }
}

struct PasswordChange: Decodable, Sendable, Described {
    var currentPassword: String
    var newPassword: String

    static let schema = Schema.named(
        "PasswordChange", .object([.required("current_password", .password), .required("new_password", .password)]))
}

struct AddressBody: Decodable, Sendable, Described {
    var email: String

    static let schema = Schema.named("Address", .object([.required("email", .email)]))
}

struct PasswordReset: Decodable, Sendable, Described {
    var email: String
    var code: String
    var newPassword: String

    static let schema = Schema.named(
        "PasswordReset",
        .object([.required("email", .email), .required("code", CodeBody.codeSchema), .required("new_password", .password)]))
}

/// A code as typed by the user.
struct CodeBody: Decodable, Sendable, Described {
    var code: String

    static let codeSchema = Schema.text(1...32)
    static let schema = Schema.named("Code", .object([.required("code", codeSchema)]))
}
