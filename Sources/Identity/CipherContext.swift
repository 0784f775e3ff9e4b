import COpenSSL

/// One `EVP_CIPHER_CTX` and its only owner.
@safe
struct CipherContext: ~Copyable {
    let pointer: OpaquePointer

    init() {
        guard let pointer = unsafe EVP_CIPHER_CTX_new() else { preconditionFailure("OpenSSL has no memory") }
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(pointer)
    }

    static var aes256GCM: OpaquePointer? { unsafe fetched.pointer }

    /// Looked for once: with `EVP_aes_256_gcm()` OpenSSL would look for it again, under locks, whenever a key is set.
    private static let fetched = unsafe Fetched(pointer: EVP_CIPHER_fetch(nil, "AES-256-GCM", nil))

    /// `@unchecked Sendable`: OpenSSL lets all threads use a cipher, which never changes; and this one is never freed.
    @safe private struct Fetched: @unchecked Sendable {
        let pointer: OpaquePointer?
    }
}
