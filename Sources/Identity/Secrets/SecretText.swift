import COpenSSL

/// Secret text: an API secret, a password, a key.
///
/// Printing, interpolating, dumping or reflecting it shows `<secret>`, so configurations can be logged safely. Access is explicit through
/// `revealed…`, which makes every use easy to find. Not `Codable` for the same reason. Equality takes constant time for texts of equal length.
package struct SecretText: Sendable {
    /// The text in UTF-8.
    package let revealedBytes: [UInt8]

    package init(_ text: String) {
        revealedBytes = Array(text.utf8)
    }

    package var revealedText: String {
        String(decoding: revealedBytes, as: UTF8.self)
    }

    package var isEmpty: Bool { revealedBytes.isEmpty }

    /// Length in bytes.
    package var byteCount: Int { revealedBytes.count }
}

extension SecretText: Equatable {
    package static func == (left: SecretText, right: SecretText) -> Bool {
        areEqualInConstantTime(left.revealedBytes, right.revealedBytes)
    }
}

extension SecretText: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<secret>" }
    package var debugDescription: String { "<secret>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Compares byte strings in a time that depends only on their lengths.
///
/// For secrets and signatures: an ordinary comparison stops at the first difference, and its timing reveals how much of a guess was right.
/// Lengths are not protected; compare digests where a length is secret.
package func areEqualInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe left.withUnsafeBytes { leftBytes in
        unsafe right.withUnsafeBytes { rightBytes in
            // Empty arrays may have no address.
            guard let leftStart = leftBytes.baseAddress, let rightStart = rightBytes.baseAddress else { return true }
            return unsafe CRYPTO_memcmp(leftStart, rightStart, leftBytes.count) == 0
        }
    }
}

/// Compares texts by their UTF-8, without Unicode equivalence.
package func areEqualInConstantTime(_ left: String, _ right: String) -> Bool {
    areEqualInConstantTime(Array(left.utf8), Array(right.utf8))
}

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
