import CJWT
import COpenSSL

/// The trusted issuers by id, each with one key and one pinned algorithm.
package struct KeyRing: Sendable {
    /// RFC 7518 section 3.2: an HS256 secret should be at least as long as the hash, in bytes.
    package static let secretBytesAdvised = 32

    /// Configuration problems that are not errors, without secrets, in the order of the configuration.
    package let warnings: [String]
    /// The key that signs the gateway's own tokens: the first HS256 key of the configuration; nil if there is none.
    package let signer: IssuerKey?
    private let keys: [String: IssuerKey]

    /// - Throws: the first error in the order of `issuers`. An empty list is valid and rejects all tokens.
    package init(_ issuers: [IssuerSettings]) throws(KeyError) {
        var keys: [String: IssuerKey] = [:]
        var warnings: [String] = []
        var signer: IssuerKey?
        for settings in issuers {
            let key = try IssuerKey(settings)
            guard keys.updateValue(key, forKey: key.issuer) == nil else { throw .duplicateIssuer(key.issuer) }
            guard key.algorithm == .hs256 else { continue }
            signer = signer ?? key
            if key.material.byteCount < Self.secretBytesAdvised {
                warnings.append(
                    "The secret of the issuer \"\(key.issuer)\" is shorter than \(Self.secretBytesAdvised) bytes; use a longer one.")
            }
        }
        self.keys = keys
        self.warnings = warnings
        self.signer = signer
    }

    /// The names of all issuers, sorted.
    package var issuers: [String] { keys.keys.sorted() }

    /// The key of `issuer`; nil if it is unknown.
    package func key(of issuer: String) -> IssuerKey? {
        keys[issuer]
    }
}

/// One issuer as configured.
package struct IssuerSettings: Sendable {
    /// `iss` of its tokens: LiveKit's "API key".
    package var issuer: String
    package var algorithm: KeyAlgorithm
    /// For HS256 the shared secret as UTF-8 bytes, otherwise the public key as PEM text.
    package var key: SecretText

    package init(issuer: String, algorithm: KeyAlgorithm, key: SecretText) {
        self.issuer = issuer
        self.algorithm = algorithm
        self.key = key
    }
}

/// An issuer's validated key with its only allowed algorithm.
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

extension IssuerKey {
    /// Whether `token` was signed with this key. The caller has checked that its header names this key's algorithm.
    func hasSigned(_ token: CompactToken) -> Bool {
        switch algorithm {
        case .hs256: hasSignedByHMAC(token)
        case .rs256: hasSignedByLibJWT(token, as: JWT_ALG_RS256)
        case .es256: hasSignedByLibJWT(token, as: JWT_ALG_ES256)
        }
    }

    /// Does not use `jwt_decode`: libjwt 1.10.2 compares HMACs with `strcmp`, whose timing reveals how much of a forged signature is right
    /// (CVE-2024-25189). Debian 12 has patched its build, others have not, and the version number is the same.
    private func hasSignedByHMAC(_ token: CompactToken) -> Bool {
        let expected = SHA2.hmac(of: token.signedBytes, key: material.revealedBytes)
        return areEqualInConstantTime(expected, token.signature)
    }

    /// Public keys are not secret, so the timing of the comparison does not matter.
    private func hasSignedByLibJWT(_ token: CompactToken, as expected: jwt_alg_t) -> Bool {
        preservingErrorQueue {
            guard let decoded = LibJWT(verifying: token.text, publicKey: material.revealedBytes) else { return false }
            // The header was compared before, by another JSON parser. Accept libjwt's result only if it read the same algorithm.
            return decoded.algorithm == expected
        }
    }
}

/// An issuer's signature algorithm (RFC 7518 section 3.1). Pinned to a key by the configuration, never chosen by a token.
package enum KeyAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// HMAC with SHA-256, a secret shared by issuer and gateway. LiveKit's only algorithm.
    case hs256 = "HS256"
    /// RSASSA-PKCS1-v1_5 with SHA-256, a public key of at least 2,048 bits.
    case rs256 = "RS256"
    /// ECDSA with SHA-256 on the curve P-256.
    case es256 = "ES256"
}
