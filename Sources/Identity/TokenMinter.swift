import Wire

/// Why no token was made.
package enum MintError: Error, Hashable, Sendable {
    /// The key is a public one: only an HS256 secret can sign here.
    case notASigningKey
    /// A verifier would refuse the claims for this.
    case invalidClaims(TokenError)
}

extension MintError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notASigningKey: "Only an issuer with an HS256 secret can sign tokens here."
        case .invalidClaims(let error): "The token would be refused. \(error.message)"
        }
    }
}

/// Signs tokens in LiveKit's form, for the command line and for refreshing.
package enum TokenMinter {
    /// The claims as a token, HS256. `iss` is the key's issuer, whatever `claims.issuer` says.
    ///
    /// - Throws: `notASigningKey`, or `refused` for claims that no verifier would take at any time: names too long, a join without an
    ///   identity, NUL characters, dates out of range, more than 16 KiB in all.
    package static func mint(_ claims: AccessToken, with key: IssuerKey) throws(MintError) -> String {
        guard key.algorithm == .hs256 else { throw .notASigningKey }
        var claims = claims
        claims.issuer = key.issuer
        guard let json = try? JSON.encode(claims, names: .asDeclared) else { throw .invalidClaims(.malformed) }
        // Before libjwt, which encodes on the stack.
        guard json.count <= TokenVerifier.tokenBytesMaxByDefault else { throw .invalidClaims(.tooLarge) }
        do {
            // Read back as a verifier will: whatever it would refuse is not signed.
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
