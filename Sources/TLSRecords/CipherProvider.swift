internal import COpenSSL
internal import Glibc

/// The functions of one of OpenSSL's ciphers as its provider offers them (provider-cipher(7)).
///
/// `EVP_EncryptInit_ex` and related functions call the same functions but query the cipher's nonce length by name for every record, which is a
/// third of the work for a record of one Opus frame. The function numbers and signatures are OpenSSL's documented provider interface.
@safe struct CipherProvider {
    typealias New = @convention(c) (_ provider: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    typealias Free = @convention(c) (_ cipher: UnsafeMutableRawPointer) -> Void
    /// A nil key or nonce keeps the current one.
    typealias Start =
        @convention(c) (
            _ cipher: UnsafeMutableRawPointer, _ key: UnsafePointer<UInt8>?, _ keyLength: Int, _ nonce: UnsafePointer<UInt8>?,
            _ nonceLength: Int, _ parameters: UnsafePointer<OSSL_PARAM>?
        ) -> Int32
    /// A nil `out` adds authenticated data; `capacity` must not be less than `count` in any case.
    typealias Update =
        @convention(c) (
            _ cipher: UnsafeMutableRawPointer, _ out: UnsafeMutablePointer<UInt8>?, _ done: UnsafeMutablePointer<Int>, _ capacity: Int,
            _ bytes: UnsafePointer<UInt8>?, _ count: Int
        ) -> Int32
    typealias Finish =
        @convention(c) (
            _ cipher: UnsafeMutableRawPointer, _ out: UnsafeMutablePointer<UInt8>?, _ done: UnsafeMutablePointer<Int>, _ capacity: Int
        ) -> Int32
    typealias Exchange = @convention(c) (_ cipher: UnsafeMutableRawPointer, _ parameters: UnsafeMutablePointer<OSSL_PARAM>) -> Int32

    private let new: New
    private let context: UnsafeMutableRawPointer?
    let free: Free
    let startSealing: Start
    let startOpening: Start
    let update: Update
    let finish: Finish
    private let get: Exchange
    private let set: Exchange
    /// The parameter's name; never freed.
    private let tagName: UnsafePointer<CChar>

    /// - Parameter cipher: as OpenSSL fetched it; the caller keeps it.
    /// - Returns: nil if its provider does not offer these functions.
    init?(of cipher: OpaquePointer, named name: String) {
        guard let source = unsafe EVP_CIPHER_get0_provider(cipher), let tagName = unsafe strdup(OSSL_CIPHER_PARAM_AEAD_TAG),
            var function = unsafe Self.functions(ofCipherNamed: name, from: source)
        else { return nil }
        var found: [Int32: @convention(c) () -> Void] = [:]
        while unsafe function.pointee.function_id != 0 {
            unsafe found[function.pointee.function_id] = unsafe function.pointee.function
            unsafe function += 1
        }
        guard let new = found[OSSL_FUNC_CIPHER_NEWCTX], let free = found[OSSL_FUNC_CIPHER_FREECTX],
            let startSealing = found[OSSL_FUNC_CIPHER_ENCRYPT_INIT], let startOpening = found[OSSL_FUNC_CIPHER_DECRYPT_INIT],
            let update = found[OSSL_FUNC_CIPHER_UPDATE], let finish = found[OSSL_FUNC_CIPHER_FINAL],
            let get = found[OSSL_FUNC_CIPHER_GET_CTX_PARAMS], let set = found[OSSL_FUNC_CIPHER_SET_CTX_PARAMS]
        else { return nil }
        unsafe self.new = unsafe unsafeBitCast(new, to: New.self)
        unsafe context = unsafe OSSL_PROVIDER_get0_provider_ctx(source)
        unsafe self.free = unsafe unsafeBitCast(free, to: Free.self)
        unsafe self.startSealing = unsafe unsafeBitCast(startSealing, to: Start.self)
        unsafe self.startOpening = unsafe unsafeBitCast(startOpening, to: Start.self)
        unsafe self.update = unsafe unsafeBitCast(update, to: Update.self)
        unsafe self.finish = unsafe unsafeBitCast(finish, to: Finish.self)
        unsafe self.get = unsafe unsafeBitCast(get, to: Exchange.self)
        unsafe self.set = unsafe unsafeBitCast(set, to: Exchange.self)
        unsafe self.tagName = unsafe UnsafePointer(tagName)
    }

    private static func functions(ofCipherNamed name: String, from provider: OpaquePointer) -> UnsafePointer<OSSL_DISPATCH>? {
        var mustNotCache: Int32 = 0
        guard var algorithm = unsafe OSSL_PROVIDER_query_operation(provider, OSSL_OP_CIPHER, &mustNotCache), mustNotCache == 0 else {
            return nil
        }
        while let names = unsafe algorithm.pointee.algorithm_names {
            if unsafe String(cString: names).split(separator: ":").contains(where: { $0 == name }) {
                return unsafe algorithm.pointee.implementation
            }
            unsafe algorithm += 1
        }
        return nil
    }

    /// A cipher context without a key, to be released with `free`; nil if there is no memory.
    func make() -> UnsafeMutableRawPointer? { unsafe new(context) }

    /// Copies the tag of the record just sealed.
    func getTag(from cipher: UnsafeMutableRawPointer, to tag: UnsafeMutablePointer<UInt8>) -> Bool {
        unsafe exchangeTag(tag, with: cipher, by: get)
    }

    /// Sets the tag that the record being opened must have.
    func setTag(_ tag: UnsafeMutablePointer<UInt8>, in cipher: UnsafeMutableRawPointer) -> Bool {
        unsafe exchangeTag(tag, with: cipher, by: set)
    }

    private func exchangeTag(_ tag: UnsafeMutablePointer<UInt8>, with cipher: UnsafeMutableRawPointer, by exchange: Exchange) -> Bool {
        let parameter = unsafe OSSL_PARAM_construct_octet_string(tagName, tag, RecordCipher.tagBytes)
        var parameters: InlineArray<2, OSSL_PARAM> = unsafe [parameter, OSSL_PARAM()]
        return unsafe withUnsafeMutablePointer(to: &parameters) {
            unsafe $0.withMemoryRebound(to: OSSL_PARAM.self, capacity: 2) { unsafe exchange(cipher, $0) } == 1
        }
    }
}

/// The TLS 1.3 cipher suites that our servers accept (RFC 8446 appendix B.4).
enum CipherSuite: UInt16, CaseIterable {
    case aes128GCM = 0x1301
    case aes256GCM = 0x1302
    case chaCha20Poly1305 = 0x1303

