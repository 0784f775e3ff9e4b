import COpenSSL

/// Tokens of the wrong issuer, with the wrong algorithm or signature.
extension BadToken {
    static let ofBadOrigin: [BadToken] = [
        BadToken("an issuer nobody knows", "unknown_issuer", payload: Payload().with("iss", "\"nobody\"")),
        BadToken("the issuer in capitals", "unknown_issuer", payload: Payload().with("iss", "\"HS-ISSUER\"")),
        BadToken("an empty issuer", "unknown_issuer", payload: Payload().with("iss", "\"\"")),
        BadToken("no issuer", "malformed_token", payload: Payload().without("iss")),
        BadToken("an issuer that is null", "malformed_token", payload: Payload().with("iss", "null")),
        BadToken("an issuer that is a number", "malformed_token", payload: Payload().with("iss", "1")),
        BadToken("two issuers, the known one last", "malformed_token", rawPayload: #"{"iss":"nobody","# + Payload().text.dropFirst()),
        BadToken("two issuers, the known one first", "malformed_token", payload: Payload().adding("iss", "\"nobody\"")),
        BadToken("two issuers, both known", "malformed_token", payload: Payload().adding("iss", "\"\(Issuers.rs)\"")),
    ]

    static let ofBadAlgorithm: [BadToken] = {
        let claims = Payload().text
        let claimsOfRS = Payload(issuer: Issuers.rs).text
        let claimsOfES = Payload(issuer: Issuers.es).text
        let secret = Forge.Signer.secret(Issuers.secret)
        func under(_ algorithm: String, _ payload: String, _ signer: Forge.Signer) -> String {
            Forge.token(header: Forge.header(algorithm), payload: payload, signer)
        }
        return [
            BadToken("none, without signature", "malformed_token", under("none", claims, .bytes([]))),
            BadToken("none, with some signature", "wrong_algorithm", under("none", claims, .bytes([1, 2, 3]))),
            BadToken("none, signed with the key", "wrong_algorithm", under("none", claims, secret)),
            BadToken("None", "wrong_algorithm", under("None", claims, .bytes([0]))),
            BadToken("nONE", "wrong_algorithm", under("nONE", claims, .bytes([0]))),
            BadToken("NONE for a public key", "wrong_algorithm", under("NONE", claimsOfRS, .bytes([0]))),
            BadToken("an empty algorithm", "wrong_algorithm", under("", claims, secret)),
            BadToken("hs256 in small letters", "wrong_algorithm", under("hs256", claims, secret)),
            BadToken("HS384, rightly signed", "wrong_algorithm", under("HS384", claims, .secret(Issuers.secret, digest: EVP_sha384()))),
            BadToken("HS512, rightly signed", "wrong_algorithm", under("HS512", claims, .secret(Issuers.secret, digest: EVP_sha512()))),
            BadToken("RS256 for a secret", "wrong_algorithm", under("RS256", claims, .rsa(Issuers.rsa))),
            BadToken("the RSA public key as secret", "wrong_algorithm", under("HS256", claimsOfRS, .secret(Issuers.rsa.publicPEM))),
            BadToken("the EC public key as secret", "wrong_algorithm", under("HS256", claimsOfES, .secret(Issuers.curve.publicPEM))),
            BadToken("RS512, rightly signed", "wrong_algorithm", under("RS512", claimsOfRS, .rsa(Issuers.rsa, digest: EVP_sha512()))),
            BadToken("PS256", "wrong_algorithm", under("PS256", claimsOfRS, .rsa(Issuers.rsa))),
            BadToken("ES256 for an RSA key", "wrong_algorithm", under("ES256", claimsOfRS, .curve(Issuers.curve))),
            BadToken(
                "ES384 for a P-256 key", "wrong_algorithm",
                under("ES384", claimsOfES, .curve(Issuers.widerCurve, digest: EVP_sha384(), size: 48))),
            BadToken("EdDSA", "wrong_algorithm", under("EdDSA", claimsOfES, .bytes(Array(repeating: 1, count: 64)))),
        ]
    }()

    static let ofBadSignature: [BadToken] = {
        let zeros = [UInt8](repeating: 0, count: 64)
        let right = Forge.Signer.secret(Issuers.secret).signature(of: Forge.signedBytes("HS256", Payload().text))
        let raw = Issuers.curve.rawSignature(of: Forge.signedBytes("ES256", Payload(issuer: Issuers.es).text), digest: EVP_sha256())
        func hs(_ signer: Forge.Signer) -> String { Forge.token(payload: Payload().text, signer) }
        func rs(_ signer: Forge.Signer) -> String {
            Forge.token(header: Forge.header("RS256"), payload: Payload(issuer: Issuers.rs).text, signer)
        }
        func es(_ signer: Forge.Signer) -> String {
            Forge.token(header: Forge.header("ES256"), payload: Payload(issuer: Issuers.es).text, signer)
        }
        return [
            BadToken("HS256, another secret", "bad_signature", hs(.secret("another secret"))),
            BadToken("HS256, the empty secret", "bad_signature", hs(.secret(""))),
            BadToken("HS256, the secret with a space", "bad_signature", hs(.secret(Issuers.secret + " "))),
            BadToken(
                "HS256, another's signature", "bad_signature",
                Forge.token(payload: Payload().with("sub", "\"eve\"").text, .bytes(right))),
            BadToken("HS256, half a signature", "bad_signature", hs(.bytes(Array(right.prefix(16))))),
            BadToken("HS256, one byte of it", "bad_signature", hs(.bytes(Array(right.prefix(1))))),
            BadToken("HS256, one byte more", "bad_signature", hs(.bytes(right + [0]))),
            BadToken("HS256, zeros", "bad_signature", hs(.bytes(Array(zeros.prefix(32))))),
            BadToken("RS256, another key", "bad_signature", rs(.rsa(Issuers.rsaOfStranger))),
            BadToken("RS256, signed with SHA-512", "bad_signature", rs(.rsa(Issuers.rsa, digest: EVP_sha512()))),
            BadToken("RS256, HMAC with the public key", "bad_signature", rs(.secret(Issuers.rsa.publicPEM))),
            BadToken("RS256, one byte", "bad_signature", rs(.bytes([0]))),
            BadToken("ES256, another key", "bad_signature", es(.curve(Issuers.curveOfStranger))),
            BadToken("ES256, signed with SHA-384", "bad_signature", es(.curve(Issuers.curve, digest: EVP_sha384()))),
            BadToken("ES256, both numbers zero", "bad_signature", es(.bytes(zeros))),
            BadToken("ES256, numbers exchanged", "bad_signature", es(.bytes(Array(raw.suffix(32) + raw.prefix(32))))),
            BadToken("ES256, in DER", "bad_signature", es(.rsa(Issuers.curve))),
            BadToken("ES256, a byte too many", "bad_signature", es(.bytes(raw + [0]))),
            BadToken("ES256, a byte too few", "bad_signature", es(.bytes(Array(raw.dropLast())))),
            BadToken("ES256, numbers of 48 bytes", "bad_signature", es(.curve(Issuers.curve, size: 48))),
        ]
    }()
}
