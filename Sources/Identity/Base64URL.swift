/// Base64url without padding (RFC 4648 section 5, RFC 7515 section 2), read strictly.
///
/// libjwt's own decoder skips characters it does not know and ignores the unused bits of the last one, so that many texts
/// stand for one token. Here one text stands for one token, and nothing but these 64 characters ever reaches libjwt.
package enum Base64URL {
    /// The bytes that `text` stands for; nil if it is no canonical base64url.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var pending: UInt32 = 0
        var pendingBits: UInt32 = 0
        for character in text {
            guard let value = sixBits(of: character) else { return nil }
            pending = pending << 6 | value
            pendingBits += 6
            if pendingBits >= 8 {
                pendingBits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> pendingBits))
                pending &= (1 << pendingBits) - 1
            }
        }
        // Six bits left over would be a lone character; bits that are left over must be zero (RFC 4648 section 3.5).
        return pendingBits < 6 && pending == 0 ? bytes : nil
    }

    /// `bytes` as text.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var pending: UInt32 = 0
        var pendingBits: UInt32 = 0
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            pendingBits += 8
            while pendingBits >= 6 {
                pendingBits -= 6
                text.append(alphabet[Int(pending >> pendingBits & 0x3F)])
            }
        }
        if pendingBits > 0 { text.append(alphabet[Int(pending << (6 - pendingBits) & 0x3F)]) }
        return String(decoding: text, as: UTF8.self)
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static func sixBits(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
