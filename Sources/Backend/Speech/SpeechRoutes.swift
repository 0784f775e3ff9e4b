package import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Sockets
internal import Store
internal import Wire

/// `/v1/speech…`: clips of spoken texts, for users, assistants and administrators. Another one's clip is answered with 404.
package enum SpeechRoutes {
    /// - Parameter speech: nil answers every request with 503.
    package static func routes(
        _ speech: SpeechService?, accounts: AccountService, assistants: AssistantDirectory, keys: KeysInUse
    ) -> [Route] {
        let access = access(accounts, keys)
        let storage = RouteOutcome.error(.init(code: 507, reasonPhrase: "Insufficient Storage"))
        return [
            Route(
                .post, "/v1/speech", "Speaks a text: the clip, or a job that makes it", access: access, body: SpeechBody.self,
                responses: [
                    .json(ClipView.self), .json(ClipView.self, status: .accepted), .error(.notFound), .error(.tooManyRequests), storage,
                ]
            ) { _, requester, body in
                let speech = try available(speech)
                let clip = try await speech.request(try body.request(assistants), by: requester)
                return try .json(clip, status: clip.isReady ? .ok : .accepted)
            },
            Route(
                .get, "/v1/speech/:id", "Shows a clip's state, duration and words", access: access, parameters: [id],
                responses: [.json(ClipView.self), .error(.notFound)]
            ) { request, requester in
                try .json(try await available(speech).clip(clipID(request), for: requester))
            },
            Route(
                .get, "/v1/speech/:id/audio", "Downloads a clip (Ogg Opus)", access: access, parameters: [id],
                responses: [.content(ClipEncoder.mimeType), .error(.notFound), .error(.conflict)]
            ) { request, requester in
                let audio = try await available(speech).audio(clipID(request), for: requester)
                return HTTPServerResponse(status: .ok, fields: [.contentType: ClipEncoder.mimeType], body: audio)
            },
            Route(
                .post, "/v1/speech/:id/play", "Plays a clip into an open room; answered when it has started", access: access,
                parameters: [id], body: PlayBody.self, responses: [.noContent, .error(.notFound), .error(.conflict)]
            ) { request, requester, body in
                try await available(speech).play(clipID(request), in: body.room, for: requester)
                return .noContent
            },
            Route(
                .delete, "/v1/speech/:id", "Cancels the caller's request for a clip; others keep theirs", access: access,
                parameters: [id], responses: [.noContent, .error(.notFound), storage]
            ) { request, requester in
                try await available(speech).delete(clipID(request), for: requester)
                return .noContent
            },
        ]
    }

    private static let id = RouteParameter.path("id", .uuid, "The clip")

    private static func clipID(_ request: HTTPServerRequest) throws(HTTPError) -> ClipID {
        guard let id = ClipID(text: request.parameter("id")) else {
            throw HTTPError(.notFound, "not_found", "there is no such thing")
        }
        return id
    }

    private static func available(_ speech: SpeechService?) throws(HTTPError) -> SpeechService {
        guard let speech else {
            throw HTTPError(.serviceUnavailable, "speech_unavailable", "this gateway has no speech synthesizer; see its configuration")
        }
        return speech
    }

    /// A user's access token, an assistant's token, or one that may manage assistants.
    private static func access(_ accounts: AccountService, _ keys: KeysInUse) -> Access<SpeechRequester> {
        .token(refusing: [403], on: accounts.store.threads) { request in
            let text = try request.bearerToken
            let now = WallClock.seconds
            let subject: UserTokens.Subject
            do throws(TokenError) {
                subject = try accounts.tokens.verify(text, now: now).subject
            } catch .unknownIssuer {
                return try service(text, keys.current, now: now)
            } catch {
                throw HTTPError(.unauthorized, error.code, error.message)
            }
            return .user(try await accounts.user(subject))
        }
    }

    private static func service(_ text: String, _ keys: KeyRing, now: Int64) throws(HTTPError) -> SpeechRequester {
        let token: AccessToken
        do throws(TokenError) {
            token = try TokenVerifier().verify(text, keys: keys, now: now)
        } catch {
            throw HTTPError(.unauthorized, error.code, error.message)
        }
        if let assistant = token.assistant { return .assistant(assistant) }
        do throws(GrantError) {
            try AdminGrant.manageAssistants.check(token)
        } catch {
            throw HTTPError(.forbidden, error.code, error.message)
        }
        return .administrator(token.issuer)
    }
}
