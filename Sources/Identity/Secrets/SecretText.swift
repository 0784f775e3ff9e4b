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
