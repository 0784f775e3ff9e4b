package import HTTPTypes
package import Sockets

/// An HTTP route: method, path, access, body schema, possible responses and handler. `Router` dispatches requests to it, and the OpenAPI
/// document is generated from it.
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
/// A handler runs on the executor of its `Access`, never on a shard's thread. Its body has been checked against the schema and decoded. It
/// returns an `HTTPServerResponse` or throws an `HTTPErrorConvertible`; other errors are logged by type and answered with 500. HEAD, CORS,
/// request IDs, compression and security fields are added by the router.
package struct Route: Sendable {
    package let method: HTTPRequest.Method
    package let path: RoutePath
    /// Shown in the OpenAPI document.
    package let summary: String
    /// The required token or grant, in Markdown; nil if the route needs none.
    package let token: String?
    let limitsFailures: Bool
    package let executor: (any TaskExecutor)?
    let parameters: [RouteParameter]
    let body: Schema?
    package let outcomes: [RouteOutcome]
    /// Authenticates, then checks parameters and body, then runs the handler.
    let handle: @Sendable (HTTPServerRequest) async throws -> HTTPServerResponse

    /// A route without a body.
    ///
    /// - Parameter parameters: query parameters, and path parameters with a schema. Checked before the handler is called.
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
        token = access.token
        limitsFailures = access.token != nil && access.limitsFailures
        executor = access.executor
        var statuses = access.statuses + Self.statusesEverywhere
        if token != nil { statuses += [401, 429] }
        if !path.parameterNames.isEmpty { statuses.append(404) }
        if body != nil { statuses.append(415) }
        let known = Set(outcomes.map(\.status.code))
        self.outcomes = outcomes + Set(statuses).subtracting(known).sorted().map { .error(HTTPResponse.Status(code: $0)) }
    }

    /// Statuses that any route may return: malformed or oversized HTTP (400, 408, 411, 413), a double slash that libwebsockets collapses to
    /// another route's path (405), internal error (500), overload (503).
    static let statusesEverywhere = [400, 405, 408, 411, 413, 500, 503]

    /// The label in metrics: `GET /v1/sessions/:id`.
    package var name: String { "\(method.rawValue) \(path)" }
}

/// A type with a JSON schema.
package protocol Described {
    static var schema: Schema { get }
}

/// A possible response of a route.
package struct RouteOutcome: Sendable {
    package let status: HTTPResponse.Status
    /// Nil for a response without content.
    package let contentType: String?
    package let schema: Schema?

    package static func json(_ type: (some Described).Type, status: HTTPResponse.Status = .ok) -> RouteOutcome {
        .json(type.schema, status: status)
    }

    package static func json(_ schema: Schema, status: HTTPResponse.Status = .ok) -> RouteOutcome {
        RouteOutcome(status: status, contentType: "application/json", schema: schema)
    }

    package static func json(_ view: JSONView<some Sendable>, status: HTTPResponse.Status = .ok) -> RouteOutcome {
        .json(view.schema, status: status)
    }

    /// Content other than JSON.
    package static func content(_ type: String, status: HTTPResponse.Status = .ok) -> RouteOutcome {
        RouteOutcome(status: status, contentType: type, schema: nil)
    }

    package static let noContent = RouteOutcome(status: .noContent, contentType: nil, schema: nil)
    /// A redirect.
    package static let found = RouteOutcome(status: .found, contentType: nil, schema: nil)
    package static let notModified = RouteOutcome(status: .notModified, contentType: nil, schema: nil)

    package static func error(_ status: HTTPResponse.Status) -> RouteOutcome { .json(.error, status: status) }
    package static let storeFull = RouteOutcome.error(.insufficientStorage)
}
