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
        _ desk: AccountService, changed: @escaping @Sendable (UserID) async -> Void, deleted: @escaping @Sendable (UserID) async -> Void
    ) -> [Route] {
        let storage = RouteOutcome.refusal(.init(code: 507, reasonPhrase: "Insufficient Storage"))
        return [
            Route(
                .post, "/v1/auth/register", "Makes an account", access: .open, takes: Credentials.self,
                gives: [.json(RegisteredView.self, status: .created), .refusal(.conflict), storage]
            ) { _, _, account in
                let (user, tokens) = try await desk.register(account)
                return try .json(RegisteredView(user: UserView(user), tokens: tokens), status: .created)
            },
            Route(
                .post, "/v1/auth/token", "Takes e-mail address and password for tokens", access: .open, takes: Credentials.self,
                gives: [.json(TokenPair.self), .refusal(.unauthorized), .refusal(.tooManyRequests), storage]
            ) { question, _, account in
                try .json(try await desk.logIn(account, question))
            },
            Route(
                .post, "/v1/auth/refresh", "Takes a refresh token for new tokens; each can be used once", access: .open,
                takes: RefreshBody.self, gives: [.json(TokenPair.self), .refusal(.unauthorized), storage]
            ) { _, _, body in
                try .json(try await desk.refresh(body.refreshToken))
            },
            Route(
                .post, "/v1/auth/logout", "Revokes a refresh token and all that came from the same login", access: .open,
                takes: RefreshBody.self, gives: [.noContent, storage]
            ) { _, _, body in
                try await desk.store.logOut(body.refreshToken)
                return .noContent
            },
            Route(.get, "/v1/users/me", "Who one is", access: desk.user, gives: [.json(UserView.self)]) { _, user in
                try .json(UserView(try await desk.store.user(user)))
            },
            Route(
                .patch, "/v1/users/me", "Changes settings", access: desk.user, takes: SettingsChange.self,
                gives: [.json(UserView.self), storage]
            ) { _, user, change in
                let settings = try await desk.store.updateSettings(of: user) { change.apply(to: &$0) }
                await changed(user)
                return try .json(UserView(settings))
            },
            Route(
                .delete, "/v1/users/me", "Deletes the account and everything with it", access: desk.user, gives: [.noContent, storage]
            ) { _, user in
                try await desk.store.deleteUser(user)
                await deleted(user)
                return .noContent
            },
        ]
    }
}
