/// The key that wraps all other keys of a store. It is never in the store itself.
package struct MasterKey: Sendable {
    /// By which a store tells with which key something was wrapped: 16 hexadecimal digits, from which the key can't be found.
    package let id: String
    /// What wraps.
    package let key: SealingKey

    package init(_ bytes: SealingKey) {
        key = bytes
        id = MessageCode.derivedKey(from: bytes.revealedBytes, purpose: "patchbay master key id").prefix(8).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    /// A new one.
    package init() {
        self.init(SealingKey())
    }

    /// 32 bytes as 64 hexadecimal digits or in base64 (either alphabet, padded or not); white space around them does not matter.
    package init?(text: SecretText) {
        let digits = text.revealedBytes.filter { !Self.whiteSpace.contains($0) }
        let bytes = digits.count == 2 * SealingKey.byteCount ? Self.bytes(hexadecimal: digits) : Self.bytes(base64: digits)
        guard let bytes, let key = SealingKey(bytes: bytes) else { return nil }
        self.init(key)
    }

    /// As `init(text:)` reads it: base64url.
    package var text: SecretText { SecretText(Base64URL.encode(key.revealedBytes)) }

    private static let whiteSpace: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]

    private static func bytes(hexadecimal digits: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard
                let high = Character(UnicodeScalar(digits[index])).hexDigitValue,
                let low = Character(UnicodeScalar(digits[index + 1])).hexDigitValue
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }

    private static func bytes(base64 digits: [UInt8]) -> [UInt8]? {
        var digits = digits
        while digits.last == UInt8(ascii: "=") { digits.removeLast() }
        return Base64URL.decode(
            digits.map { digit in
                switch digit {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                default: digit
                }
            })
    }
}
