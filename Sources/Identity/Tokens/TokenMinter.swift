import Wire

/// Why a token could not be minted.
package enum MintError: Error, Hashable, Sendable {
    /// The key is a public one; only an HS256 secret can sign.
    case notASigningKey
    /// A verifier would reject the claims.
    case invalidClaims(TokenError)
}

extension MintError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notASigningKey: "The issuer has a public key; minting tokens needs an issuer with an HS256 secret."
        case .invalidClaims(let error): "The token would be rejected. \(error.message)"
        }
    }
}

/// Signs tokens in LiveKit's format, for the command line and for token refresh.
package enum TokenMinter {
    /// Signs claims with HS256. `iss` is the key's issuer, regardless of `claims.issuer`.
    ///
    /// - Throws: `notASigningKey`, or `invalidClaims` for claims that a verifier would always reject: names too long, a join without identity, NUL
    ///   characters, dates out of range, more than 16 KiB in total.
    package static func mint(_ claims: AccessToken, with key: IssuerKey) throws(MintError) -> String {
        guard key.algorithm == .hs256 else { throw .notASigningKey }
        var claims = claims
        claims.issuer = key.issuer
        guard let json = try? JSON.encode(claims, names: .asDeclared) else { throw .invalidClaims(.malformed) }
        // Checked before libjwt, which encodes on the stack.
        guard json.count <= TokenVerifier.tokenBytesMaxByDefault else { throw .invalidClaims(.tooLarge) }
        do {
            // Decode as a verifier will, so that nothing is signed that would be rejected.
            try ClaimsJSON.decode(AccessToken.self, from: json).checkNames()
        } catch {
            throw .invalidClaims(error)
        }
        let text = try sign(claims: json, with: key)
        guard text.utf8.count <= TokenVerifier.tokenBytesMaxByDefault else { throw .invalidClaims(.tooLarge) }
        return text
    }

    /// - Parameter json: one object, at most 16 KiB.
    static func sign(claims json: [UInt8], with key: IssuerKey) throws(MintError) -> String {
        guard key.algorithm == .hs256 else { throw .notASigningKey }
        guard var token = LibJWT(), token.add(claims: String(decoding: json, as: UTF8.self)),
            let text = token.signed(secret: key.material.revealedBytes)
        else { throw .invalidClaims(.malformed) }
        return text
    }
}

/// Signs request bodies like LiveKit's webhooks: a token whose `sha256` claim is the body's digest, without grants.
package enum BodySignature {
    /// How long a signature is valid, in seconds.
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
        /// LiveKit's receivers accept only the padded standard alphabet.
        let digest = Base64.standard.encode(SHA2.digest(of: body))
        let claims = Claims(exp: now + lifetimeSeconds, iat: now, iss: key.issuer, nbf: now, sha256: digest)
        guard let json = try? JSON.encode(claims, names: .asDeclared) else { throw .invalidClaims(.malformed) }
        return try TokenMinter.sign(claims: json, with: key)
    }

    /// Whether `token` is a current signature of `body`. For tests and for webhook receivers written in Swift.
    package static func isValid(_ token: String, for body: [UInt8], at now: Int64, key: IssuerKey) -> Bool {
        guard let compact = try? CompactToken(token), key.algorithm == .hs256, key.hasSigned(compact) else { return false }
        guard let claims = try? JSON.decode(Claims.self, from: compact.payload, names: .asDeclared) else { return false }
        let digest = Base64.standard.encode(SHA2.digest(of: body))
        return claims.iss == key.issuer && claims.nbf <= now && now < claims.exp && areEqualInConstantTime(claims.sha256, digest)
    }
}
