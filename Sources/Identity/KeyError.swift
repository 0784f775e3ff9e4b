/// Why a key of the configuration can't be used. Shown to the operator at start; never holds a part of a key.
package enum KeyError: Error, Hashable, Sendable {
    case emptyIssuer
    case duplicateIssuer(String)
    case emptySecret(issuer: String)
    /// PEM where a shared secret belongs. A public key as secret would let everybody sign.
    case pemAsSecret(issuer: String)
    case unreadablePublicKey(issuer: String)
    case privateKey(issuer: String)
    case wrongKeyType(issuer: String, algorithm: KeyAlgorithm)
    /// RFC 7518 section 3.3 wants 2,048 bits or more.
    case shortKey(issuer: String, bits: Int)
}

extension KeyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .emptyIssuer:
            "An issuer's id is empty."
        case .duplicateIssuer(let issuer):
            "The issuer \"\(issuer)\" is configured twice."
        case .emptySecret(let issuer):
            "The secret of the issuer \"\(issuer)\" is empty."
        case .pemAsSecret(let issuer):
            "The issuer \"\(issuer)\" is configured for HS256, which takes a shared secret, but its key is PEM text: set RS256 or ES256."
        case .unreadablePublicKey(let issuer):
            "The key of the issuer \"\(issuer)\" can't be read: PEM text that begins with -----BEGIN PUBLIC KEY----- is expected."
        case .privateKey(let issuer):
            "The key of the issuer \"\(issuer)\" is a private key: configure the public one and keep the private one away from the gateway."
        case .wrongKeyType(let issuer, let algorithm):
            "The key of the issuer \"\(issuer)\" does not fit \(algorithm.rawValue), which takes \(algorithm.keyPhrase)."
        case .shortKey(let issuer, let bits):
            "The RSA key of the issuer \"\(issuer)\" has \(bits) bits, and at least 2048 are needed."
        }
    }
}

extension KeyAlgorithm {
    fileprivate var keyPhrase: String {
        switch self {
        case .hs256: "a shared secret"
        case .rs256: "an RSA public key"
        case .es256: "an EC public key on the curve P-256"
        }
    }
}