    /// Bytes.
    var keyLength: Int { self == .aes128GCM ? 16 : 32 }
    /// The length of the suite's hash and so of its secrets, in bytes.
    var hashLength: Int { self == .aes256GCM ? 48 : 32 }

    /// A static object of OpenSSL.
    var hash: OpaquePointer? { unsafe self == .aes256GCM ? EVP_sha384() : EVP_sha256() }

    /// Looked up once per process; nil if OpenSSL's provider has an unknown interface.
    var provider: UnsafePointer<CipherProvider>? { unsafe Self.found.providers[self] ?? nil }

    /// The name in TLS (RFC 8446 appendix B.4).
    var suiteName: String {
        switch self {
        case .aes128GCM: "TLS_AES_128_GCM_SHA256"
        case .aes256GCM: "TLS_AES_256_GCM_SHA384"
        case .chaCha20Poly1305: "TLS_CHACHA20_POLY1305_SHA256"
        }
    }

    private var name: String {
        switch self {
        case .aes128GCM: "AES-128-GCM"
        case .aes256GCM: "AES-256-GCM"
        case .chaCha20Poly1305: "ChaCha20-Poly1305"
        }
    }

    private static let found = Found()

    /// `@unchecked Sendable`: immutable once built, and never freed.
    @safe private struct Found: @unchecked Sendable {
        let providers: [CipherSuite: UnsafePointer<CipherProvider>]

        init() {
            var providers: [CipherSuite: UnsafePointer<CipherProvider>] = unsafe [:]
            for suite in CipherSuite.allCases {
                // The fetched cipher is never released, so its provider stays loaded.
                guard let cipher = unsafe EVP_CIPHER_fetch(nil, suite.name, nil),
                    let found = unsafe CipherProvider(of: cipher, named: suite.name)
                else { continue }
                let pointer = UnsafeMutablePointer<CipherProvider>.allocate(capacity: 1)
                unsafe pointer.initialize(to: found)
                unsafe providers[suite] = unsafe UnsafePointer(pointer)
            }
            unsafe self.providers = unsafe providers
        }
    }
}
