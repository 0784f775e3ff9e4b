import COpenSSL

/// Opens what was sealed with one key, one value after another: what comes of the key is made once and not for each value.
package struct SealedBoxOpener: ~Copyable {
    private let context = CipherContext()
    /// Used again and again.
    private var plain: [UInt8] = []

    package init(_ key: SealingKey) {
        let done = leavingErrorQueueAlone {
            unsafe EVP_DecryptInit_ex(context.pointer, CipherContext.aes256GCM, nil, key.revealedBytes, nil) == 1
        }
        precondition(done, "OpenSSL has no AES-256-GCM")
    }

    /// - Returns: nil for what was not sealed with the key at `place`, or was changed since.
    package mutating func open(_ sealed: RawSpan, at place: RawSpan) -> [UInt8]? {
        guard let count = decrypt(sealed, at: place) else { return nil }
        return Array(plain[..<count])
    }

    /// - Returns: nil also for what is no UTF-8.
    package mutating func openText(_ sealed: RawSpan, at place: RawSpan) -> String? {
        guard let count = decrypt(sealed, at: place) else { return nil }
        return unsafe plain.withUnsafeBufferPointer { plain in
            unsafe String(validating: UnsafeBufferPointer(rebasing: plain[..<count]), as: UTF8.self)
        }
    }

    /// Into `plain`, where nothing counts until the tag has been found right.
    ///
    /// - Returns: how many bytes.
    private mutating func decrypt(_ sealed: RawSpan, at place: RawSpan) -> Int? {
        guard sealed.byteCount >= SealedBox.overhead, unsafe sealed.unsafeLoad(as: UInt8.self) == SealedBox.version else { return nil }
        let count = sealed.byteCount - SealedBox.overhead
        // One more than needed, so that there is an address even of an empty value.
        if plain.count <= count { plain = Array(repeating: 0, count: max(512, count + 1)) }
        let context = unsafe context.pointer
        let opened = leavingErrorQueueAlone {
            unsafe sealed.withUnsafeBytes { sealed in
                unsafe place.withUnsafeBytes { place in
                    unsafe plain.withUnsafeMutableBufferPointer { plain in
                        unsafe Self.decrypt(sealed, at: place, into: plain, context, count: count)
                    }
                }
            }
        }
        return opened ? count : nil
    }

    private static func decrypt(
        _ sealed: UnsafeRawBufferPointer, at place: UnsafeRawBufferPointer, into plain: UnsafeMutableBufferPointer<UInt8>,
        _ context: OpaquePointer, count: Int
    ) -> Bool {
        let bytes = unsafe sealed.assumingMemoryBound(to: UInt8.self)
        guard let nonce = unsafe bytes.baseAddress.map({ unsafe $0 + 1 }) else { return false }
        let text = unsafe nonce + SealedBox.nonceCount
        var written: Int32 = 0
        // OpenSSL copies the tag and does not write to it.
        return unsafe EVP_DecryptInit_ex(context, nil, nil, nil, nonce) == 1
            && EVP_DecryptUpdate(
                context, nil, &written, place.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(place.count)) == 1
            && EVP_DecryptUpdate(context, plain.baseAddress, &written, text, Int32(count)) == 1
            && EVP_CIPHER_CTX_ctrl(
                context, EVP_CTRL_GCM_SET_TAG, Int32(SealedBox.tagCount), UnsafeMutablePointer(mutating: text + count)) == 1
            && EVP_DecryptFinal_ex(context, plain.baseAddress, &written) == 1
    }
}
