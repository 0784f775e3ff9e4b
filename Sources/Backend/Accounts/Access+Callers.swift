internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Store
internal import Wire

extension Access<String> {
    /// Requires the token of an assistant's process (`sub` `assistant:<id>`, `video.agent`). The caller is the assistant's id.
    static func assistant(_ keys: KeysInUse) -> Access {
        .token("assistant", refusing: [403]) { request in
            guard let id = try request.accessToken(keys).assistant else {
                throw HTTPError(.missingGrant, "The access token is not an assistant's. Mint it with `patchbay token --assistant`.")
            }
            return id
        }
    }
}

/// The holder of a token for routes that users, assistants and services call alike.
enum Requester: Hashable, Sendable {
    case user(UserID)
    /// A process of the assistant with this id.
    case assistant(String)
    /// A backend, by the issuer of its token.
    case service(String)
}

extension Access<Requester> {
    /// Requires a user's access token, an assistant's token, or one with a grant.
    ///
    /// - Parameter name: the grant in Markdown.
    static func requester(
        _ name: String, _ accounts: AccountService, _ keys: KeysInUse, _ grant: @escaping @Sendable (HTTPServerRequest) -> AdminGrant
    ) -> Access {
        .token("user, assistant, or \(name)", refusing: [403], on: accounts.store.threads) { request in
            let subject: UserTokens.Subject
            do throws(TokenError) {
                subject = try accounts.tokens.verify(request.bearerToken, now: WallClock.seconds).subject
            } catch .unknownIssuer {
                let token = try request.accessToken(keys)
                if let assistant = token.assistant { return .assistant(assistant) }
                try grant(request).check(token)
                return .service(token.issuer)
            }
            return .user(try await accounts.user(subject))
        }
    }
}

extension AccessToken {
    /// The id of the assistant whose process holds this token; nil for other tokens.
    var assistant: String? {
        guard video?.agent == true, case .assistant(let id)? = CallParty(text: identity) else { return nil }
        return id
    }
}
