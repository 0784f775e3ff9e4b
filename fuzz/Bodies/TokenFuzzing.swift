private import COpenSSL
private import Foundation
private import Identity

/// Verifies untrusted tokens, and checks accepted ones with an independent implementation that shares only the hash.
enum TokenFuzzing {
    private static let secret = "a secret that is longer than thirty-two bytes"
    private static let now: Int64 = 1_760_000_000
    private static let keys: KeyRing = {
        let settings = IssuerSettings(issuer: "devkey", algorithm: .hs256, key: SecretText(secret))
        guard let keys = try? KeyRing([settings]) else { preconditionFailure("the key is valid") }
        return keys
    }()

    /// With an even first byte, the rest is the token. With an odd one, header and payload, separated by NUL, are signed correctly, so that the
    /// code after the signature check is reached.
    static func verify(_ bytes: [UInt8]) {
        guard let choice = bytes.first else { return }
        let rest = bytes.dropFirst()
        var token = String(decoding: rest, as: UTF8.self)
        if choice % 2 == 1 {
            let parts = rest.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
            let signed = parts.map { base64URL(Data($0)) }.joined(separator: ".")
            token = signed + "." + base64URL(signature(of: signed))
        }
        guard let claims = try? TokenVerifier().verify(token, keys: keys, now: now) else { return }
        precondition(isGood(token), "an invalid token was accepted: \(token)")
        precondition(claims.issuer == "devkey" && claims.expires > now - 120, "an accepted token has other claims than its text")
    }

    private static func isGood(_ token: String) -> Bool {
        let parts = token.components(separatedBy: ".")
        guard parts.count == 3, data(parts[2]) == signature(of: parts[0] + "." + parts[1]) else { return false }
        guard let header = object(parts[0]), let payload = object(parts[1]) else { return false }
        guard header["alg"] as? String == "HS256", header["crit"] == nil, payload["iss"] as? String == "devkey" else { return false }
        guard let expiry = (payload["exp"] as? NSNumber)?.doubleValue, expiry + 60 >= Double(now) else { return false }
        let notBefore = (payload["nbf"] as? NSNumber)?.doubleValue ?? 0
        return notBefore - 60 <= Double(now)
    }

    private static func object(_ part: String) -> [String: Any]? {
        data(part).flatMap { try? JSONSerialization.jsonObject(with: $0) as? [String: Any] }
    }

    private static func data(_ text: String) -> Data? {
        let base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4))
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    private static func signature(of text: String) -> Data {
        let (key, message) = (Array(secret.utf8), Array(text.utf8))
        var (digest, length) = ([UInt8](repeating: 0, count: 32), UInt32(0))
        HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &digest, &length)
        return Data(digest)
    }
}
