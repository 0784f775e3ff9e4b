package import HTTPTypes
package import Sockets

/// One thing that can be asked for by HTTP: where, by whom, with what, and what comes of it. A value: the router takes requests to it, and
/// the OpenAPI document is made from it.
///
///     struct Wish: Decodable, Sendable, Described {
///         var title: String
///         var count: Int?
///         static let schema = Schema.named("Wish", .object([
///             .required("title", .text(1...200)),
///             .optional("count", .integer(1...99)),
///         ]))
///     }
///
///     Route(.post, "/v1/lists/:id/wishes", "Adds a wish to a list", access: user, body: Wish.self,
///           responses: [.json(Added.self, status: .created), .error(.notFound)]) { request, user, wish in
///         let id = try await lists.add(wish, to: request.parameter("id"), of: user)
///         return try .json(Added(id: id), status: .created)
///     }
///
/// A handler runs on the executor of who may call it (`Access`), never on a shard's thread. It is called with a body that is JSON of the route's schema to
/// the letter and decoded; it answers with a `HTTPServerResponse`, or throws a `HTTPError` (any other error that is `HTTPErrorConvertible` too; what is neither is
/// logged by its type and answered with 500). It need not care for HEAD, CORS, request ids, compression or security fields.
package struct Route: Sendable {
    package let method: HTTPRequest.Method
    package let path: RoutePath
    /// A few words for the OpenAPI document.
    package let summary: String
    let needsToken: Bool
    package let executor: (any TaskExecutor)?
    let parameters: [RouteParameter]
    let body: Schema?
    package let outcomes: [RouteOutcome]
    /// Says who calls, then looks at the body, then does it.
    let handle: @Sendable (HTTPServerRequest) async throws -> HTTPServerResponse

    /// A route without a body.
    ///
    /// - Parameter parameters: of the query, and those of the path that are more than any text; looked at before the handler is called.
    package init<Caller>(
        _ method: HTTPRequest.Method, _ path: RoutePath, _ summary: String, access: Access<Caller>, parameters: [RouteParameter] = [],
        responses outcomes: [RouteOutcome], handler: @escaping @Sendable (HTTPServerRequest, Caller) async throws -> HTTPServerResponse
    ) {
        self.init(method, path, summary, access: access, parameters: parameters, body: nil, outcomes) { request in
            let caller = try await access.identify(request)
            try parameters.check(request)
            return try await handler(request, caller)
        }
    }

    /// A route with a JSON body.
    package init<Caller, Body: Decodable & Sendable & Described>(
        _ method: HTTPRequest.Method, _ path: RoutePath, _ summary: String, access: Access<Caller>, parameters: [RouteParameter] = [],
        body: Body.Type, responses outcomes: [RouteOutcome],
        handler: @escaping @Sendable (HTTPServerRequest, Caller, Body) async throws -> HTTPServerResponse
    ) {
        self.init(method, path, summary, access: access, parameters: parameters, body: Body.schema, outcomes) { request in
            let caller = try await access.identify(request)
            try parameters.check(request)
            return try await handler(request, caller, try RequestBody.read(Body.self, from: request))
        }
    }

    private init<Caller>(
        _ method: HTTPRequest.Method, _ path: RoutePath, _ summary: String, access: Access<Caller>, parameters: [RouteParameter],
        body: Schema?, _ outcomes: [RouteOutcome], handle: @escaping @Sendable (HTTPServerRequest) async throws -> HTTPServerResponse
    ) {
        self.method = method
        self.path = path
        self.summary = summary
        self.parameters = parameters
        self.body = body
        self.handle = handle
        needsToken = access.needsToken
        executor = access.executor
        var statuses = access.statuses + Self.statusesEverywhere
        if access.needsToken { statuses += [401, 429] }
        if !path.parameterNames.isEmpty { statuses.append(404) }
        if body != nil { statuses.append(415) }
        let known = Set(outcomes.map(\.status.code))
        self.outcomes = outcomes + Set(statuses).subtracting(known).sorted().map { .error(HTTPResponse.Status(code: $0)) }
    }

    /// How any request can end, whatever its route: not HTTP as we take it (400, 408, 411, 413), two slashes in a row that lws takes for one,
    /// which leads elsewhere (405), a failure of ours (500), too much to do (503).
    static let statusesEverywhere = [400, 405, 408, 411, 413, 500, 503]

    /// As it is called in metrics: `GET /v1/sessions/:id`.
    package var name: String { "\(method.rawValue) \(path)" }
}

/// A type whose JSON a schema describes.
package protocol Described {
    static var schema: Schema { get }
}

/// One way in which a request can end.
package struct RouteOutcome: Sendable {
    package let status: HTTPResponse.Status
    /// Nil of an answer without content.
    package let contentType: String?
    /// Of JSON.
    package let schema: Schema?

    package static func json(_ type: (some Described).Type, status: HTTPResponse.Status = .ok) -> RouteOutcome {
        .json(type.schema, status: status)
    }

    package static func json(_ schema: Schema, status: HTTPResponse.Status = .ok) -> RouteOutcome {
        RouteOutcome(status: status, contentType: "application/json", schema: schema)
    }

    /// Anything but JSON.
    package static func content(_ type: String, status: HTTPResponse.Status = .ok) -> RouteOutcome {
        RouteOutcome(status: status, contentType: type, schema: nil)
    }

    package static let noContent = RouteOutcome(status: .noContent, contentType: nil, schema: nil)

    package static func error(_ status: HTTPResponse.Status) -> RouteOutcome { .json(.error, status: status) }
}
