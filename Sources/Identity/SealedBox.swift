import COpenSSL

/// AES-256-GCM: bytes that only the key's owner can read, and that nobody can change or put elsewhere unnoticed.
///
/// What is sealed is one version byte (1), the nonce (12 bytes), the text's bytes encrypted, and the tag (16 bytes). A nonce is drawn for each seal;
/// with 96 random bits a key is good for 2³² of them (NIST SP 800-38D section 8.3), which is why every user has his own.
package enum SealedBox {
    /// What a sealed value is longer than its plain one, in bytes.
    package static let overhead = 1 + nonceCount + tagCount

    private static let version: UInt8 = 1
    private static let nonceCount = 12
    private static let tagCount = 16

    /// - Parameter place: where the value belongs (the associated data). It opens there and nowhere else.
    package static func seal(_ plain: [UInt8], with key: SealingKey, at place: String) -> [UInt8] {
        leavingErrorQueueAlone {
            let context = CipherContext()
            let nonce = randomBytes(nonceCount)
            var sealed = [UInt8](repeating: 0, count: plain.count + overhead)
            sealed[0] = version
            sealed.replaceSubrange(1..<1 + nonceCount, with: nonce)
            let done = unsafe sealed.withUnsafeMutableBufferPointer { sealed -> Bool in
                guard let start = sealed.baseAddress else { return false }
                var count: Int32 = 0
                let place = Array(place.utf8)
                return unsafe EVP_EncryptInit_ex(context.pointer, EVP_aes_256_gcm(), nil, key.revealedBytes, nonce) == 1
                    && EVP_EncryptUpdate(context.pointer, nil, &count, place, Int32(place.count)) == 1
                    && EVP_EncryptUpdate(context.pointer, start + 1 + nonceCount, &count, plain, Int32(plain.count)) == 1
                    && EVP_EncryptFinal_ex(context.pointer, start + 1 + nonceCount + plain.count, &count) == 1
                    && EVP_CIPHER_CTX_ctrl(
                        context.pointer, EVP_CTRL_GCM_GET_TAG, Int32(tagCount), start + 1 + nonceCount + plain.count) == 1
            }
            precondition(done, "OpenSSL has no AES-256-GCM")
            return sealed
        }
    }

    /// - Returns: nil for what was not sealed with `key` at `place`, or was changed since.
    package static func open(_ sealed: [UInt8], with key: SealingKey, at place: String) -> [UInt8]? {
        guard sealed.count >= overhead, sealed[0] == version else { return nil }
        return leavingErrorQueueAlone {
            let context = CipherContext()
            let count = sealed.count - overhead
            var plain = [UInt8](repeating: 0, count: count)
            var tag = Array(sealed[(sealed.count - tagCount)...])
            let opened = unsafe sealed.withUnsafeBufferPointer { sealed -> Bool in
                guard let start = sealed.baseAddress else { return false }
                var written: Int32 = 0
                let place = Array(place.utf8)
                return unsafe EVP_DecryptInit_ex(context.pointer, EVP_aes_256_gcm(), nil, key.revealedBytes, start + 1) == 1
                    && EVP_DecryptUpdate(context.pointer, nil, &written, place, Int32(place.count)) == 1
                    && EVP_DecryptUpdate(context.pointer, &plain, &written, start + 1 + nonceCount, Int32(count)) == 1
                    && EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_GCM_SET_TAG, Int32(tagCount), &tag) == 1
                    && EVP_DecryptFinal_ex(context.pointer, nil, &written) == 1
            }
            return opened ? plain : nil
        }
    }
}

/// One `EVP_CIPHER_CTX` and its only owner.
@safe
private struct CipherContext: ~Copyable {
    let pointer: OpaquePointer

    init() {
        guard let pointer = unsafe EVP_CIPHER_CTX_new() else { preconditionFailure("OpenSSL has no memory") }
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(pointer)
    }
}
