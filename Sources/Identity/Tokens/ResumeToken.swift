import Wire

/// Resume tokens, with which clients continue after their connection was lost. Participants present theirs in the address, so it has
/// characters of URLs only.
package enum ResumeToken {
    private static let prefix = "RT_"
    private static let byteCount = 16

    /// A participant's first token.
    package static func random() -> String { prefix + Hex.encode(randomBytes(byteCount)) }

    /// The secret of its later tokens.
    package static func randomSecret() -> SecretText { SecretText(Hex.encode(randomBytes(byteCount))) }

    /// The token with that number. No token reveals another one without the secret.
    package static func derived(_ number: UInt32, from secret: SecretText) -> String {
        let code = SHA2.hmac(of: Array("patchbay resume token \(number)".utf8), key: secret.revealedBytes)
        return prefix + Hex.encode(code.prefix(byteCount))
    }
}
