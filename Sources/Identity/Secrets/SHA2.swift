import COpenSSL

/// SHA-256 with HMAC and HKDF, by OpenSSL.
package enum SHA2 {
    /// Length of a digest, an HMAC and a derived key, in bytes.
    package static let byteCount = 32

    /// FIPS 180-4.
    package static func digest(of message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        let made = unsafe EVP_Digest(message, message.count, &digest, nil, EVP_sha256(), nil)
        precondition(made == 1, "OpenSSL does not provide SHA-256")
        return digest
    }

    /// RFC 2104 with SHA-256.
    package static func hmac(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        let made = unsafe HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &digest, nil)
        precondition(unsafe made != nil, "OpenSSL does not provide HMAC")
        return digest
    }

    /// HKDF (RFC 5869) with SHA-256 for one key of 32 bytes. Keys for different purposes are independent.
    ///
    /// - Parameter salt: may be empty.
    package static func derivedKey(from key: [UInt8], salt: [UInt8] = [], purpose: String) -> [UInt8] {
        let pseudorandomKey = hmac(of: key, key: salt.isEmpty ? [UInt8](repeating: 0, count: byteCount) : salt)
        return hmac(of: Array(purpose.utf8) + [1], key: pseudorandomKey)
    }
}

/// Runs `body` and removes the errors it added to OpenSSL's error queue.
///
/// The queue is per thread, and TLS on the same thread consults it after a read (`SSL_get_error`): an error left by a bad token would close an
/// unrelated connection. The mark keeps errors that were queued before.
func preservingErrorQueue<Answer, Failure: Error>(_ body: () throws(Failure) -> Answer) throws(Failure) -> Answer {
    ERR_set_mark()
    defer { ERR_pop_to_mark() }
    return try body()
}
