/// Verifies tokens and returns their claims.
///
/// Checks run from cheap to expensive and from safe to unsafe: length, structure, issuer, algorithm, signature, then the claims. Stateless
/// and without a clock, so one value serves all threads.
package struct TokenVerifier: Sendable {
    /// Longer tokens are rejected unparsed, in bytes. LiveKit's metadata may be longer, but request lines may not.
    package static let tokenBytesMaxByDefault = 16 * 1_024

    private let tokenBytesMax: Int

    package init(tokenBytesMax: Int = TokenVerifier.tokenBytesMaxByDefault) {
        self.tokenBytesMax = tokenBytesMax
    }

    /// - Parameters:
    ///   - token: the compact form, without surrounding text.
    ///   - now: wall-clock seconds since 1970. `exp` and `nbf` have 60 s of leeway.
    package func verify(_ token: String, keys: KeyRing, now: Int64) throws(TokenError) -> AccessToken {
        try claims(of: try checkSignature(of: token, keys: keys), now: now)
    }

    /// Verifies a token that identifies a user.
    ///
    /// - Parameter audience: required value of `aud` (RFC 7519 section 4.1.3); nil accepts any.
    package func verifyUser(_ token: String, keys: KeyRing, audience: String?, now: Int64) throws(TokenError) -> UserClaims {
        let parts = try checkSignature(of: token, keys: keys)
        let claims = try claims(of: parts, now: now)
        guard let subject = claims.user else { throw .badIdentity }
        let more = try ClaimsJSON.decode(AudienceClaims.self, from: parts.payload)
        if let audience, !more.audiences.contains(audience) { throw .wrongAudience }
        return UserClaims(
            issuer: claims.issuer, subject: subject, email: more.email, metadata: claims.metadata, expires: claims.expires)
    }

    /// Parses a token and checks that its issuer signed it.
    private func checkSignature(of token: String, keys: KeyRing) throws(TokenError) -> CompactToken {
        guard !token.isEmpty else { throw .missing }
        guard token.utf8.count <= tokenBytesMax else { throw .tooLarge }
        let parts = try CompactToken(token)
        let header = try ClaimsJSON.decode(TokenHeader.self, from: parts.header)
        let claimed = try ClaimsJSON.decode(ClaimedIssuer.self, from: parts.payload)
        guard let key = keys.key(of: claimed.issuer) else { throw .unknownIssuer }
        // RFC 8725 section 3.1. Checked before the signature: a key must never be used with an algorithm that the token chose.
        guard header.algorithm == key.algorithm.rawValue else { throw .wrongAlgorithm }
        guard key.hasSigned(parts) else { throw .badSignature }
        return parts
    }

    private func claims(of parts: CompactToken, now: Int64) throws(TokenError) -> AccessToken {
        let claims = try ClaimsJSON.decode(AccessToken.self, from: parts.payload)
        try claims.checkTimes(now: now)
        try claims.checkNames()
        return claims
    }
}

/// A user's identity as stated by a token.
package struct UserClaims: Sendable, Hashable {
    package var issuer: String
    /// `sub`: the user's id at the issuer.
    package var subject: String
    package var email: String?
    /// Opaque to the verifier; empty if the token has none.
    package var metadata: String
    /// Seconds since 1970.
    package var expires: Int64
}

/// Claims of user tokens that `AccessToken` does not have.
struct AudienceClaims: Decodable {
    /// `aud`: one or several values (RFC 7519 section 4.1.3).
    let audiences: [String]
    let email: String?

    private enum CodingKeys: String, CodingKey { case aud, email }

    init(from decoder: any Decoder) throws {
        let claims = try decoder.container(keyedBy: CodingKeys.self)
        email = try claims.decodeIfPresent(String.self, forKey: .email)
        if let one = try? claims.decodeIfPresent(String.self, forKey: .aud) {
            audiences = [one]
        } else {
            audiences = try claims.decodeIfPresent([String].self, forKey: .aud) ?? []
        }
    }
}
