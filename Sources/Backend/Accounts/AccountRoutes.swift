package import HTTPServer
internal import HTTPTypes
internal import Sockets
package import Store
internal import Wire

/// `/v1/auth/…` and `/v1/users/me`.
enum AccountRoutes {
    /// - Parameters:
    ///   - changed: called after a user's settings change, before the response.
    ///   - deleted: called after a user is deleted.
    static func routes(
        _ accounts: AccountService, changed: @escaping @Sendable (UserID) async -> Void, deleted: @escaping @Sendable (UserID) async -> Void
    ) -> [Route] {
        return [
            Route(
                .post, "/v1/auth/register", "Creates an account", access: .open, body: Credentials.self,
                responses: [.json(RegisteredView.self, status: .created), .error(.conflict), .error(.tooManyRequests), .storeFull]
            ) { request, _, account in
                let (user, tokens) = try await accounts.register(account, request)
                return try .json(RegisteredView(user: UserView(user), tokens: tokens), status: .created)
            },
            Route(
                .post, "/v1/auth/token", "Exchanges e-mail address and password for tokens", access: .open, body: Credentials.self,
                responses: [.json(TokenPair.self), .error(.unauthorized), .error(.tooManyRequests), .storeFull]
            ) { request, _, account in
                try .json(try await accounts.logIn(account, request))
            },
            Route(
                .post, "/v1/auth/refresh", "Exchanges a refresh token, which can be used once, for new tokens", access: .open,
                body: RefreshBody.self, responses: [.json(TokenPair.self), .error(.unauthorized), .storeFull]
            ) { _, _, body in
                try .json(try await accounts.refresh(body.refreshToken))
            },
            Route(
                .post, "/v1/auth/logout", "Revokes a refresh token and all others of the same login", access: .open,
                body: RefreshBody.self, responses: [.noContent, .storeFull]
            ) { _, _, body in
                try await accounts.store.logOut(body.refreshToken)
                return .noContent
            },
            Route(.get, "/v1/users/me", "Shows the user and its settings", access: accounts.ownerAccess, responses: [.json(UserView.self)])
            {
                _, user in
                try .json(UserView(try await accounts.store.user(user)))
            },
            Route(
                .patch, "/v1/users/me", "Changes settings", access: accounts.userAccess, body: SettingsChange.self,
                responses: [.json(UserView.self), .error(.conflict), .storeFull]
            ) { _, user, change in
                let settings = try await accounts.changeSettings(of: user, change)
                await changed(user)
                return try .json(UserView(settings))
            },
            Route(
                .delete, "/v1/users/me", "Deletes the account and all its data", access: accounts.ownerAccess,
                responses: [.noContent, .storeFull]
            ) { _, user in
                try await accounts.store.deleteUser(user)
                await deleted(user)
                return .noContent
            },
        ]
    }
}

/// Change and reset of passwords, and confirmation of e-mail addresses. Codes reach users through webhooks.
enum PasswordRoutes {
    /// - Parameter revoked: called after the user's tokens have been revoked, before the response.
    static func routes(_ accounts: AccountService, revoked: @escaping @Sendable (UserID) async -> Void) -> [Route] {
        return [
            Route(
                .put, "/v1/users/me/password", "Changes the password and revokes all other tokens", access: accounts.ownerAccess,
                body: PasswordChange.self,
                responses: [.json(TokenPair.self), .error(.forbidden), .error(.conflict), .error(.tooManyRequests), .storeFull]
            ) { _, user, change in
                let tokens = try await accounts.changePassword(of: user, change)
                await revoked(user)
                return try .json(tokens)
            },
            Route(
                .post, "/v1/auth/password/forgot", "Sends a code that resets the password, if the address has an account", access: .open,
                body: AddressBody.self,
                responses: [.noContent, .error(.tooManyRequests), .error(.serviceUnavailable), .storeFull]
            ) { request, _, body in
                try await accounts.requestPasswordReset(body.email, request)
                return .noContent
            },
            Route(
                .post, "/v1/auth/password/reset", "Sets a new password with a code and revokes all other tokens", access: .open,
                body: PasswordReset.self,
                responses: [.json(TokenPair.self), .error(.unauthorized), .error(.tooManyRequests), .storeFull]
            ) { request, _, reset in
                let (user, tokens) = try await accounts.resetPassword(reset, request)
                await revoked(user)
                return try .json(tokens)
            },
            Route(
                .post, "/v1/users/me/email_confirmation", "Sends a code that confirms the e-mail address", access: accounts.ownerAccess,
                responses: [.noContent, .error(.tooManyRequests), .error(.serviceUnavailable), .storeFull]
            ) { request, user in
                try await accounts.requestEmailConfirmation(of: user, request)
                return .noContent
            },
            Route(
                .put, "/v1/users/me/email_confirmation", "Confirms the e-mail address with a code", access: accounts.ownerAccess,
                body: CodeBody.self, responses: [.json(UserView.self), .error(.forbidden), .error(.tooManyRequests), .storeFull]
            ) { _, user, body in
                try .json(UserView(try await accounts.confirmEmail(of: user, body.code)))
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

/// `/v1/contacts`. Contacts are only stored: no response reveals whether an address has an account.
enum ContactRoutes {
    static func routes(_ store: Accounts, user: Access<UserID>) -> [Route] {
        [
            Route(
                .get, "/v1/contacts", "Lists the user's contacts in their order; a Link header gives the next page", access: user,
                parameters: [PageQuery.limit, PageQuery.cursor], responses: [.json(.array(of: Contact.schema))]
            ) { request, user in
                try await PageQuery.response(to: request) { cursor, limit in
                    let page = try await store.contacts(of: user, after: cursor, limit: limit)
                    return (page.elements, page.next)
                }
            },
            Route(
                .put, "/v1/contacts", "Replaces the user's contacts", access: user, body: ContactList.self,
                responses: [.noContent, .storeFull]
            ) { _, user, list in
                try await store.setContacts(list.contacts, of: user)
                return .noContent
            },
        ]
    }
}

struct ContactList: Decodable, Sendable, Described {
    var contacts: [Contact]

    static let schema = Schema.named(
        "Contacts", .object([.required("contacts", .array(of: Contact.schema, atMost: StoreLimits.contactsPerUserMax))]))
}

extension Contact: Described {
    package static let schema = Schema.named(
        "Contact",
        .object([
            .required("address", .text(3...UserAddress.bytesMax)), .optional("name", .text(0...128)),
            .optional("favorite", .boolean),
        ]))
}
