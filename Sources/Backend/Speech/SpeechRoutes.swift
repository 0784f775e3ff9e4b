package import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Sockets
internal import Store

/// `/v1/speech…`: clips of spoken texts, for users, assistants and administrators. Another one's clip is answered with 404.
package enum SpeechRoutes {
    /// - Parameter speech: nil answers every request with 503.
    package static func routes(
        _ speech: SpeechService?, accounts: AccountService, assistants: AssistantDirectory, keys: KeysInUse
    ) -> [Route] {
        let access = Access.requester("`roomCreate`", accounts, keys) { _ in .manageAssistants }
        return [
            Route(
                .post, "/v1/speech", "Speaks a text: the clip, or a job that makes it", access: access, body: SpeechBody.self,
                responses: [
                    .json(ClipView.self), .json(ClipView.self, status: .accepted), .error(.notFound), .error(.tooManyRequests), .storeFull,
                ]
            ) { _, requester, body in
                let speech = try available(speech)
                let clip = try await speech.request(try body.request(assistants, speech.providers), by: SpeechRequester(requester))
                return try .json(clip, status: clip.isReady ? .ok : .accepted)
            },
            Route(
                .get, "/v1/speech", "Lists the caller's clips, newest first, or the one for a text; generates nothing", access: access,
                parameters: query + [PageQuery.limit, PageQuery.cursor],
                responses: [.json(.array(of: ClipView.schema)), .error(.notFound)]
            ) { request, requester in
                let (speech, requester) = (try available(speech), SpeechRequester(requester))
                if let wanted = try wanted(request) { return try await find(wanted, requester, speech, assistants) }
                return try await PageQuery.response(to: request) { try await speech.clips(of: requester, after: $0, limit: $1) }
            },
            Route(
                .post, "/v1/speech/lookup", "Lists the caller's clip for a text, which is not in the URL; generates nothing",
                access: access,
                body: SpeechBody.self, responses: [.json(.array(of: ClipView.schema)), .error(.notFound)]
            ) { _, requester, body in
                try await find(body, SpeechRequester(requester), try available(speech), assistants)
            },
            Route(
                .get, "/v1/speech/providers", "Lists who speaks clips, with which voices", access: access,
                responses: [.json(SpeechProviderList.self)]
            ) { _, _ in
                try .json(SpeechProviderList(try available(speech).providers))
            },
            Route(
                .get, "/v1/speech/:id", "Shows a clip's state, text, voice, duration and words", access: access, parameters: [id],
                responses: [.json(ClipView.self), .error(.notFound)]
            ) { request, requester in
                try .json(try await available(speech).clip(clipID(request), for: SpeechRequester(requester)))
            },
            Route(
                .get, "/v1/speech/:id/audio", "Downloads a clip (Ogg Opus)", access: access, parameters: [id],
                responses: [.content(ClipEncoder.mimeType), .error(.notFound), .error(.conflict)]
            ) { request, requester in
                let audio = try await available(speech).audio(clipID(request), for: SpeechRequester(requester))
                return HTTPServerResponse(status: .ok, fields: [.contentType: ClipEncoder.mimeType], body: audio)
            },
            Route(
                .post, "/v1/speech/:id/play", "Plays a clip into an open room; answered when it has started", access: access,
                parameters: [id], body: PlayBody.self, responses: [.noContent, .error(.notFound), .error(.conflict)]
            ) { request, requester, body in
                try await available(speech).play(clipID(request), in: body.room, for: SpeechRequester(requester))
                return .noContent
            },
            Route(
                .delete, "/v1/speech/:id", "Cancels the caller's request for a clip; others keep theirs", access: access,
                parameters: [id], responses: [.noContent, .error(.notFound), .storeFull]
            ) { request, requester in
                try await available(speech).delete(clipID(request), for: SpeechRequester(requester))
                return .noContent
            },
        ]
    }

    private static func find(
        _ wanted: SpeechBody, _ requester: SpeechRequester, _ speech: SpeechService, _ assistants: AssistantDirectory
    ) async throws -> HTTPServerResponse {
        let clip = try await speech.find(try wanted.request(assistants, speech.providers), for: requester)
        return try .json(clip.map { [$0] } ?? [])
    }

    private static let id = RouteParameter.path("id", .uuid, "The clip")

    /// Parameters that select the clip for a text, as in the body of `POST`.
    private static let query: [RouteParameter] = [
        .query("text", .text(1...SpeechService.textBytesMax), "Only the clip for this text"), .query("voice", .text(1...64), "With `text`"),
        .query("provider", .text(1...64), "With `text`"), .query("assistant", .text(1...64), "With `text`"),
    ]

    /// Returns the requested clip's text and voice; nil to list all clips.
    private static func wanted(_ request: HTTPServerRequest) throws(HTTPError) -> SpeechBody? {
        let (voice, provider, assistant) = (request.query("voice"), request.query("provider"), request.query("assistant"))
        if let text = request.query("text") { return SpeechBody(text: text, voice: voice, provider: provider, assistant: assistant) }
        guard voice == nil, provider == nil, assistant == nil else {
            throw HTTPError(.invalidQuery, "voice, provider and assistant of the query need text")
        }
        return nil
    }

    private static func clipID(_ request: HTTPServerRequest) throws(HTTPError) -> ClipID {
        guard let id = ClipID(text: request.parameter("id")) else {
            throw HTTPError(.notFound, "there is no such thing")
        }
        return id
    }

    private static func available(_ speech: SpeechService?) throws(HTTPError) -> SpeechService {
        guard let speech else {
            throw HTTPError(.speechUnavailable, "this gateway has no speech synthesizer; see its configuration")
        }
        return speech
    }
}
