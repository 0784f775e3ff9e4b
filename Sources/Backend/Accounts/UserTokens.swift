internal import HTTPServer
package import Identity
package import Store
internal import Wire

/// Users' access tokens: short-lived, for the HTTP API and the user's channel. They have their own issuer and key, so they are not valid as
/// room tokens and vice versa.
package struct UserTokens: Sendable {
    package static let issuer = "patchbay-users"
    /// In seconds.
    package static let lifetimeSeconds: Int64 = 900

    /// A verified token's subject.
    package enum Subject: Sendable, Hashable {
        /// Of the gateway itself. Changing the password starts the next generation, which invalidates all earlier tokens.
        case user(UserID, generation: Int)
        /// Of the external issuer. The user is created on first use.
        case external(UserClaims)
    }

    private let key: IssuerKey
    private let own: KeyRing
    private let externalIssuer: ExternalIssuer?

    /// - Parameter externalIssuer: another trusted issuer of user tokens.
    /// - Throws: `KeyError` if its key is unusable.
    package init(key: SealingKey, externalIssuer: ExternalIssuer? = nil) throws(KeyError) {
        let settings = IssuerSettings(issuer: Self.issuer, algorithm: .hs256, key: SecretText(Base64.urlSafe.encode(key.revealedBytes)))
        own = try KeyRing([settings])
        guard let signer = own.signer else { preconditionFailure("the first HS256 key of a ring is its signer") }
        self.key = signer
        self.externalIssuer = externalIssuer
    }

    /// - Parameter generation: the user's current one (`User.tokenGeneration`).
    package func mint(for user: UserID, generation: Int = 0, now: Int64) throws(MintError) -> String {
        let claims = AccessToken(
            identity: user.text, notBefore: now, expires: now + Self.lifetimeSeconds, metadata: generation == 0 ? "" : String(generation))
        return try TokenMinter.mint(claims, with: key)
    }

    /// Verifies a token of the gateway or of the external issuer. `expires` is in seconds since 1970.
    package func verify(_ token: String, now: Int64) throws(TokenError) -> (subject: Subject, expires: Int64) {
        let verifier = TokenVerifier()
        do throws(TokenError) {
            let claims = try verifier.verifyUser(token, keys: own, audience: nil, now: now)
            guard let user = UserID(text: claims.subject) else { throw .badIdentity }
            return (.user(user, generation: Int(claims.metadata) ?? 0), claims.expires)
        } catch .unknownIssuer {
            guard let externalIssuer else { throw .unknownIssuer }
            let claims = try verifier.verifyUser(token, keys: externalIssuer.keys, audience: externalIssuer.audience, now: now)
            return (.external(claims), claims.expires)
        }
    }
}

/// An external identity provider: its key and the required audience.
package struct ExternalIssuer: Sendable {
    package var keys: KeyRing
    package var audience: String?

    package init(keys: KeyRing, audience: String?) {
        self.keys = keys
        self.audience = audience
    }
}
