/// Text that must never be seen: an API secret, a password, a key.
///
/// Printing, interpolating, dumping or reflecting it shows `<secret>`, so that a whole configuration can be logged without harm.
/// Whoever needs the text says so at the call with `revealed…`, which makes every use easy to find.
/// It is not `Codable` for the same reason, and equality takes the same time wherever two texts of one length differ.
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
