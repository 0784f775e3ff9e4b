/// Base64 by RFC 4648 section 4: checked, never decoded, because the gateway passes it on as it came.
enum Base64 {
    /// Whether `text` is groups of four characters of the alphabet, the last one padded with up to two `=`.
    static func isWellFormed(_ text: String) -> Bool {
        guard text.utf8.count.isMultiple(of: 4) else { return false }
        let padding = text.utf8.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return text.utf8.dropLast(padding).allSatisfy(isInAlphabet)
    }

    private static func isInAlphabet(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}
