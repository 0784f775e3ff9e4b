internal import HTTPTypes
internal import Identity
internal import Logging
package import Sockets

/// Takes a request to its route, and makes whatever comes of it a response.
package struct Router: Sendable {
    package let routes: [Route]
    /// Places in `routes`, by how many pieces the path has.
    private let placesByLength: [[Int]]
    private let origins: AllowedOrigins
    private let failures: AuthFailureLimiter
    private let log = Logger(label: "patchbay.http")

    package init(routes: [Route], origins: AllowedOrigins, failures: AuthFailureLimiter) {
        let duplicate = Dictionary(grouping: routes) { "\($0.method.rawValue) \($0.path.inOpenAPI)" }.first { $0.value.count > 1 }
        precondition(duplicate == nil, "two routes answer \(duplicate?.value[0].name ?? "")")
        self.routes = routes
        let lengths = routes.map(\.path.pieces.count)
        placesByLength = (0...(lengths.max() ?? 0)).map { length in lengths.indices.filter { lengths[$0] == length } }
        self.origins = origins
        self.failures = failures
    }

    /// The route that a request is for. Takes no longer than to read a header, so that a shard may ask, who wants to know where to have the
    /// request answered.
    package func find(_ request: HTTPServerRequest) -> FoundRoute {
        // An empty piece is a piece: who has lost the id of what is to be deleted does not delete everything.
        let segments = request.path == "/" ? [] : request.path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard segments.count < placesByLength.count else { return FoundRoute() }
        var found: [(place: Int, parameters: [String: String])] = []
        for place in placesByLength[segments.count] {
            if let parameters = routes[place].path.match(segments) { found.append((place, parameters)) }
        }
        // A piece that the path names goes before one that stands for any, whatever the method.
        let fewest = found.map(\.parameters.count).min()
        let matches = found.filter { $0.parameters.count == fewest }
        // HEAD is GET without the body, which is left out where it would be written.
        let method = request.method == .head ? .get : request.method
        guard let match = matches.first(where: { routes[$0.place].method == method }) else {
            return FoundRoute(methodsElsewhere: Set(matches.map { routes[$0.place].method }))
        }
        return FoundRoute(route: routes[match.place], parameters: match.parameters)
    }

    /// What is answered, and by which route. Never throws: an error becomes a response.
    package func answer(_ request: HTTPServerRequest, by found: FoundRoute) async -> RoutedResponse {
        var request = request
        var response: HTTPServerResponse
        if let route = found.route {
            request.parameters = found.parameters
            response = await run(route, request)
        } else if found.methodsElsewhere.isEmpty {
            response = HTTPServerResponse(HTTPError(.notFound, "not_found", "there is nothing at this path"))
        } else {
            response = answer(request.method, where: found.methodsElsewhere)
        }
        response.finish(for: request, origins)
        return RoutedResponse(response: response, route: found.route?.name)
    }

    /// A method that a known path has no route for.
    private func answer(_ method: HTTPRequest.Method, where known: Set<HTTPRequest.Method>) -> HTTPServerResponse {
        let methods = known.union([.options]).union(known.contains(.get) ? [.head] : [])
        let allowed = methods.map(\.rawValue).sorted().joined(separator: ", ")
        var response =
            method == .options
            ? HTTPServerResponse(status: .noContent) : HTTPServerResponse(HTTPError(.methodNotAllowed, "method_not_allowed", "only \(allowed) here"))
        response.fields[.allow] = allowed
        return response
    }

    private func run(_ route: Route, _ request: HTTPServerRequest) async -> HTTPServerResponse {
        do {
            if route.needsToken, !failures.allowsVerification(from: request.peerAddress, at: request.receivedAt) {
                throw HTTPError.tooManyAttempts
            }
            return try await route.handle(request)
        } catch let error as any HTTPErrorConvertible {
            let error = error.httpError
            // A request without a token guesses nothing.
            let isGuess = route.needsToken && error.status == .unauthorized && error.code != TokenError.missing.code
            guard isGuess else { return HTTPServerResponse(error) }
            let isOverLimit = failures.recordFailure(from: request.peerAddress, at: request.receivedAt)
            return HTTPServerResponse(isOverLimit ? .tooManyAttempts : error)
        } catch {
            // Only the error's type: its description may quote what a user said.
            log.error(
                "a route failed",
                metadata: ["route": "\(route.name)", "error": "\(type(of: error))", "request": "\(request.requestID)"])
            return HTTPServerResponse(
                HTTPError(.internalServerError, "internal_error", "the gateway failed; its log says more at this request's id"))
        }
    }
}

/// Which route a request is for.
package struct FoundRoute: Sendable {
    /// Nil if there is none.
    package var route: Route?
    /// What the path names.
    var parameters: [String: String] = [:]
    /// Those of routes at the same path, if none is for the request's own.
    var methodsElsewhere: Set<HTTPRequest.Method> = []
}

/// What is answered, and by which route: nil if there is none.
package struct RoutedResponse: Sendable {
    package var response: HTTPServerResponse
    package var route: String?
}
