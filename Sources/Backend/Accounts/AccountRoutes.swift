internal import HTTPServer
internal import HTTPTypes
internal import Sockets
internal import Store

/// `/v1/auth/…` and `/v1/users/me`.
enum AccountRoutes {
    /// - Parameters:
    ///   - changed: told of a user whose settings are other ones, before the answer.
    ///   - deleted: told of a user that is no more.
    static func routes(
        _ accounts: AccountService, changed: @escaping @Sendable (UserID) async -> Void, deleted: @escaping @Sendable (UserID) async -> Void
    ) -> [Route] {
        let storage = RouteOutcome.error(.init(code: 507, reasonPhrase: "Insufficient Storage"))
        return [
            Route(
                .post, "/v1/auth/register", "Makes an account", access: .open, body: Credentials.self,
                responses: [.json(RegisteredView.self, status: .created), .error(.conflict), storage]
            ) { _, _, account in
                let (user, tokens) = try await accounts.register(account)
                return try .json(RegisteredView(user: UserView(user), tokens: tokens), status: .created)
            },
            Route(
                .post, "/v1/auth/token", "Takes e-mail address and password for tokens", access: .open, body: Credentials.self,
                responses: [.json(TokenPair.self), .error(.unauthorized), .error(.tooManyRequests), storage]
            ) { request, _, account in
                try .json(try await accounts.logIn(account, request))
            },
            Route(
                .post, "/v1/auth/refresh", "Takes a refresh token for new tokens; each can be used once", access: .open,
                body: RefreshBody.self, responses: [.json(TokenPair.self), .error(.unauthorized), storage]
            ) { _, _, body in
                try .json(try await accounts.refresh(body.refreshToken))
            },
            Route(
                .post, "/v1/auth/logout", "Revokes a refresh token and all that came from the same login", access: .open,
                body: RefreshBody.self, responses: [.noContent, storage]
            ) { _, _, body in
                try await accounts.store.logOut(body.refreshToken)
                return .noContent
            },
            Route(.get, "/v1/users/me", "Who one is", access: accounts.userAccess, responses: [.json(UserView.self)]) { _, user in
                try .json(UserView(try await accounts.store.user(user)))
            },
            Route(
                .patch, "/v1/users/me", "Changes settings", access: accounts.userAccess, body: SettingsChange.self,
                responses: [.json(UserView.self), storage]
            ) { _, user, change in
                let settings = try await accounts.store.updateSettings(of: user) { change.apply(to: &$0) }
                await changed(user)
                return try .json(UserView(settings))
            },
            Route(
                .delete, "/v1/users/me", "Deletes the account and everything with it", access: accounts.userAccess, responses: [.noContent, storage]
            ) { _, user in
                try await accounts.store.deleteUser(user)
                await deleted(user)
                return .noContent
            },
        ]
    }
}
