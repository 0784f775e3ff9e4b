import Wire

/// A token that vouches for the body of one request, as LiveKit's webhooks have it: `sha256` is the body's digest, and nothing is granted.
package enum BodySignature {
    /// How long after its making a token is believed, in seconds.
    package static let lifetimeSeconds: Int64 = 300

    private struct Claims: Codable {
        var exp: Int64
        var iat: Int64
        var iss: String
        var nbf: Int64
        var sha256: String
    }

    /// - Parameters:
    ///   - body: exactly the bytes that are sent.
    ///   - now: wall-clock seconds since 1970.
    /// - Throws: `notASigningKey` for a public key.
    package static func token(for body: [UInt8], at now: Int64, with key: IssuerKey) throws(MintError) -> String {
        let digest = Base64.standard.encode(SHA2.digest(of: body))
        let claims = Claims(exp: now + lifetimeSeconds, iat: now, iss: key.issuer, nbf: now, sha256: digest)
        guard let json = try? JSON.encode(claims, names: .asDeclared) else { throw .invalidClaims(.malformed) }
        return try TokenMinter.sign(claims: json, with: key)
    }

    /// Whether `token` vouches for `body` now. For tests and for whoever receives webhooks with this code.
    package static func isValid(_ token: String, for body: [UInt8], at now: Int64, key: IssuerKey) -> Bool {
        guard let compact = try? CompactToken(token), key.algorithm == .hs256, key.hasSigned(compact) else { return false }
        guard let claims = try? JSON.decode(Claims.self, from: compact.payload, names: .asDeclared) else { return false }
        let digest = Base64.standard.encode(SHA2.digest(of: body))
        return claims.iss == key.issuer && claims.nbf <= now && now < claims.exp && areEqualInConstantTime(claims.sha256, digest)
    }
}
