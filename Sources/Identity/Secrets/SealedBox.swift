import COpenSSL
import Wire

/// Authenticated encryption with AES-256-GCM, bound to a location.
///
/// A sealed value is a version byte (1), the nonce (12 bytes), the ciphertext, and the tag (16 bytes). Nonces are random; with 96 bits a key is
/// good for 2³² of them (NIST SP 800-38D section 8.3), which is why each user has a key of its own.
package enum SealedBox {
    /// Length of a sealed value minus that of its plain text, in bytes.
    package static let overhead = 1 + nonceCount + tagCount

    static let version: UInt8 = 1
    static let nonceCount = 12
    static let tagCount = 16

    /// - Parameter location: identifies where the value is stored (the associated data). It only opens with the same text.
    package static func seal(_ plain: [UInt8], with key: SealingKey, at location: String) -> [UInt8] {
        preservingErrorQueue {
            let context = CipherContext()
            let nonce = randomBytes(nonceCount)
            var sealed = [UInt8](repeating: 0, count: plain.count + overhead)
            sealed[0] = version
            sealed.replaceSubrange(1..<1 + nonceCount, with: nonce)
            let done = unsafe sealed.withUnsafeMutableBufferPointer { sealed -> Bool in
                guard let start = sealed.baseAddress else { return false }
                var count: Int32 = 0
                let location = Array(location.utf8)
                return unsafe EVP_EncryptInit_ex(context.pointer, CipherContext.aes256GCM, nil, key.revealedBytes, nonce) == 1
                    && EVP_EncryptUpdate(context.pointer, nil, &count, location, Int32(location.count)) == 1
                    && EVP_EncryptUpdate(context.pointer, start + 1 + nonceCount, &count, plain, Int32(plain.count)) == 1
                    && EVP_EncryptFinal_ex(context.pointer, start + 1 + nonceCount + plain.count, &count) == 1
                    && EVP_CIPHER_CTX_ctrl(
                        context.pointer, EVP_CTRL_GCM_GET_TAG, Int32(tagCount), start + 1 + nonceCount + plain.count) == 1
            }
            precondition(done, "OpenSSL does not provide AES-256-GCM")
            return sealed
        }
    }

    /// - Returns: nil unless `sealed` was sealed with `key` and `location` and is unmodified.
    package static func open(_ sealed: [UInt8], with key: SealingKey, at location: String) -> [UInt8]? {
        var opener = SealedBoxOpener(key)
        return unsafe opener.open(sealed.span.bytes, at: location.utf8.span.bytes)
    }
}

/// Opens many values sealed with the same key. The key schedule is computed once.
package struct SealedBoxOpener: ~Copyable {
    private let context = CipherContext()
    /// Reused for every value.
    private var plain: [UInt8] = []

    package init(_ key: SealingKey) {
        let done = preservingErrorQueue {
            unsafe EVP_DecryptInit_ex(context.pointer, CipherContext.aes256GCM, nil, key.revealedBytes, nil) == 1
        }
        precondition(done, "OpenSSL does not provide AES-256-GCM")
    }

    /// - Returns: nil unless `sealed` was sealed with the key and `location` and is unmodified.
    package mutating func open(_ sealed: RawSpan, at location: RawSpan) -> [UInt8]? {
        guard let count = decrypt(sealed, at: location) else { return nil }
        return Array(plain[..<count])
    }

    /// - Returns: nil also for bytes that are not UTF-8.
    package mutating func openText(_ sealed: RawSpan, at location: RawSpan) -> String? {
        guard let count = decrypt(sealed, at: location) else { return nil }
        return unsafe plain.withUnsafeBufferPointer { plain in
            unsafe String(validating: UnsafeBufferPointer(rebasing: plain[..<count]), as: UTF8.self)
        }
    }

    /// Decrypts into `plain`, whose content must not be used until the tag has been verified.
    ///
    /// - Returns: the number of bytes.
    private mutating func decrypt(_ sealed: RawSpan, at location: RawSpan) -> Int? {
        guard sealed.byteCount >= SealedBox.overhead, unsafe sealed.unsafeLoad(as: UInt8.self) == SealedBox.version else { return nil }
        let count = sealed.byteCount - SealedBox.overhead
        // One byte more than needed, so that an empty value has an address.
        if plain.count <= count { plain = Array(repeating: 0, count: max(512, count + 1)) }
        let context = unsafe context.pointer
        let opened = preservingErrorQueue {
            unsafe sealed.withUnsafeBytes { sealed in
                unsafe location.withUnsafeBytes { location in
                    unsafe plain.withUnsafeMutableBufferPointer { plain in
                        unsafe Self.decrypt(sealed, at: location, into: plain, context, count: count)
                    }
                }
            }
        }
        return opened ? count : nil
    }

    private static func decrypt(
        _ sealed: UnsafeRawBufferPointer, at location: UnsafeRawBufferPointer, into plain: UnsafeMutableBufferPointer<UInt8>,
        _ context: OpaquePointer, count: Int
    ) -> Bool {
        let bytes = unsafe sealed.assumingMemoryBound(to: UInt8.self)
        guard let nonce = unsafe bytes.baseAddress.map({ unsafe $0 + 1 }) else { return false }
        let text = unsafe nonce + SealedBox.nonceCount
        var written: Int32 = 0
        // OpenSSL copies the tag and does not modify it.
        return unsafe EVP_DecryptInit_ex(context, nil, nil, nil, nonce) == 1
            && EVP_DecryptUpdate(
                context, nil, &written, location.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(location.count)) == 1
            && EVP_DecryptUpdate(context, plain.baseAddress, &written, text, Int32(count)) == 1
            && EVP_CIPHER_CTX_ctrl(
                context, EVP_CTRL_GCM_SET_TAG, Int32(SealedBox.tagCount), UnsafeMutablePointer(mutating: text + count)) == 1
            && EVP_DecryptFinal_ex(context, plain.baseAddress, &written) == 1
    }
}

/// A 256-bit key for `SealedBox`.
package struct SealingKey: Sendable {
    package static let byteCount = 32

    package let revealedBytes: [UInt8]

    /// Generates a key.
    package init() {
        revealedBytes = randomBytes(Self.byteCount)
    }

    /// - Returns: nil unless there are 32 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        revealedBytes = bytes
    }

    /// A key for one purpose, from which this one cannot be recovered.
    package func derived(for purpose: String) -> SealingKey {
        SealingKey(derived: SHA2.derivedKey(from: revealedBytes, purpose: purpose))
    }

    private init(derived bytes: [UInt8]) {
        revealedBytes = bytes
    }
}

extension SealingKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<secret>" }
    package var debugDescription: String { "<secret>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Owns an `EVP_CIPHER_CTX`.
@safe
struct CipherContext: ~Copyable {
    let pointer: OpaquePointer

    init() {
        guard let pointer = unsafe EVP_CIPHER_CTX_new() else { preconditionFailure("out of memory for an OpenSSL cipher context") }
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(pointer)
    }

    static var aes256GCM: OpaquePointer? { unsafe fetched.pointer }

    /// Fetched once: `EVP_aes_256_gcm()` makes OpenSSL look the cipher up, under locks, whenever a key is set.
    private static let fetched = unsafe Fetched(pointer: EVP_CIPHER_fetch(nil, "AES-256-GCM", nil))

    /// `@unchecked Sendable`: a fetched cipher is immutable, may be used by all threads, and is never freed.
    @safe private struct Fetched: @unchecked Sendable {
        let pointer: OpaquePointer?
    }
}
