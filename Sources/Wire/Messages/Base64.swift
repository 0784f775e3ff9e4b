/// Base64 by RFC 4648 section 4. The gateway passes it on as it came, and decodes it only to see whether it is text.
enum Base64 {
    /// Whether `text` is groups of four characters of the alphabet, the last one padded with up to two `=`.
    static func isWellFormed(_ text: String) -> Bool {
        guard text.utf8.count.isMultiple(of: 4) else { return false }
        let padding = text.utf8.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return text.utf8.dropLast(padding).allSatisfy(isInAlphabet)
    }

    /// The bytes of a text that is well formed.
    static func decode(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 4 * 3)
        var (bits, count) = (0 as UInt32, 0)
        for character in text.utf8 {
            guard let value = value(of: character) else { break }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        }
        return bytes
    }

    private static func isInAlphabet(_ byte: UInt8) -> Bool { value(of: byte) != nil }

    private static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
