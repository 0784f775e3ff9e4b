/// Turns a token's text into claims that can be believed, or says why not.
///
/// In this order, the cheap and the safe first: length, form, issuer, algorithm, signature, and only then what the token claims.
/// It reads no clock and keeps nothing, so one value serves all threads.
package struct TokenVerifier: Sendable {
    /// Longer tokens are refused unread, in bytes. LiveKit's metadata may be longer, but request lines may not.
    package static let tokenBytesMaxByDefault = 16 * 1_024

    private let tokenBytesMax: Int

    package init(tokenBytesMax: Int = TokenVerifier.tokenBytesMaxByDefault) {
        self.tokenBytesMax = tokenBytesMax
    }

    /// - Parameters:
    ///   - token: the compact form, nothing around it.
    ///   - now: wall-clock seconds since 1970. `exp` and `nbf` have 60 s of leeway.
    package func verify(_ token: String, keys: KeyRing, now: Int64) throws(TokenError) -> AccessToken {
        try claims(of: try believed(token, keys: keys), now: now)
    }

    /// The same of a token that says who a user is, and was made for `audience`.
    ///
    /// - Parameter audience: what `aud` must be or hold (RFC 7519 section 4.1.3); nil where nothing is asked of it.
    package func verifyUser(_ token: String, keys: KeyRing, audience: String?, now: Int64) throws(TokenError) -> UserClaims {
        let parts = try believed(token, keys: keys)
        let claims = try claims(of: parts, now: now)
        guard let subject = claims.user else { throw .badIdentity }
        let more = try ClaimsJSON.decode(AudienceClaims.self, from: parts.payload)
        if let audience, !more.audiences.contains(audience) { throw .wrongAudience }
        return UserClaims(issuer: claims.issuer, subject: subject, email: more.email, expires: claims.expires)
    }

    /// A token whose signature is its issuer's.
    private func believed(_ token: String, keys: KeyRing) throws(TokenError) -> CompactToken {
        guard !token.isEmpty else { throw .missing }
        guard token.utf8.count <= tokenBytesMax else { throw .tooLarge }
        let parts = try CompactToken(token)
        let header = try ClaimsJSON.decode(TokenHeader.self, from: parts.header)
        let claimed = try ClaimsJSON.decode(ClaimedIssuer.self, from: parts.payload)
        guard let key = keys.key(of: claimed.issuer) else { throw .unknownIssuer }
        // RFC 8725 section 3.1. Before the signature: a key must not even be tried with an algorithm that the token chose.
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
