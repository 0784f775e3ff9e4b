internal import COpenSSL

/// The cipher suites of TLS 1.3 that a server of ours agrees to (RFC 8446 appendix B.4).
enum CipherSuite: UInt16, CaseIterable {
    case aes128GCM = 0x1301
    case aes256GCM = 0x1302
    case chaCha20Poly1305 = 0x1303

    /// Bytes.
    var keyLength: Int { self == .aes128GCM ? 16 : 32 }
    /// Of the hash that belongs to the suite, and so of its secrets; bytes.
    var hashLength: Int { self == .aes256GCM ? 48 : 32 }

    /// OpenSSL keeps it for as long as the process lives.
    var hash: OpaquePointer? { unsafe self == .aes256GCM ? EVP_sha384() : EVP_sha256() }

    /// Fetched once: OpenSSL would look for it anew with each connection.
    var cipher: OpaquePointer? { unsafe Self.ciphers.of[self] ?? nil }

    private static let ciphers = unsafe Fetched(
        of: [
            .aes128GCM: EVP_CIPHER_fetch(nil, "AES-128-GCM", nil),
            .aes256GCM: EVP_CIPHER_fetch(nil, "AES-256-GCM", nil),
            .chaCha20Poly1305: EVP_CIPHER_fetch(nil, "ChaCha20-Poly1305", nil),
        ])

    /// `@unchecked Sendable`: never changed once it is made, and never freed.
    @safe private struct Fetched: @unchecked Sendable {
        let of: [CipherSuite: OpaquePointer?]
    }
}
