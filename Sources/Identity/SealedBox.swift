import COpenSSL
import Wire

/// AES-256-GCM: bytes that only the key's owner can read, and that nobody can change or put elsewhere unnoticed.
///
/// What is sealed is one version byte (1), the nonce (12 bytes), the text's bytes encrypted, and the tag (16 bytes). A nonce is drawn for each seal;
/// with 96 random bits a key is good for 2³² of them (NIST SP 800-38D section 8.3), which is why every user has his own.
package enum SealedBox {
    /// What a sealed value is longer than its plain one, in bytes.
    package static let overhead = 1 + nonceCount + tagCount

    static let version: UInt8 = 1
    static let nonceCount = 12
    static let tagCount = 16

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
                return unsafe EVP_EncryptInit_ex(context.pointer, CipherContext.aes256GCM, nil, key.revealedBytes, nonce) == 1
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
        var opener = SealedBoxOpener(key)
        return unsafe opener.open(sealed.span.bytes, at: place.utf8.span.bytes)
    }
}
