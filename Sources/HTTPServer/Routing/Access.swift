/// Who may call a route: found out before the request's body is looked at, and handed to the route's handler.
///
/// A handler that needs a user takes one, and so cannot be written without.
package struct Access<Caller: Sendable>: Sendable {
    /// Whether a token is needed, as the OpenAPI document says.
    let needsToken: Bool
    /// The refusals of its own, by status, for the document: 401 and 429 go without saying where a token is needed.
    let statuses: [Int]
    /// Where it is found out, and what is asked for done; nil: on the concurrent executor.
    let executor: (any TaskExecutor)?
    let identify: @Sendable (HTTPServerRequest) async throws -> Caller

    /// - Parameters:
    ///   - executor: for routes that ask the same thing all the time, its own: then no request changes threads for it.
    ///   - identify: throws a `HTTPError`. One with status 401 counts as a failed attempt of the address; after too many of them it is not
    ///     asked any more.
    package static func token(
        refusing statuses: [Int] = [], on executor: (any TaskExecutor)? = nil,
        _ identify: @escaping @Sendable (HTTPServerRequest) async throws -> Caller
    ) -> Access {
        Access(needsToken: true, statuses: statuses, executor: executor, identify: identify)
    }
}

extension Access<Void> {
    /// For everybody.
    package static var open: Access { Access(needsToken: false, statuses: [], executor: nil) { _ in } }
}
