import COpenSSL
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
        guard let digest = sha256InBase64(of: body) else { throw .refused(.malformed) }
        let claims = Claims(exp: now + lifetimeSeconds, iat: now, iss: key.issuer, nbf: now, sha256: digest)
        guard let json = try? JSON.encode(claims, names: .asDeclared) else { throw .refused(.malformed) }
        return try TokenMinter.sign(claims: json, with: key)
    }

    /// Whether `token` vouches for `body` now. For tests and for whoever receives webhooks with this code.
    package static func isValid(_ token: String, for body: [UInt8], at now: Int64, key: IssuerKey) -> Bool {
        guard let compact = try? CompactToken(token), key.algorithm == .hs256, key.hasSigned(compact) else { return false }
        guard let claims = try? JSON.decode(Claims.self, from: compact.payload, names: .asDeclared),
            let digest = sha256InBase64(of: body)
        else { return false }
        return claims.iss == key.issuer && claims.nbf <= now && now < claims.exp && areEqualInConstantTime(claims.sha256, digest)
    }

    /// Padded, in the standard alphabet: LiveKit's receivers take no other.
    private static func sha256InBase64(of body: [UInt8]) -> String? {
        leavingErrorQueueAlone {
            var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var length: UInt32 = 0
            guard unsafe EVP_Digest(body, body.count, &digest, &length, EVP_sha256(), nil) == 1 else { return nil }
            // Four characters for three bytes, and OpenSSL ends them with a zero.
            var text = [UInt8](repeating: 0, count: (Int(length) + 2) / 3 * 4 + 1)
            let written = unsafe EVP_EncodeBlock(&text, digest, Int32(length))
            return String(decoding: text.prefix(Int(written)), as: UTF8.self)
        }
    }
}
