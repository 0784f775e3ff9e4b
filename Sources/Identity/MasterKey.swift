import Wire

/// The key that wraps all other keys of a store. It is never in the store itself.
package struct MasterKey: Sendable {
    /// By which a store tells with which key something was wrapped: 16 hexadecimal digits, from which the key can't be found.
    package let id: String
    /// What wraps.
    package let key: SealingKey

    package init(_ bytes: SealingKey) {
        key = bytes
        id = Hex.encode(SHA2.derivedKey(from: bytes.revealedBytes, purpose: "patchbay master key id").prefix(8))
    }

    /// A new one.
    package init() {
        self.init(SealingKey())
    }

    /// 32 bytes as 64 hexadecimal digits or in base64 (either alphabet, padded or not); white space around them does not matter.
    package init?(text: SecretText) {
        let digits = text.revealedBytes.filter { !Self.whiteSpace.contains($0) }
        let bytes = digits.count == 2 * SealingKey.byteCount ? Hex.decode(digits) : Self.bytes(base64: digits)
        guard let bytes, let key = SealingKey(bytes: bytes) else { return nil }
        self.init(key)
    }

    /// As `init(text:)` reads it: base64url.
    package var text: SecretText { SecretText(Base64.urlSafe.encode(key.revealedBytes)) }

    private static let whiteSpace: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]

    private static func bytes(base64 digits: [UInt8]) -> [UInt8]? {
        var digits = digits
        while digits.last == UInt8(ascii: "=") { digits.removeLast() }
        return Base64.urlSafe.decode(
            digits.map { digit in
                switch digit {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                default: digit
                }
            })
    }
}
