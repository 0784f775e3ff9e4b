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

    /// Looked up once: OpenSSL would do it anew with each connection. Nil where OpenSSL has the cipher in another way than we know.
    var methods: UnsafePointer<CipherMethods>? { unsafe Self.found.methods[self] ?? nil }

    private var name: String {
        switch self {
        case .aes128GCM: "AES-128-GCM"
        case .aes256GCM: "AES-256-GCM"
        case .chaCha20Poly1305: "ChaCha20-Poly1305"
        }
    }

    private static let found = Found()

    /// `@unchecked Sendable`: never changed once it is made, and never freed.
    @safe private struct Found: @unchecked Sendable {
        let methods: [CipherSuite: UnsafePointer<CipherMethods>]

        init() {
            var methods: [CipherSuite: UnsafePointer<CipherMethods>] = unsafe [:]
            for suite in CipherSuite.allCases {
                // OpenSSL keeps what it has fetched for us, and so its provider.
                guard let cipher = unsafe EVP_CIPHER_fetch(nil, suite.name, nil),
                    let found = unsafe CipherMethods(of: cipher, named: suite.name, keyLength: suite.keyLength)
                else { continue }
                let place = UnsafeMutablePointer<CipherMethods>.allocate(capacity: 1)
                unsafe place.initialize(to: found)
                unsafe methods[suite] = unsafe UnsafePointer(place)
            }
            unsafe self.methods = unsafe methods
        }
    }
}
