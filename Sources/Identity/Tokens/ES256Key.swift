import COpenSSL
import Wire

/// A private key on the curve P-256 that signs with ES256 (RFC 7518 section 3.4), for services that demand such tokens.
///
/// Keeps the PEM text and parses it for each signature: tokens are signed rarely.
package struct ES256Key: Sendable {
    private let pem: SecretText

    /// Nil for anything but an unencrypted private key on P-256 in PEM.
    package init?(pem: SecretText) {
        let isUsable = preservingErrorQueue { OpenSSLKey(privatePEM: pem.revealedBytes)?.isOnP256 ?? false }
        guard isUsable else { return nil }
        self.pem = pem
    }

    /// The signature: `r` and `s`, 32 bytes each.
    ///
    /// - Returns: nil if OpenSSL fails, for example without memory.
    package func signature(of message: [UInt8]) -> [UInt8]? {
        preservingErrorQueue { OpenSSLKey(privatePEM: pem.revealedBytes)?.signature(of: message).flatMap(Self.plain) }
    }

    /// A JSON Web Token as Apple's services take it (Apple, "Establishing a token-based connection to APNs").
    ///
    /// - Parameters:
    ///   - id: the key's identifier at the service.
    ///   - team: the issuer.
    ///   - now: seconds since 1970.
    package func providerToken(id: String, team: String, now: Int64) -> String? {
        struct Header: Encodable {
            let alg = "ES256"
            let kid: String
        }
        struct Claims: Encodable {
            let iss: String
            let iat: Int64
        }
        guard let header = try? JSON.encode(Header(kid: id), names: .asDeclared),
            let claims = try? JSON.encode(Claims(iss: team, iat: now), names: .asDeclared)
        else { return nil }
        let signed = Base64.urlSafe.encode(header) + "." + Base64.urlSafe.encode(claims)
        return signature(of: Array(signed.utf8)).map { signed + "." + Base64.urlSafe.encode($0) }
    }

    /// Converts OpenSSL's form, a DER sequence of two integers (X.690 section 8), to that of RFC 7518.
    private static func plain(_ der: [UInt8]) -> [UInt8]? {
        // 72 bytes at most, so that each length has one byte.
        var rest = der[...]
        func value(tagged tag: UInt8) -> ArraySlice<UInt8>? {
            guard rest.count >= 2, rest.popFirst() == tag, let count = rest.popFirst(), count < 0x80, rest.count >= Int(count) else {
                return nil
            }
            defer { rest = rest.dropFirst(Int(count)) }
            return rest.prefix(Int(count))
        }
        guard let sequence = value(tagged: 0x30), rest.isEmpty else { return nil }
        rest = sequence
        guard let r = value(tagged: 0x02)?.drop(while: { $0 == 0 }), let s = value(tagged: 0x02)?.drop(while: { $0 == 0 }),
            r.count <= 32, s.count <= 32
        else { return nil }
        return [r, s].flatMap { [UInt8](repeating: 0, count: 32 - $0.count) + $0 }
    }
}
