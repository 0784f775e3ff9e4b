internal import CLibwebsockets
internal import COpenSSL
internal import Glibc

/// The functions of one of OpenSSL's ciphers (provider-cipher(7)), which `EVP_EncryptInit_ex` and its kin call.
///
/// Those ask the cipher for every record how long its nonce is, and each such question is a dozen comparisons of names: for a record of one
/// Opus frame a third of all that is done. So the cipher is still OpenSSL's, and what stands before it is left out.
@safe struct CipherMethods {
    typealias New = @convention(c) (_ provider: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    typealias Free = @convention(c) (_ cipher: UnsafeMutableRawPointer) -> Void
    /// What is nil stays as it was.
    typealias Start =
        @convention(c) (
            _ cipher: UnsafeMutableRawPointer, _ key: UnsafePointer<UInt8>?, _ keyLength: Int, _ nonce: UnsafePointer<UInt8>?,
            _ nonceLength: Int, _ parameters: UnsafePointer<OSSL_PARAM>?
        ) -> Int32
    /// Without `out` it takes what is authenticated only; `room` is to be no less than `count` in any case.
    typealias Go =
        @convention(c) (
            _ cipher: UnsafeMutableRawPointer, _ out: UnsafeMutablePointer<UInt8>?, _ done: UnsafeMutablePointer<Int>, _ room: Int,
            _ bytes: UnsafePointer<UInt8>?, _ count: Int
        ) -> Int32
    typealias End =
        @convention(c) (
            _ cipher: UnsafeMutableRawPointer, _ out: UnsafeMutablePointer<UInt8>?, _ done: UnsafeMutablePointer<Int>, _ room: Int
        ) -> Int32
    typealias Exchange = @convention(c) (_ cipher: UnsafeMutableRawPointer, _ parameters: UnsafeMutablePointer<OSSL_PARAM>) -> Int32

    private let new: New
    private let provider: UnsafeMutableRawPointer?
    let free: Free
    let startSealing: Start
    let startOpening: Start
    let go: Go
    let end: End
    private let get: Exchange
    private let set: Exchange
    /// The name of the parameter, for as long as the process lives.
    private let tagName: UnsafePointer<CChar>
    /// See `TagPlace`.
    private var tagPlace: Int?

    /// - Parameter cipher: as OpenSSL has fetched it, and keeps it.
    /// - Returns: nil where its provider has it in another way.
    init?(of cipher: OpaquePointer, named name: String, keyLength: Int) {
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
            let go = found[OSSL_FUNC_CIPHER_UPDATE], let end = found[OSSL_FUNC_CIPHER_FINAL],
            let get = found[OSSL_FUNC_CIPHER_GET_CTX_PARAMS], let set = found[OSSL_FUNC_CIPHER_SET_CTX_PARAMS]
        else { return nil }
        unsafe self.new = unsafe unsafeBitCast(new, to: New.self)
        unsafe provider = unsafe OSSL_PROVIDER_get0_provider_ctx(source)
        unsafe self.free = unsafe unsafeBitCast(free, to: Free.self)
        unsafe self.startSealing = unsafe unsafeBitCast(startSealing, to: Start.self)
        unsafe self.startOpening = unsafe unsafeBitCast(startOpening, to: Start.self)
        unsafe self.go = unsafe unsafeBitCast(go, to: Go.self)
        unsafe self.end = unsafe unsafeBitCast(end, to: End.self)
        unsafe self.get = unsafe unsafeBitCast(get, to: Exchange.self)
        unsafe self.set = unsafe unsafeBitCast(set, to: Exchange.self)
        unsafe self.tagName = unsafe UnsafePointer(tagName)
        tagPlace = TagPlace.find(by: self, keyLength: keyLength)
    }

    private static func functions(ofCipherNamed name: String, from provider: OpaquePointer) -> UnsafePointer<OSSL_DISPATCH>? {
        var isNotToBeKept: Int32 = 0
        guard var algorithm = unsafe OSSL_PROVIDER_query_operation(provider, OSSL_OP_CIPHER, &isNotToBeKept), isNotToBeKept == 0 else {
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

    /// A cipher without a key; nil if there is no memory. To be given to `free`.
    func make() -> UnsafeMutableRawPointer? { unsafe new(provider) }

    /// Copies the tag of what was sealed to `tag`.
    func takeTag(from cipher: UnsafeMutableRawPointer, to tag: UnsafeMutablePointer<UInt8>) -> Bool {
        guard let tagPlace else { return unsafe exchange(tag, with: cipher, by: get) }
        unsafe UnsafeMutableRawPointer(tag).copyMemory(from: cipher + tagPlace, byteCount: RecordCipher.tagBytes)
        return true
    }

    /// Says which tag what is opened must have. The first one under a key is given by its name.
    func giveTag(_ tag: UnsafeMutablePointer<UInt8>, to cipher: UnsafeMutableRawPointer) -> Bool {
        guard let tagPlace else { return unsafe exchange(tag, with: cipher, by: set) }
        unsafe (cipher + tagPlace).copyMemory(from: tag, byteCount: RecordCipher.tagBytes)
        return true
    }

    /// As `takeTag`, by the parameter's name.
    func takeTagByName(_ tag: inout [UInt8], from cipher: UnsafeMutableRawPointer) -> Bool {
        unsafe tag.withUnsafeMutableBufferPointer { unsafe exchange($0.baseAddress!, with: cipher, by: get) }
    }

    /// As `giveTag`, by the parameter's name, which tells the cipher how long tags are too.
    func giveTagByName(_ tag: [UInt8], to cipher: UnsafeMutableRawPointer) -> Bool {
        var tag = tag
        return unsafe tag.withUnsafeMutableBufferPointer { unsafe exchange($0.baseAddress!, with: cipher, by: set) }
    }

    private func exchange(_ tag: UnsafeMutablePointer<UInt8>, with cipher: UnsafeMutableRawPointer, by exchange: Exchange) -> Bool {
        let parameter = unsafe OSSL_PARAM_construct_octet_string(tagName, tag, RecordCipher.tagBytes)
        var parameters: InlineArray<2, OSSL_PARAM> = unsafe [parameter, OSSL_PARAM()]
        return unsafe withUnsafeMutablePointer(to: &parameters) {
            unsafe $0.withMemoryRebound(to: OSSL_PARAM.self, capacity: 2) { unsafe exchange(cipher, $0) } == 1
        }
    }
}
