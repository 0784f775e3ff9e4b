import COpenSSL

/// Reads and checks public keys of the configuration.
enum PublicKey {
    /// RFC 7518 section 3.3.
    static let rsaBitsMin = 2_048

    /// The key written anew as PEM, after it was found to fit `algorithm`.
    ///
    /// libjwt reads the PEM at every token, with OpenSSL's default passphrase prompt: handing it our own plain PEM of the key, and
    /// not the operator's text, makes sure that it can neither fail nor ask the terminal then.
    static func canonicalPEM(_ text: SecretText, for algorithm: KeyAlgorithm, of issuer: String) throws(KeyError) -> [UInt8] {
        try leavingErrorQueueAlone { () throws(KeyError) -> [UInt8] in
            guard !text.revealedText.contains("PRIVATE KEY-----") else { throw .privateKey(issuer: issuer) }
            guard let key = OpenSSLKey(publicPEM: text.revealedBytes) else { throw .unreadablePublicKey(issuer: issuer) }
            guard key.fits(algorithm) else { throw .wrongKeyType(issuer: issuer, algorithm: algorithm) }
            if algorithm == .rs256, key.bits < rsaBitsMin { throw .shortKey(issuer: issuer, bits: key.bits) }
            guard let pem = key.publicPEM() else { throw .unreadablePublicKey(issuer: issuer) }
            return pem
        }
    }
}

/// One `EVP_PKEY` and its only owner.
@safe
private struct OpenSSLKey: ~Copyable {
    private let key: OpaquePointer

    init?(publicPEM bytes: [UInt8]) {
        // A memory BIO reads from where the bytes lie, so they must stay there until the key is read.
        let key = unsafe bytes.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let source = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { unsafe BIO_free(source) }
            // PEM can be encrypted, and OpenSSL would then ask on the terminal: answer that there is no passphrase.
            return unsafe PEM_read_bio_PUBKEY(source, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let key = unsafe key else { return nil }
        unsafe self.key = key
    }

    deinit {
        unsafe EVP_PKEY_free(key)
    }

    var bits: Int { Int(unsafe EVP_PKEY_get_bits(key)) }

    func fits(_ algorithm: KeyAlgorithm) -> Bool {
        switch algorithm {
        case .hs256: false
        case .rs256: unsafe EVP_PKEY_get_id(key) == EVP_PKEY_RSA
        case .es256: unsafe EVP_PKEY_get_id(key) == EVP_PKEY_EC && curve == "prime256v1"
        }
    }

    func publicPEM() -> [UInt8]? {
        guard let sink = unsafe BIO_new(BIO_s_mem()) else { return nil }
        defer { unsafe BIO_free(sink) }
        guard unsafe PEM_write_bio_PUBKEY(sink, key) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: unsafe BIO_ctrl_pending(sink))
        let count = unsafe BIO_read(sink, &bytes, Int32(bytes.count))
        return Int(count) == bytes.count && count > 0 ? bytes : nil
    }

    /// The curve's name in OpenSSL; nil if it has none.
    private var curve: String? {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return nil }
        return String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
