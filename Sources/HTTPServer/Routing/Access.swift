internal import HTTPTypes
package import Identity
internal import Synchronization
internal import Wire

/// Authenticates and authorizes a route's caller, before the request's body is read, and passes the caller to the handler.
///
/// A handler that needs a user declares one as its parameter, so it cannot skip authentication.
package struct Access<Caller: Sendable>: Sendable {
    /// Whether a token is required. Also stated in the OpenAPI document.
    let needsToken: Bool
    /// Whether the router limits and counts failures. False if the handler does so itself.
    var limitsFailures = true
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

    /// Requires a token that the handler verifies. It also limits failures (`AuthFailureLimiter`).
    package static var verifiedByHandler: Access {
        Access(needsToken: true, limitsFailures: false, statuses: [403], executor: nil) { _ in }
    }
}

extension Access<AccessToken> {
    /// Requires a token from a known issuer with the grant that the request needs.
    package static func grant(_ keys: KeysInUse, _ grant: @escaping @Sendable (HTTPServerRequest) -> AdminGrant) -> Access {
        .token(refusing: [403]) { request in
            let token: AccessToken
            do throws(TokenError) {
                let text = try RequestToken.extract(authorization: request.headers[.authorization], subprotocols: [], query: nil)
                token = try TokenVerifier().verify(text, keys: keys.current, now: WallClock.seconds)
            } catch {
                throw HTTPError(.unauthorized, error.code, error.message)
            }
            do throws(GrantError) {
                try grant(request).check(token)
            } catch {
                throw HTTPError(.forbidden, error.code, error.message)
            }
            return token
        }
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

/// Extracts a request's token from the `Authorization` header, a subprotocol item or the query, in this order (PROTOCOL, "Location of the
/// token").
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
