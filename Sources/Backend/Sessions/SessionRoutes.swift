internal import HTTPServer
internal import HTTPTypes
internal import Logging
internal import Sockets
internal import Store
internal import Wire

/// `/v1/sessions…`. Another user's session is answered with 404.
enum SessionRoutes {
    private static let log = Logger(label: "patchbay.sessions")

    static func routes(
        _ sessions: SessionService, _ accounts: Accounts, user: Access<UserID>, turnAuthor: Access<Requester>
    ) -> [Route] {
        let id = RouteParameter.path("id", .uuid, "The session")
        let store = sessions.store
        return [
            Route(
                .post, "/v1/sessions/start", "Starts a session; idempotent per Idempotency-Key for a day", access: user,
                body: StartBody.self,
                responses: [
                    .json(SessionToken.self), .error(.conflict), .error(.unprocessableContent), .error(.tooManyRequests),
                    .error(.serviceUnavailable),
                    .storeFull,
                ]
            ) { request, user, body in
                let start = SessionRequest(
                    context: body.context, assistantID: body.assistantId, clientContext: body.clientContext, voice: body.voice,
                    language: body.language, idempotencyKey: try idempotencyKey(request), trace: request.context.trace)
                return try .json(try await sessions.start(start, of: user, host: request.host))
            },
            Route(
                .post, "/v1/sessions/end", "Ends a session from any device; idempotent", access: user,
                body: EndBody.self,
                responses: [.json(SessionViews.session), .error(.notFound), .storeFull]
            ) { _, user, body in
                .json(SessionViews.session(try await sessions.end(body.sessionId, of: user)))
            },
            Route(
                .post, "/v1/sessions/:id/token", "Admits another device of the user to a running session", access: user,
                parameters: [id], body: DeviceBody.self,
                responses: [.json(SessionToken.self), .error(.notFound), .error(.conflict), .error(.serviceUnavailable)]
            ) { request, user, body in
                try .json(
                    try await sessions.admitDevice(to: try sessionID(request), of: user, context: body.context, host: request.host))
            },
            Route(
                .post, "/v1/sessions/:id/turn",
                "Adds a turn, with a token of the user, of an assistant that serves the session, or of a service; stored only if it is logged",
                access: turnAuthor, parameters: [id], body: TurnBody.self,
                responses: [.json(TurnReceipt.self), .error(.notFound), .error(.conflict), .error(.unprocessableContent), .storeFull]
            ) { request, author, body in
                let (session, key) = (try sessionID(request), try idempotencyKey(request))
                let turn = Turn(
                    id: key.map { TurnID(session: session, segment: "key " + $0) } ?? TurnID(), sessionID: session,
                    timestamp: body.timestamp, speaker: body.speaker, text: body.text, audioRef: body.audioRef)
                let outcome = try await sessions.append(turn, by: author, isKeyed: key != nil)
                return try .json(TurnReceipt(id: turn.id, stored: outcome != .notLogged))
            },
            Route(
                .get, "/v1/sessions", "Lists the user's sessions, newest first; a Link header gives the next page", access: user,
                parameters: [PageQuery.limit, PageQuery.cursor], responses: [.json(.array(of: SessionLine.schema))]
            ) { request, user in
                try await list(request, user, store)
            },
            Route(
                .get, "/v1/sessions/:id", "Shows a session with its summary, turns and recordings", access: user, parameters: [id],
                responses: [.json(SessionViews.detail), .error(.notFound)]
            ) { request, user in
                .json(SessionViews.detail(try await store.record(of: try sessionID(request), of: user)), capacity: 16_384)
            },
            Route(
                .get, "/v1/sessions/:id/export", "Exports a session as a file", access: user,
                parameters: [id, .query("format", .choice(ExportFormat.allCases.map(\.rawValue)), "json by default")],
                responses: [.content("*/*"), .error(.notFound)]
            ) { request, user in
                try await export(request, user, store, accounts)
            },
            Route(
                .get, "/v1/sessions/:id/recordings", "Lists the names of a session's recordings", access: user, parameters: [id],
                responses: [.json(.array(of: .text(1...256))), .error(.notFound)]
            ) { request, user in
                try .json(try await store.recordings(of: try sessionID(request), of: user).map(\.name))
            },
            Route(
                .get, "/v1/sessions/:id/recordings/:name", "Downloads a recording (Ogg Opus)", access: user, parameters: [id],
                responses: [.content("audio/ogg"), .error(.notFound), .error(.serviceUnavailable)]
            ) { request, user in
                let name = request.parameter("name")
                guard let bytes = try await sessions.recordings?.bytes(named: name, of: try sessionID(request), user) else {
                    throw StoreError.notFound
                }
                return HTTPServerResponse(status: .ok, fields: [.contentType: "audio/ogg"], body: bytes)
            },
            Route(
                .delete, "/v1/sessions/:id", "Deletes a session and all its data", access: user, parameters: [id],
                responses: [.noContent, .error(.notFound), .storeFull]
            ) { request, user in
                try await sessions.delete(try sessionID(request), of: user)
                return .noContent
            },
            Route(
                .delete, "/v1/sessions", "Deletes all of the user's sessions", access: user, responses: [.noContent, .storeFull]
            ) { _, user in
                try await sessions.deleteAll(of: user)
                return .noContent
            },
        ]
    }

    private static func sessionID(_ request: HTTPServerRequest) throws(HTTPError) -> SessionID {
        guard let id = SessionID(text: request.parameter("id")) else {
            throw HTTPError(.notFound, "there is no such thing")
        }
        return id
    }

    private static func idempotencyKey(_ request: HTTPServerRequest) throws(HTTPError) -> String? {
        guard let key = request.headers[.idempotencyKey] else { return nil }
        guard 1...255 ~= key.utf8.count else {
            throw HTTPError(.invalidIdempotencyKey, "an Idempotency-Key must have 1 to 255 bytes")
        }
        return key
    }

    private static func list(_ request: HTTPServerRequest, _ user: UserID, _ store: Sessions) async throws -> HTTPServerResponse {
        let page = try await store.list(of: user, after: try PageQuery.cursor(of: request), limit: PageQuery.limit(of: request))
        var response = HTTPServerResponse.json(page.elements.map(SessionLine.init), capacity: 512 * page.elements.count)
        PageQuery.link(response: &response, to: page.next.map { "cursor=\($0.text)" }, request)
        return response
    }

    private static func export(
        _ request: HTTPServerRequest, _ user: UserID, _ store: Sessions, _ accounts: Accounts
    ) async throws -> HTTPServerResponse {
        let format = request.query("format").flatMap(ExportFormat.init) ?? .json
        let record = try await store.record(of: try sessionID(request), of: user)
        let export = Export(record, try await accounts.user(user).settings)
        let file = try await export.file(as: format)
        if !file.scriptsWithoutFont.isEmpty {
            log.warning(
                "no installed font has all glyphs of an export", metadata: ["scripts": .array(file.scriptsWithoutFont.map { .string($0) })])
        }
        return HTTPServerResponse(
            status: .ok,
            fields: [
                .contentType: format.contentType,
                .contentDisposition: "attachment; filename=\"\(export.fileName(as: format))\"",
            ], body: file.bytes)
    }
}
