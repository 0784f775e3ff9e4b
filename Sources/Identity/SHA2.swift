import COpenSSL

/// SHA-256 and what is made of it: codes that only the owner of a key can make, and keys that come from another key.
package enum SHA2 {
    /// Length of a digest, a code and a derived key, in bytes.
    package static let byteCount = 32

    /// FIPS 180-4.
    package static func digest(of message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        let made = unsafe EVP_Digest(message, message.count, &digest, nil, EVP_sha256(), nil)
        precondition(made == 1, "OpenSSL has no SHA-256")
        return digest
    }

    /// RFC 2104 with SHA-256.
    package static func hmac(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        let made = unsafe HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &digest, nil)
        precondition(unsafe made != nil, "OpenSSL has no HMAC")
        return digest
    }

    /// RFC 5869 with SHA-256 for one key of 32 bytes: as many keys as there are purposes, and none tells another.
    ///
    /// - Parameter salt: empty where there is none.
    package static func derivedKey(from key: [UInt8], salt: [UInt8] = [], purpose: String) -> [UInt8] {
        let pseudorandomKey = hmac(of: key, key: salt.isEmpty ? [UInt8](repeating: 0, count: byteCount) : salt)
        return hmac(of: Array(purpose.utf8) + [1], key: pseudorandomKey)
    }
}
