internal import HTTPTypes
package import Identity
internal import Synchronization
internal import Wire

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
