internal import HTTPTypes
package import Identity
internal import Synchronization
internal import Wire

extension Access<AccessToken> {
    /// For who shows a token of an issuer that the gateway knows, with the grant that the request takes.
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

/// The keys by which tokens are believed now: they may be read again while the gateway serves.
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
