package import HTTPServer
internal import HTTPTypes
internal import Sockets
internal import Store
internal import Wire

/// `/v1/calls…`: the same requests as on the user's channel. Another user's call is answered with 404.
enum CallRoutes {
    static func routes(_ calls: CallService, _ store: Calls, user: Access<UserID>) -> [Route] {
        [
            Route(
                .post, "/v1/calls", "Calls users and assistants; the same Idempotency-Key gives the same call", access: user,
                body: CallStart.self, responses: [.json(CallToken.self, status: .created)] + errorOutcomes
            ) { request, user, start in
                try calls.checkNotDraining()
                var start = start
                start.idempotencyKey = request.headers[.idempotencyKey]
                return try await answer(request, user, .start(start), calls, status: .created, as: CallToken.init)
            },
            Route(
                .get, "/v1/calls", "The calls that the user is invited to or has joined, oldest first", access: user,
                responses: [.json(.array(of: CallInfo.schema)), .error(.serviceUnavailable)]
            ) { _, user in
                try .json(try await calls.calls(of: user))
            },
            Route(
                .get, "/v1/calls/history", "Lists the user's past calls, the last ended first; a Link header gives the next page",
                access: user,
                parameters: [PageQuery.limit, PageQuery.cursor], responses: [.json(.array(of: CallLogEntry.schema))]
            ) { request, user in
                await calls.settleHistory(of: user)
                return try await PageQuery.response(to: request) { cursor, limit in
                    let page = try await store.list(of: user, after: cursor, limit: limit)
                    return (page.elements, page.next)
                }
            },
            Route(
                .get, "/v1/calls/:id", "Shows a call, up to two minutes after its end", access: user, parameters: [id],
                responses: [.json(CallView.self), .error(.notFound), .error(.serviceUnavailable)]
            ) { request, user in
                try .json(CallView(call: try await calls.call(call(request), of: user)))
            },
            Route(
                .get, "/v1/events", "The WebSocket of a user's channel", access: .verifiedElsewhere("user or assistant"),
                responses: [.error(.upgradeRequired)]
            ) { _, _ in
                throw HTTPError(
                    .upgradeRequired, "this is a WebSocket endpoint; upgrade with subprotocol patchbay.v1")
            },
            tokenRoute("answer", "Answers a call; the first to answer wins", calls, user) { .answer($0) },
            tokenRoute("join", "Issues another token for the room of a call that the user is in", calls, user) { .join($0) },
            callRoute("cancel", "Cancels a call that nobody has answered", calls, user) { .cancel($0) },
            callRoute("hangup", "Leaves a call", calls, user) { .hangUp($0) },
            callRoute("hold", "Puts a call on hold: the user neither hears nor is heard", calls, user) { .hold($0, held: true) },
            callRoute("resume", "Resumes a call on hold", calls, user) { .hold($0, held: false) },
            callRoute("reject", "Rejects a call", calls, user, body: CallRejectionBody.self) {
                .reject($0, CallRejection(isBusy: $1.busy ?? false, reason: $1.reason))
            },
            callRoute("mute", "Mutes or unmutes the user", calls, user, body: CallMuteBody.self) { .mute($0, muted: $1.muted) },
            callRoute("invite", "Invites more parties to a call", calls, user, body: CallInvitationBody.self) { .invite($0, $1.to) },
        ]
    }

    private static let id = RouteParameter.path("id", .text(1...64), "The call")
    private static let errorOutcomes: [RouteOutcome] = [
        .error(.badRequest), .error(.forbidden), .error(.notFound), .error(.conflict), .error(.unprocessableContent),
        .error(.tooManyRequests), .error(.serviceUnavailable),
    ]

    private static func tokenRoute(
        _ verb: String, _ summary: String, _ calls: CallService, _ user: Access<UserID>,
        _ makeRequest: @escaping @Sendable (CallID) -> CallRequest
    ) -> Route {
        Route(.post, path(verb), summary, access: user, parameters: [id], responses: [.json(CallToken.self)] + errorOutcomes) {
            request, user in
            try await answer(request, user, makeRequest(call(request)), calls, as: CallToken.init)
        }
    }

    private static func callRoute(
        _ verb: String, _ summary: String, _ calls: CallService, _ user: Access<UserID>,
        _ makeRequest: @escaping @Sendable (CallID) -> CallRequest
    ) -> Route {
        Route(.post, path(verb), summary, access: user, parameters: [id], responses: [.json(CallView.self)] + errorOutcomes) {
            request, user in
            try await answer(request, user, makeRequest(call(request)), calls) { CallView(call: $1) }
        }
    }

    private static func callRoute<Body: Decodable & Sendable & Described>(
        _ verb: String, _ summary: String, _ calls: CallService, _ user: Access<UserID>, body: Body.Type,
        _ makeRequest: @escaping @Sendable (CallID, Body) -> CallRequest
    ) -> Route {
        Route(.post, path(verb), summary, access: user, parameters: [id], body: body, responses: [.json(CallView.self)] + errorOutcomes) {
            request, user, body in
            try await answer(request, user, makeRequest(call(request), body), calls) { CallView(call: $1) }
        }
    }

    private static func path(_ verb: String) -> RoutePath { RoutePath(stringLiteral: "/v1/calls/:id/\(verb)") }
    private static func call(_ request: HTTPServerRequest) -> CallID { CallID(text: request.parameter("id")) }

    private static func answer(
        _ request: HTTPServerRequest, _ user: UserID, _ ask: CallRequest, _ calls: CallService, status: HTTPResponse.Status = .ok,
        as view: (CallReply, CallInfo) -> some Encodable
    ) async throws -> HTTPServerResponse {
        let reply = try await calls.perform(ask, of: user, host: request.host)
        guard let call = reply.call else { throw CallError(.notFound, "you have no such call") }
        return try .json(view(reply, call), status: status)
    }
}

extension CallError: HTTPErrorConvertible {
    package var httpError: HTTPError { HTTPError(error) }
}
