internal import COpenSSL

/// What one direction's keys are made of (RFC 8446 section 7.1): as long as the suite's hash, and wiped when it goes.
@safe struct TrafficSecret: ~Copyable {
    let suite: CipherSuite
    private var bytes = InlineArray<48, UInt8>(repeating: 0)

    /// - Returns: nil if these bytes are not as many as the suite's hash gives.
    init?(_ secret: [UInt8], of suite: CipherSuite) {
        guard secret.count == suite.hashLength else { return nil }
        self.suite = suite
        for (index, byte) in secret.enumerated() { bytes[index] = byte }
    }

    deinit {
        unsafe withUnsafePointer(to: bytes) { unsafe OPENSSL_cleanse(UnsafeMutableRawPointer(mutating: $0), 48) }
    }

    /// HKDF-Expand-Label with an empty context (RFC 8446 section 7.1). All that TLS asks for fits into one block of the hash, so HKDF-Expand
    /// (RFC 5869 section 2.3) is one HMAC.
    ///
    /// - Parameter length: bytes, at most `suite.hashLength`.
    /// - Returns: nil if OpenSSL has no memory.
    func expand(_ label: String, length: Int) -> [UInt8]? {
        let full = "tls13 " + label
        let info = [0, UInt8(length), UInt8(full.utf8.count)] + Array(full.utf8) + [0, 1]
        var block = [UInt8](repeating: 0, count: 64)
        defer { unsafe OPENSSL_cleanse(&block, block.count) }
        let isDone = unsafe withUnsafePointer(to: bytes) { secret in
            unsafe HMAC(suite.hash, secret, Int32(suite.hashLength), info, info.count, &block, nil) != nil
        }
        return isDone ? Array(block[..<length]) : nil
    }

    /// The one that follows after a KeyUpdate (RFC 8446 section 7.2).
    func next() -> TrafficSecret? {
        expand("traffic upd", length: suite.hashLength).flatMap { TrafficSecret($0, of: suite) }
    }
}
