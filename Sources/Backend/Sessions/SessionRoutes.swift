internal import HTTPServer
internal import HTTPTypes
internal import Logging
internal import Sockets
internal import Store

/// `/v1/sessions…`. Another user's session is as absent as one that never was.
enum SessionRoutes {
    private static let log = Logger(label: "patchbay.sessions")

    static func routes(_ desk: SessionService, user: Access<UserID>) -> [Route] {
        let id = RouteParameter.path("id", .uuid, "The session")
        let storage = RouteOutcome.refusal(.init(code: 507, reasonPhrase: "Insufficient Storage"))
        let store = desk.store
        return [
            Route(
                .post, "/v1/sessions/start", "Starts a session; the same Idempotency-Key gives the same one for a day", access: user,
                takes: StartBody.self, gives: [.json(SessionTicket.self), .refusal(.conflict), .refusal(.serviceUnavailable), storage]
            ) { question, user, body in
                let request = SessionRequest(
                    context: body.context, assistantID: body.assistantId, clientContext: body.clientContext,
                    idempotencyKey: try idempotencyKey(question))
                return try .json(try await desk.start(request, of: user, question))
            },
            Route(
                .post, "/v1/sessions/end", "Ends a session, from whatever device; ending it twice is fine", access: user,
                takes: EndBody.self,
                gives: [.json(SessionView.self), .refusal(.notFound), storage]
            ) { _, user, body in
                .json(SessionView(try await desk.end(body.sessionId, of: user)))
            },
            Route(
                .post, "/v1/sessions/:id/turn", "Adds a turn, for assistants elsewhere; kept only if the session is logged", access: user,
                parameters: [id], takes: TurnBody.self, gives: [.json(TurnReceipt.self), .refusal(.notFound), storage]
            ) { question, user, body in
                let session = try sessionID(question)
                let turn = Turn(
                    id: try idempotencyKey(question).map { TurnID(session: session, segment: "key " + $0) } ?? TurnID(), sessionID: session,
                    timestamp: body.timestamp, speaker: body.speaker, text: body.text)
                return try .json(TurnReceipt(id: turn.id, stored: try await store.append(turn, of: user) != .notLogged))
            },
            Route(
                .get, "/v1/sessions", "Lists the user's sessions, newest first; a Link header leads on", access: user,
                parameters: [
                    .query("limit", .integer(1...200), "How many at most; 50 if left out"),
                    .query("cursor", .text(1...256), "Where to go on, as the Link header says"),
                ], gives: [.json(.array(of: SessionLine.schema))]
            ) { question, user in
                try await list(question, user, store)
            },
            Route(
                .get, "/v1/sessions/:id", "Shows a session with its summary and turns", access: user, parameters: [id],
                gives: [.json(SessionDetail.self), .refusal(.notFound)]
            ) { question, user in
                .json(SessionDetail(try await store.record(of: try sessionID(question), of: user)), capacity: 16_384)
            },
            Route(
                .get, "/v1/sessions/:id/export", "A session as a file", access: user,
                parameters: [id, .query("format", .choice(ExportFormat.allCases.map(\.rawValue)), "json if left out")],
                gives: [.content("*/*"), .refusal(.notFound)]
            ) { question, user in
                try await export(question, user, store)
            },
            Route(
                .get, "/v1/sessions/:id/recordings", "Names of a session's recordings", access: user, parameters: [id],
                gives: [.json(.array(of: .text(1...256))), .refusal(.notFound)]
            ) { question, user in
                try .json(try await store.recordings(of: try sessionID(question), of: user))
            },
            Route(
                .get, "/v1/sessions/:id/recordings/:name", "A recording: Ogg Opus", access: user, parameters: [id],
                gives: [.content("audio/ogg"), .refusal(.notFound)]
            ) { question, user in
                let name = question.parameter("name")
                guard let bytes = try await desk.recordings?.bytes(named: name, of: try sessionID(question), user) else {
                    throw StoreError.notFound
                }
                return HTTPServerResponse(status: .ok, fields: [.contentType: "audio/ogg"], body: bytes)
            },
            Route(
                .delete, "/v1/sessions/:id", "Deletes a session and all that was kept of it", access: user, parameters: [id],
                gives: [.noContent, .refusal(.notFound), storage]
            ) { question, user in
                try await desk.delete(try sessionID(question), of: user)
                return .noContent
            },
            Route(
                .delete, "/v1/sessions", "Deletes all of the user's sessions", access: user, gives: [.noContent, storage]
            ) { _, user in
                try await desk.deleteAll(of: user)
                return .noContent
            },
        ]
    }

    private static func sessionID(_ question: HTTPServerRequest) throws(HTTPError) -> SessionID {
        guard let id = SessionID(text: question.parameter("id")) else {
            throw HTTPError(.notFound, "not_found", "there is no such thing")
        }
        return id
    }

    private static func idempotencyKey(_ question: HTTPServerRequest) throws(HTTPError) -> String? {
        guard let key = question.headers[.idempotencyKey] else { return nil }
        guard 1...255 ~= key.utf8.count else {
            throw HTTPError(.badRequest, "invalid_idempotency_key", "an Idempotency-Key has 1 to 255 characters")
        }
        return key
    }

    private static func list(_ question: HTTPServerRequest, _ user: UserID, _ store: SessionStore) async throws -> HTTPServerResponse {
        let cursor = try question.query("cursor").map { text throws(StoreError) in try SessionCursor(text: text) }
        let limit = question.query("limit").flatMap { Int($0) } ?? 50
        let page = try await store.sessions(of: user, after: cursor, limit: limit)
        var response = HTTPServerResponse.json(page.sessions.map(SessionLine.init), capacity: 512 * page.sessions.count)
        if let next = page.next { response.fields[.link] = "</v1/sessions?limit=\(limit)&cursor=\(next.text)>; rel=\"next\"" }
        return response
    }

    private static func export(_ question: HTTPServerRequest, _ user: UserID, _ store: SessionStore) async throws -> HTTPServerResponse {
        let format = question.query("format").flatMap(ExportFormat.init) ?? .json
        let record = try await store.record(of: try sessionID(question), of: user)
        let export = Export(session: record.session, summary: record.summary, turns: record.turns)
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
