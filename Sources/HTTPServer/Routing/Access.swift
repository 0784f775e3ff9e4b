/// Authenticates and authorizes a route's caller, before the request's body is read, and passes the caller to the handler.
///
/// A handler that needs a user declares one as its parameter, so it cannot skip authentication.
package struct Access<Caller: Sendable>: Sendable {
    /// Whether a token is required. Also stated in the OpenAPI document.
    let needsToken: Bool
    /// Additional error statuses for the OpenAPI document. 401 and 429 are implied if a token is required.
    let statuses: [Int]
    /// Runs `identify` and the handler; nil is the concurrent executor.
    let executor: (any TaskExecutor)?
    let identify: @Sendable (HTTPServerRequest) async throws -> Caller

    /// - Parameters:
    ///   - executor: the executor of the service that the route uses most, to avoid thread hops.
    ///   - identify: throws an `HTTPError`. Status 401 counts as a failed attempt of the address; after too many, it is no longer called.
    package static func token(
        refusing statuses: [Int] = [], on executor: (any TaskExecutor)? = nil,
        _ identify: @escaping @Sendable (HTTPServerRequest) async throws -> Caller
    ) -> Access {
        Access(needsToken: true, statuses: statuses, executor: executor, identify: identify)
    }
}

extension Access<Void> {
    /// Anyone may call the route.
    package static var open: Access { Access(needsToken: false, statuses: [], executor: nil) { _ in } }
}
