import COpenSSL
import Identity

/// The world of these tests: three issuers that are believed, and keys of strangers.
enum Issuers {
    /// Wall-clock seconds at which the tests happen.
    static let now: Int64 = 1_800_000_000

    static let hs = "hs-issuer"
    static let rs = "rs-issuer"
    static let es = "es-issuer"

    static let secret = "ünlikely to be guessed, and long enough for SHA-256"
    static let rsa = KeyPair.rsa(bits: 2_048)
    static let rsaOfStranger = KeyPair.rsa(bits: 2_048)
    static let curve = KeyPair.curve(NID_X9_62_prime256v1)
    static let curveOfStranger = KeyPair.curve(NID_X9_62_prime256v1)
    static let widerCurve = KeyPair.curve(NID_secp384r1)

    static let keys: KeyRing = {
        do {
            return try KeyRing([
                IssuerSettings(issuer: rs, algorithm: .rs256, key: SecretText(rsa.publicPEM)),
                IssuerSettings(issuer: hs, algorithm: .hs256, key: SecretText(secret)),
                IssuerSettings(issuer: es, algorithm: .es256, key: SecretText(curve.publicPEM)),
            ])
        } catch {
            fatalError("the tests' own keys are refused: \(error)")
        }
    }()

    static func verify(_ token: String, at now: Int64 = now) throws(TokenError) -> AccessToken {
        try TokenVerifier().verify(token, keys: keys, now: now)
    }

    /// The code with which `token` is refused; nil if it is believed.
    static func refusal(of token: String, at now: Int64 = now) -> String? {
        do {
            _ = try verify(token, at: now)
            return nil
        } catch {
            return error.code
        }
    }
}
