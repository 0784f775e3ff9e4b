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
    package func find(_ question: HTTPServerRequest) -> FoundRoute {
        // An empty piece is a piece: who has lost the id of what is to be deleted does not delete everything.
        let segments = question.path == "/" ? [] : question.path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard segments.count < placesByLength.count else { return FoundRoute() }
        var found: [(place: Int, parameters: [String: String])] = []
        for place in placesByLength[segments.count] {
            if let parameters = routes[place].path.match(segments) { found.append((place, parameters)) }
        }
        // A piece that the path names goes before one that stands for any, whatever the method.
        let fewest = found.map(\.parameters.count).min()
        let matches = found.filter { $0.parameters.count == fewest }
        // HEAD is GET without the body, which is left out where it would be written.
        let method = question.method == .head ? .get : question.method
        guard let match = matches.first(where: { routes[$0.place].method == method }) else {
            return FoundRoute(methodsElsewhere: Set(matches.map { routes[$0.place].method }))
        }
        return FoundRoute(route: routes[match.place], parameters: match.parameters)
    }

    /// What is answered, and by which route. Never throws: an error becomes a response.
    package func answer(_ question: HTTPServerRequest, by found: FoundRoute) async -> RoutedResponse {
        var question = question
        var response: HTTPServerResponse
        if let route = found.route {
            question.parameters = found.parameters
            response = await run(route, question)
        } else if found.methodsElsewhere.isEmpty {
            response = HTTPServerResponse(HTTPError(.notFound, "not_found", "there is nothing at this path"))
        } else {
            response = answer(question.method, where: found.methodsElsewhere)
        }
        response.finish(for: question, origins)
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

    private func run(_ route: Route, _ question: HTTPServerRequest) async -> HTTPServerResponse {
        do {
            if route.needsToken, !failures.mayVerify(from: question.peerAddress, at: question.receivedAt) { throw HTTPError.tooManyAttempts }
            return try await route.handle(question)
        } catch let error as any HTTPErrorConvertible {
            let refusal = error.httpError
            // A request without a token is no failed attempt.
            if route.needsToken, refusal.status == .unauthorized, refusal.code != TokenError.missing.code,
                failures.record(from: question.peerAddress, at: question.receivedAt)
            {
                return HTTPServerResponse(HTTPError.tooManyAttempts)
            }
            return HTTPServerResponse(refusal)
        } catch {
            // Its type only: what it says may be somebody's words.
            log.error(
                "a route failed",
                metadata: ["route": "\(route.name)", "error": "\(type(of: error))", "request": "\(question.requestID)"])
            return HTTPServerResponse(HTTPError(.internalServerError, "internal_error", "the gateway failed; its log says more at this request's id"))
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
