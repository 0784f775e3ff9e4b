import COpenSSL

/// Whether two byte strings are equal, in a time that depends on their lengths only.
///
/// For secrets and signatures: an ordinary comparison stops at the first difference, and the time it took tells an attacker how much of
/// a guess was right. The lengths may become known, so compare digests where a length is a secret.
package func areEqualInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe left.withUnsafeBytes { leftBytes in
        unsafe right.withUnsafeBytes { rightBytes in
            // An empty array may have no address, and there is nothing to compare.
            guard let leftStart = leftBytes.baseAddress, let rightStart = rightBytes.baseAddress else { return true }
            return unsafe CRYPTO_memcmp(leftStart, rightStart, leftBytes.count) == 0
        }
    }
}

/// The same for two texts, by their UTF-8: texts that merely look alike are different.
package func areEqualInConstantTime(_ left: String, _ right: String) -> Bool {
    areEqualInConstantTime(Array(left.utf8), Array(right.utf8))
}
