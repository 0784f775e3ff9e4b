internal import HTTPTypes
internal import Logging
internal import Sockets

/// Takes a request to its route, and makes whatever comes of it a response. Runs on the concurrent executor.
struct Router: Sendable {
    let routes: [Route]
    private let origins: AllowedOrigins
    private let failures: SharedFailures
    private let log = Logger(label: "patchbay.http")

    init(routes: [Route], origins: AllowedOrigins, failures: SharedFailures) {
        let duplicate = Dictionary(grouping: routes) { "\($0.method.rawValue) \($0.path.inOpenAPI)" }.first { $0.value.count > 1 }
        precondition(duplicate == nil, "two routes answer \(duplicate?.value[0].name ?? "")")
        self.routes = routes
        self.origins = origins
        self.failures = failures
    }

    /// What is answered, and by which route. Never throws: an error becomes a response.
    func answer(_ question: HTTPQuestion) async -> RoutedResponse {
        var question = question
        // An empty piece is a piece: who has lost the id of what is to be deleted does not delete everything.
        let segments = question.path == "/" ? [] : question.path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        let found = routes.compactMap { route in route.path.match(segments).map { (route: route, parameters: $0) } }
        // A piece that the path names goes before one that stands for any, whatever the method.
        let fewest = found.map(\.parameters.count).min()
        let matches = found.filter { $0.parameters.count == fewest }
        // HEAD is GET without the body, which is left out where it would be written.
        let method = question.method == .head ? .get : question.method
        let match = matches.first { $0.route.method == method }
        var response: Response
        if let match {
            question.parameters = match.parameters
            response = await run(match.route, question)
        } else if matches.isEmpty {
            response = Response(Refusal(.notFound, "not_found", "there is nothing at this path"))
        } else {
            response = answer(question.method, where: Set(matches.map(\.route.method)))
        }
        response.finish(for: question, origins)
        return RoutedResponse(response: response, route: match?.route.name)
    }

    /// A method that a known path has no route for.
    private func answer(_ method: HTTPRequest.Method, where known: Set<HTTPRequest.Method>) -> Response {
        let methods = known.union([.options]).union(known.contains(.get) ? [.head] : [])
        let allowed = methods.map(\.rawValue).sorted().joined(separator: ", ")
        var response =
            method == .options
            ? Response(status: .noContent) : Response(Refusal(.methodNotAllowed, "method_not_allowed", "only \(allowed) here"))
        response.fields[.allow] = allowed
        return response
    }

    private func run(_ route: Route, _ question: HTTPQuestion) async -> Response {
        do {
            if route.needsToken, !failures.mayTry(question.peerAddress, at: question.receivedAt) {
                throw Refusal(
                    .tooManyRequests, "too_many_attempts", "too many failed attempts from this address; wait a minute",
                    retryAfterSeconds: 60)
            }
            return try await route.handle(question)
        } catch let error as any Refusing {
            let refusal = error.refusal
            if route.needsToken, refusal.status == .unauthorized { failures.record(from: question.peerAddress, at: question.receivedAt) }
            return Response(refusal)
        } catch {
            // Its type only: what it says may be somebody's words.
            log.error(
                "a route failed",
                metadata: ["route": "\(route.name)", "error": "\(type(of: error))", "request": "\(question.requestID)"])
            return Response(Refusal(.internalServerError, "internal_error", "the gateway failed; its log says more at this request's id"))
        }
    }
}

/// What is answered, and by which route: nil if there is none.
struct RoutedResponse: Sendable {
    var response: Response
    var route: String?
}
