internal import HTTPServer
internal import HTTPTypes
internal import Sockets
internal import Store

/// `/v1/auth/…` and `/v1/users/me`.
enum AccountRoutes {
    /// - Parameters:
    ///   - changed: called after a user's settings change, before the response.
    ///   - deleted: called after a user is deleted.
    static func routes(
        _ accounts: AccountService, changed: @escaping @Sendable (UserID) async -> Void, deleted: @escaping @Sendable (UserID) async -> Void
    ) -> [Route] {
        let storage = RouteOutcome.error(.init(code: 507, reasonPhrase: "Insufficient Storage"))
        return [
            Route(
                .post, "/v1/auth/register", "Creates an account", access: .open, body: Credentials.self,
                responses: [.json(RegisteredView.self, status: .created), .error(.conflict), .error(.tooManyRequests), storage]
            ) { request, _, account in
                let (user, tokens) = try await accounts.register(account, request)
                return try .json(RegisteredView(user: UserView(user), tokens: tokens), status: .created)
            },
            Route(
                .post, "/v1/auth/token", "Exchanges e-mail address and password for tokens", access: .open, body: Credentials.self,
                responses: [.json(TokenPair.self), .error(.unauthorized), .error(.tooManyRequests), storage]
            ) { request, _, account in
                try .json(try await accounts.logIn(account, request))
            },
            Route(
                .post, "/v1/auth/refresh", "Exchanges a refresh token, which can be used once, for new tokens", access: .open,
                body: RefreshBody.self, responses: [.json(TokenPair.self), .error(.unauthorized), storage]
            ) { _, _, body in
                try .json(try await accounts.refresh(body.refreshToken))
            },
            Route(
                .post, "/v1/auth/logout", "Revokes a refresh token and all others of the same login", access: .open,
                body: RefreshBody.self, responses: [.noContent, storage]
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
                responses: [.json(UserView.self), .error(.conflict), storage]
            ) { request, user, change in
                let settings = try await accounts.changeSettings(of: user, change, request)
                await changed(user)
                return try .json(UserView(settings))
            },
            Route(
                .delete, "/v1/users/me", "Deletes the account and all its data", access: accounts.ownerAccess,
                responses: [.noContent, storage]
            ) { _, user in
                try await accounts.store.deleteUser(user)
                await deleted(user)
                return .noContent
            },
        ]
    }
}
