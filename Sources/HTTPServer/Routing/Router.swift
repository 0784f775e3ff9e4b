internal import HTTPTypes
internal import Identity
package import Logging
package import Sockets
internal import Wire

/// Matches requests to routes and turns handler results and errors into responses.
package struct Router: Sendable {
    package let routes: [Route]
    /// Indices into `routes`, by number of path segments.
    private let indicesByLength: [[Int]]
    private let origins: AllowedOrigins
    private let failures: AuthFailures
    private let log: Logger

    package init(
        routes: [Route], origins: AllowedOrigins, failures: AuthFailures, log: Logger = Logger(label: "patchbay.http")
    ) {
        let duplicate = Dictionary(grouping: routes) { "\($0.method.rawValue) \($0.path.inOpenAPI)" }.first { $0.value.count > 1 }
        precondition(duplicate == nil, "duplicate route: \(duplicate?.value[0].name ?? "")")
        self.routes = routes
        let lengths = routes.map(\.path.pieces.count)
        indicesByLength = (0...(lengths.max() ?? 0)).map { length in lengths.indices.filter { lengths[$0] == length } }
        self.origins = origins
        self.failures = failures
        self.log = log
    }

    /// Finds a request's route. Cheap enough for a shard's thread, which needs the route's executor.
    package func find(_ request: HTTPServerRequest) -> FoundRoute {
        // Keep empty segments: `DELETE /v1/sessions/` with a missing ID must not match `DELETE /v1/sessions`.
        let segments = request.path == "/" ? [] : request.path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard segments.count < indicesByLength.count else { return FoundRoute() }
        var found: [(index: Int, parameters: [String: String])] = []
        for index in indicesByLength[segments.count] {
            if let parameters = routes[index].path.match(segments) { found.append((index, parameters)) }
        }
        // Literal segments take precedence over parameters, whatever the method.
        let fewest = found.map(\.parameters.count).min()
        let matches = found.filter { $0.parameters.count == fewest }
        // HEAD is handled as GET; the body is omitted when the response is written.
        let method = request.method == .head ? .get : request.method
        guard let match = matches.first(where: { routes[$0.index].method == method }) else {
            return FoundRoute(methodsElsewhere: Set(matches.map { routes[$0.index].method }))
        }
        return FoundRoute(route: routes[match.index], parameters: match.parameters)
    }

    /// Runs the found route. Errors become responses.
    package func answer(_ request: HTTPServerRequest, by found: FoundRoute) async -> RoutedResponse {
        var request = request
        var response: HTTPServerResponse
        if let route = found.route {
            request.parameters = found.parameters
            response = await RequestContext.$current.withValue(request.context) { [request] in await run(route, request) }
        } else if found.methodsElsewhere.isEmpty {
            response = HTTPServerResponse(HTTPError(.notFound, Self.absence(at: request.path)), to: request)
        } else {
            response = answer(request, where: found.methodsElsewhere)
        }
        response.finish(for: request, origins)
        return RoutedResponse(response: response, route: found.route?.name)
    }

    /// libwebsockets decodes `%2F` before the path is split.
    private static func absence(at path: String) -> String {
        let names = path.hasPrefix("/v1/rooms/") ? "; names of rooms and participants that contain `/` cannot be part of a path" : ""
        return "there is nothing at this path" + names
    }

    /// Answers a request whose path exists but not with this method.
    private func answer(_ request: HTTPServerRequest, where known: Set<HTTPRequest.Method>) -> HTTPServerResponse {
        let methods = known.union([.options]).union(known.contains(.get) ? [.head] : [])
        let allowed = methods.map(\.rawValue).sorted().joined(separator: ", ")
        var response =
            request.method == .options
            ? HTTPServerResponse(status: .noContent)
            : HTTPServerResponse(HTTPError(.methodNotAllowed, "only \(allowed) here"), to: request)
        response.fields[.allow] = allowed
        return response
    }

    private func run(_ route: Route, _ request: HTTPServerRequest) async -> HTTPServerResponse {
        do {
            if route.limitsFailures, !failures.allowsVerification(from: request.peerAddress, at: request.receivedAt) {
                throw HTTPError.tooManyAttempts
            }
            return try await route.handle(request)
        } catch let thrown as any HTTPErrorConvertible {
            let error = thrown.httpError
            if error.status == .internalServerError { logFailure(of: route, request, "\(thrown)") }
            // A request without a token is not a guess.
            let isGuess = route.limitsFailures && error.status == .unauthorized && error.code != .missingToken
            guard isGuess else { return HTTPServerResponse(thrown, to: request) }
            let isOverLimit = failures.recordFailure(from: request.peerAddress, at: request.receivedAt)
            return HTTPServerResponse(isOverLimit ? HTTPError.tooManyAttempts as any HTTPErrorConvertible : thrown, to: request)
        } catch {
            // Log only the error's type: its description may quote user content.
            logFailure(of: route, request, "\(type(of: error))")
            return HTTPServerResponse(
                HTTPError(.internalError, "internal error; see the gateway's log for this request ID"), to: request)
        }
    }

    private func logFailure(of route: Route, _ request: HTTPServerRequest, _ reason: String) {
        log.error("a route failed", metadata: ["route": "\(route.name)", "error": "\(reason)", "request": "\(request.requestID)"])
    }
}

/// The result of matching a request.
package struct FoundRoute: Sendable {
    /// Nil if no route matches.
    package var route: Route?
    /// Values of path parameters.
    var parameters: [String: String] = [:]
    /// Methods of routes at the same path, if none has the request's method.
    var methodsElsewhere: Set<HTTPRequest.Method> = []
}

/// A response and the name of the route that made it, nil if none matched.
package struct RoutedResponse: Sendable {
    package var response: HTTPServerResponse
    package var route: String?
}
