/// One issuer as the configuration names it.
package struct IssuerSettings: Sendable {
    /// What tokens say in `iss`: LiveKit's "API key".
    package var issuer: String
    package var algorithm: KeyAlgorithm
    /// The shared secret for HS256, its UTF-8 bytes as they are; PEM text of the public key for the others.
    package var key: SecretText

    package init(issuer: String, algorithm: KeyAlgorithm, key: SecretText) {
        self.issuer = issuer
        self.algorithm = algorithm
        self.key = key
    }
}

/// An issuer's key, checked, with the one algorithm it may be used with.
package struct IssuerKey: Sendable {
    package let issuer: String
    package let algorithm: KeyAlgorithm
    /// The secret, or canonical PEM. Never empty.
    let material: SecretText

    init(_ settings: IssuerSettings) throws(KeyError) {
        let issuer = settings.issuer
        guard !issuer.isEmpty else { throw .emptyIssuer }
        guard !settings.key.isEmpty else {
            throw settings.algorithm == .hs256 ? .emptySecret(issuer: issuer) : .unreadablePublicKey(issuer: issuer)
        }
        self.issuer = issuer
        algorithm = settings.algorithm
        switch settings.algorithm {
        case .hs256:
            guard !settings.key.revealedText.contains("-----BEGIN ") else { throw .pemAsSecret(issuer: issuer) }
            material = settings.key
        case .rs256, .es256:
            let pem = try PublicKey.canonicalPEM(settings.key, for: settings.algorithm, of: issuer)
            material = SecretText(String(decoding: pem, as: UTF8.self))
        }
    }
}
