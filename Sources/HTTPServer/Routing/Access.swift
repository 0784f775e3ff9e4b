internal import HTTPTypes
package import Identity
internal import Synchronization
package import Wire

/// Authenticates and authorizes a route's caller, before the request's body is read, and passes the caller to the handler.
///
/// A handler that needs a user declares one as its parameter, so it cannot skip authentication.
package struct Access<Caller: Sendable>: Sendable {
    /// The required token or grant, in Markdown for the reference; nil if the route needs none.
    let token: String?
    /// Whether the router limits and counts failures. False if the handler does so itself.
    var limitsFailures = true
    /// Additional error statuses for the OpenAPI document. 401 and 429 are implied if a token is required.
    let statuses: [Int]
    /// Runs `identify` and the handler; nil is the concurrent executor.
    let executor: (any TaskExecutor)?
    let identify: @Sendable (HTTPServerRequest) async throws -> Caller

    /// - Parameters:
    ///   - token: whose token, or which grant, in Markdown.
    ///   - executor: the executor of the service that the route uses most, to avoid thread hops.
    ///   - identify: throws an `HTTPErrorConvertible`. Status 401 counts as a failed attempt of the address; after too many, it is no longer
    ///     called.
    package static func token(
        _ token: String, refusing statuses: [Int] = [], on executor: (any TaskExecutor)? = nil,
        _ identify: @escaping @Sendable (HTTPServerRequest) async throws -> Caller
    ) -> Access {
        Access(token: token, statuses: statuses, executor: executor, identify: identify)
    }
}

extension Access {
    /// The same access with a check after the caller is known.
    ///
    /// - Parameter check: throws an `HTTPErrorConvertible`.
    package func checking(_ check: @escaping @Sendable () async throws -> Void) -> Access {
        Access(token: token, limitsFailures: limitsFailures, statuses: statuses, executor: executor) { request in
            let caller = try await identify(request)
            try await check()
            return caller
        }
    }
}

extension Access<Void> {
    /// Anyone may call the route.
    package static var open: Access { Access(token: nil, statuses: [], executor: nil) { _ in } }

    /// Requires a token that the handler, or the upgrade to a WebSocket, verifies. It also limits failures (`AuthFailures`).
    package static func verifiedElsewhere(_ token: String) -> Access {
        Access(token: token, limitsFailures: false, statuses: [403], executor: nil) { _ in }
    }
}

extension Access<AccessToken> {
    /// Requires a token from a known issuer with the grant that the request needs.
    ///
    /// - Parameter names: the grant in Markdown.
    package static func grant(_ names: String, _ keys: KeysInUse, _ grant: @escaping @Sendable (HTTPServerRequest) -> AdminGrant) -> Access
    {
        .token(names, refusing: [403]) { request in
            let token = try request.accessToken(keys)
            try grant(request).check(token)
            return token
        }
    }
}

extension HTTPServerRequest {
    /// The token of the `Authorization` field, not verified.
    package var bearerToken: String {
        get throws(TokenError) { try RequestToken.extract(authorization: headers[.authorization], subprotocols: [], query: nil) }
    }

    /// The verified token of the `Authorization` field, from a known issuer.
    package func accessToken(_ keys: KeysInUse) throws(TokenError) -> AccessToken {
        try TokenVerifier().verify(bearerToken, keys: keys.current, now: WallClock.seconds)
    }
}

/// The current token verification keys, replaceable while the gateway runs.
package final class KeysInUse: Sendable {
    private let keys: Mutex<KeyRing>

    package init(_ keys: KeyRing) {
        self.keys = Mutex(keys)
    }

    package var current: KeyRing { keys.withLock { $0 } }

    package func replace(with newKeys: KeyRing) {
        keys.withLock { $0 = newKeys }
    }
}

/// Extracts a request's token from the `Authorization` header, a subprotocol item or the query, in this order (docs/protocol/connecting.md,
/// "Location of the token").
package enum RequestToken {
    package static func extract(authorization: String?, subprotocols: [Substring], query: String?) throws(TokenError) -> String {
        if let authorization {
            let parts = authorization.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
            guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw .malformed }
            return String(parts[1])
        }
        let prefix = ProtocolLimits.bearerSubprotocolPrefix
        if let item = subprotocols.first(where: { $0.hasPrefix(prefix) }) { return String(item.dropFirst(prefix.count)) }
        if let query, !query.isEmpty { return query }
        throw .missing
    }
}

/// Limits failed authentications per address, across all shards.
///
/// A valid token is accepted from any address, because many clients may share one. Once an address is over its limit (`FailureLimiter`),
/// further failures are answered with 429 instead of 401. A request without a token is not a failure.
///
/// To protect the CPU, tokens from such addresses are verified at most `verificationsPerSecond` times a second in total, which costs at
/// most a tenth of one core (0.02 to 0.1 ms each). Beyond that they get 429 unverified.
package final class AuthFailures: Sendable {
    package static let verificationsPerSecond = 1_000

    private struct State {
        var limiter = FailureLimiter()
        /// For addresses over their limit.
        var verifications = TokenBucket(perSecond: verificationsPerSecond, burst: verificationsPerSecond)
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether a token from this address may be verified.
    package func allowsVerification(from address: String, at now: Instant) -> Bool {
        state.withLock { $0.limiter.wait(for: address, at: now) == nil || $0.verifications.take(at: now) }
    }

    /// Records a failed authentication, unless the address is already over its limit.
    ///
    /// - Returns: whether the address was over its limit, so that the response is 429.
    @discardableResult
    package func recordFailure(from address: String, at now: Instant) -> Bool {
        state.withLock { state in
            let isOverLimit = state.limiter.wait(for: address, at: now) != nil
            if !isOverLimit { state.limiter.recordFailure(of: address, at: now) }
            return isOverLimit
        }
    }
}

extension HTTPError {
    /// An invalid token or password from an address that is over the limit.
    package static let tooManyAttempts = HTTPError(
        .tooManyAttempts, "too many failed attempts from this address; wait a minute", retryAfterSeconds: 60)
}
