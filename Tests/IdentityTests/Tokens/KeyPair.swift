import COpenSSL

/// A key pair made for one run of the tests, so that no private key lies in the repository. `EVP_PKEY` may be read from any thread.
final class KeyPair: @unchecked Sendable {
    private let key: OpaquePointer

    private init(_ type: Int32, configure: (OpaquePointer) -> Int32) {
        let context = EVP_PKEY_CTX_new_id(type, nil)!
        defer { EVP_PKEY_CTX_free(context) }
        precondition(EVP_PKEY_keygen_init(context) == 1 && configure(context) == 1, "OpenSSL can't make such a key")
        var made: OpaquePointer?
        precondition(EVP_PKEY_keygen(context, &made) == 1, "OpenSSL made no key")
        key = made!
    }

    deinit { EVP_PKEY_free(key) }

    static func rsa(bits: Int32, type: Int32 = EVP_PKEY_RSA) -> KeyPair {
        KeyPair(type) { EVP_PKEY_CTX_set_rsa_keygen_bits($0, bits) }
    }

    static func curve(_ curve: Int32) -> KeyPair {
        KeyPair(EVP_PKEY_EC) { EVP_PKEY_CTX_set_ec_paramgen_curve_nid($0, curve) }
    }

    static func ed25519() -> KeyPair {
        KeyPair(EVP_PKEY_ED25519) { _ in 1 }
    }

    var publicPEM: String { Self.text { PEM_write_bio_PUBKEY($0, key) } }
    var privatePEM: String { Self.text { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) } }

    /// RSASSA-PKCS1-v1_5, or for a curve the DER that OpenSSL writes.
    func signature(of message: [UInt8], digest: OpaquePointer) -> [UInt8] {
        let context = EVP_MD_CTX_new()!
        defer { EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: 1_024)
        var length = signature.count
        precondition(EVP_DigestSignInit(context, nil, digest, nil, key) == 1, "no signing with this key")
        precondition(EVP_DigestSign(context, &signature, &length, message, message.count) == 1, "signing failed")
        return Array(signature.prefix(length))
    }

    /// The two numbers of an ECDSA signature in `size` bytes each (RFC 7518 section 3.4).
    func rawSignature(of message: [UInt8], digest: OpaquePointer, size: Int = 32) -> [UInt8] {
        let der = signature(of: message, digest: digest)
        return der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            let parsed = d2i_ECDSA_SIG(nil, &cursor, bytes.count)!
            defer { ECDSA_SIG_free(parsed) }
            var raw = [UInt8](repeating: 0, count: 2 * size)
            raw.withUnsafeMutableBufferPointer { target in
                BN_bn2binpad(ECDSA_SIG_get0_r(parsed), target.baseAddress, Int32(size))
                BN_bn2binpad(ECDSA_SIG_get0_s(parsed), target.baseAddress! + size, Int32(size))
            }
            return raw
        }
    }

    private static func text(_ write: (OpaquePointer) -> Int32) -> String {
        let sink = BIO_new(BIO_s_mem())!
        defer { BIO_free(sink) }
        precondition(write(sink) == 1, "OpenSSL wrote no PEM")
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(sink))
        precondition(Int(BIO_read(sink, &bytes, Int32(bytes.count))) == bytes.count, "OpenSSL gave back less than it wrote")
        return String(decoding: bytes, as: UTF8.self)
    }
}
