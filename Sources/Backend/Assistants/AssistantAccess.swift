internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Wire

extension HTTPServerRequest {
    /// The bearer token of the `Authorization` field.
    ///
    /// - Throws: `HTTPError` with 401.
    var bearerToken: String {
        get throws(HTTPError) {
            do throws(TokenError) {
                return try RequestToken.extract(authorization: headers[.authorization], subprotocols: [], query: nil)
            } catch {
                throw HTTPError(.unauthorized, error.code, error.message)
            }
        }
    }
}

extension Access<String> {
    /// Requires the token of an assistant's process (`sub` `assistant:<id>`, `video.agent`). The caller is the assistant's id.
    static func assistant(_ keys: KeysInUse) -> Access {
        .token(refusing: [403]) { request in
            let text = try request.bearerToken
            let token: AccessToken
            do throws(TokenError) {
                token = try TokenVerifier().verify(text, keys: keys.current, now: WallClock.seconds)
            } catch {
                throw HTTPError(.unauthorized, error.code, error.message)
            }
            guard let id = token.assistant else {
                throw HTTPError(
                    .forbidden, "missing_grant", "The access token is not an assistant's. Mint it with `patchbay token --assistant`.")
            }
            return id
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
