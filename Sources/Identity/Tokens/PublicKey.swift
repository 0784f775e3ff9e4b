import COpenSSL

/// Parses and validates public keys of the configuration.
enum PublicKey {
    /// RFC 7518 section 3.3.
    static let rsaBitsMin = 2_048

    /// Validates a key for `algorithm` and encodes it as plain PEM.
    ///
    /// libjwt parses the PEM for every token, with OpenSSL's default passphrase prompt. Canonical PEM instead of the operator's text can neither
    /// fail nor prompt.
    static func canonicalPEM(_ text: SecretText, for algorithm: KeyAlgorithm, of issuer: String) throws(KeyError) -> [UInt8] {
        try preservingErrorQueue { () throws(KeyError) -> [UInt8] in
            guard !text.revealedText.contains("PRIVATE KEY-----") else { throw .privateKey(issuer: issuer) }
            guard let key = OpenSSLKey(publicPEM: text.revealedBytes) else { throw .unreadablePublicKey(issuer: issuer) }
            guard algorithm == .rs256 ? key.isRSA : key.isOnP256 else { throw .wrongKeyType(issuer: issuer, algorithm: algorithm) }
            if algorithm == .rs256, key.bits < rsaBitsMin { throw .shortKey(issuer: issuer, bits: key.bits) }
            guard let pem = key.publicPEM() else { throw .unreadablePublicKey(issuer: issuer) }
            return pem
        }
    }
}

/// Owns an `EVP_PKEY`.
@safe
struct OpenSSLKey: ~Copyable {
    private let key: OpaquePointer

    init?(publicPEM bytes: [UInt8]) {
        // PEM can be encrypted, and OpenSSL would then prompt on the terminal. The callback reports that there is no passphrase.
        unsafe self.init(bytes) { unsafe PEM_read_bio_PUBKEY($0, nil, { _, _, _, _ in -1 }, nil) }
    }

    init?(privatePEM bytes: [UInt8]) {
        unsafe self.init(bytes) { unsafe PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
    }

    private init?(_ bytes: [UInt8], _ read: (OpaquePointer) -> OpaquePointer?) {
        // The memory BIO reads the bytes in place, so they must outlive it.
        let key = unsafe bytes.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let source = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { unsafe BIO_free(source) }
            return unsafe read(source)
        }
        guard let key = unsafe key else { return nil }
        unsafe self.key = key
    }

    deinit {
        unsafe EVP_PKEY_free(key)
    }

    var bits: Int { Int(unsafe EVP_PKEY_get_bits(key)) }
    var isRSA: Bool { unsafe EVP_PKEY_get_id(key) == EVP_PKEY_RSA }

    var isOnP256: Bool {
        guard unsafe EVP_PKEY_get_id(key) == EVP_PKEY_EC else { return false }
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return false }
        return name.prefix(length).map { UInt8(bitPattern: $0) } == Array("prime256v1".utf8)
    }

    func publicPEM() -> [UInt8]? {
        guard let sink = unsafe BIO_new(BIO_s_mem()) else { return nil }
        defer { unsafe BIO_free(sink) }
        guard unsafe PEM_write_bio_PUBKEY(sink, key) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: unsafe BIO_ctrl_pending(sink))
        let count = unsafe BIO_read(sink, &bytes, Int32(bytes.count))
        return Int(count) == bytes.count && count > 0 ? bytes : nil
    }

    /// In DER.
    func signature(of message: [UInt8]) -> [UInt8]? {
        guard let context = unsafe EVP_MD_CTX_new() else { return nil }
        defer { unsafe EVP_MD_CTX_free(context) }
        var count = 0
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            unsafe EVP_DigestSign(context, nil, &count, message, message.count) == 1
        else { return nil }
        var signature = [UInt8](repeating: 0, count: count)
        guard unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else { return nil }
        return Array(signature.prefix(count))
    }
}

/// Why a configured key is unusable. Shown to the operator at start; never contains any part of a key.
package enum KeyError: Error, Hashable, Sendable {
    case emptyIssuer
    case duplicateIssuer(String)
    case emptySecret(issuer: String)
    /// PEM where a shared secret is expected. With a public key as secret, anyone could sign tokens.
    case pemAsSecret(issuer: String)
    case unreadablePublicKey(issuer: String)
    case privateKey(issuer: String)
    case wrongKeyType(issuer: String, algorithm: KeyAlgorithm)
    /// RFC 7518 section 3.3 requires at least 2,048 bits.
    case shortKey(issuer: String, bits: Int)
}

extension KeyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .emptyIssuer:
            "An issuer's id is empty: set it."
        case .duplicateIssuer(let issuer):
            "The issuer \"\(issuer)\" is configured twice: remove one of the entries."
        case .emptySecret(let issuer):
            "The secret of the issuer \"\(issuer)\" is empty: set one of at least 32 bytes."
        case .pemAsSecret(let issuer):
            "The issuer \"\(issuer)\" is configured for HS256, which takes a shared secret, but its key is PEM text: set RS256 or ES256."
        case .unreadablePublicKey(let issuer):
            "The key of the issuer \"\(issuer)\" can't be parsed: PEM text that begins with -----BEGIN PUBLIC KEY----- is expected."
        case .privateKey(let issuer):
            "The key of the issuer \"\(issuer)\" is a private key: configure the public one and keep the private one away from the gateway."
        case .wrongKeyType(let issuer, let algorithm):
            "The key of the issuer \"\(issuer)\" does not fit \(algorithm.rawValue), which takes \(algorithm.keyPhrase)."
        case .shortKey(let issuer, let bits):
            "The RSA key of the issuer \"\(issuer)\" has \(bits) bits: use one with at least 2048."
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
