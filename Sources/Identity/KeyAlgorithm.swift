/// How an issuer signs (RFC 7518 section 3.1). The configuration pins one to each key; no token ever chooses.
package enum KeyAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// HMAC with SHA-256, a secret shared by issuer and gateway. LiveKit's only one.
    case hs256 = "HS256"
    /// RSASSA-PKCS1-v1_5 with SHA-256, a public key of at least 2,048 bits.
    case rs256 = "RS256"
    /// ECDSA with SHA-256 on the curve P-256.
    case es256 = "ES256"
}
