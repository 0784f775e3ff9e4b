/// Returns `count` bytes from the system's cryptographically secure generator, suitable for keys, nonces and tokens.
package func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return Array(unsafeUninitializedCapacity: count) { bytes, written in
        while written < count {
            var word: UInt64 = generator.next()
            for _ in 0..<min(8, count - written) {
                bytes[written] = UInt8(truncatingIfNeeded: word)
                word >>= 8
                written += 1
            }
        }
    }
}

/// A seeded pseudo-random generator (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
///
/// Implemented here because the standard library does not promise the same sequence in its next version. Not for secrets: one output
/// reveals all later ones.
package struct SplitMix64: Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number in `0..<bound`. Its bias is below bound / 2⁶⁴.
    package mutating func below(_ bound: Int) -> Int {
        precondition(bound > 0, "below(_:) needs a positive bound, not \(bound)")
        return Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }
}

/// Base64 (RFC 4648), in the standard or in the URL-safe alphabet.
package struct Base64: Sendable {
    /// Section 4: `+` and `/`, padded to groups of four characters. Decoding ignores unused bits of the last character.
    package static let standard = Base64(digit62: UInt8(ascii: "+"), digit63: UInt8(ascii: "/"), isURLSafe: false)

    /// Section 5, as JWTs use it (RFC 7515 section 2): `-` and `_`, without padding.
    ///
    /// Decoding is canonical: padding, a lone last character and unused bits other than zero are rejected, so exactly one text encodes
    /// a byte string (RFC 4648 section 3.5).
    package static let urlSafe = Base64(digit62: UInt8(ascii: "-"), digit63: UInt8(ascii: "_"), isURLSafe: true)

    private let digit62: UInt8
    private let digit63: UInt8
    private let isURLSafe: Bool

    package func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var (pending, pendingBits) = (0 as UInt32, 0)
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            pendingBits += 8
            while pendingBits >= 6 {
                pendingBits -= 6
                text.append(digit(UInt8(truncatingIfNeeded: pending >> pendingBits & 0x3F)))
            }
        }
        if pendingBits > 0 { text.append(digit(UInt8(truncatingIfNeeded: pending << (6 - pendingBits) & 0x3F))) }
        while !isURLSafe, !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: nil for text that is not in this encoding.
    package func decode(_ text: some Collection<UInt8>) -> [UInt8]? { decode(Array(text)) }

    /// Not generic, because callers are in other modules, where a generic function is not specialized: that took 2.5 % of a join's time.
    private func decode(_ text: [UInt8]) -> [UInt8]? {
        let count = text.count
        let padding = isURLSafe ? 0 : text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard isURLSafe || count.isMultiple(of: 4) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count * 3 / 4)
        var (pending, pendingBits) = (0 as UInt32, 0)
        for character in text.prefix(count - padding) {
            guard let value = value(of: character) else { return nil }
            pending = pending << 6 | UInt32(value)
            pendingBits += 6
            if pendingBits >= 8 {
                pendingBits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> pendingBits))
                pending &= (1 << pendingBits) - 1
            }
        }
        return !isURLSafe || pendingBits < 6 && pending == 0 ? bytes : nil
    }

    /// Whether `decode(_:)` accepts `text`. Allocates nothing. For the standard alphabet.
    package func isWellFormed(_ text: String) -> Bool {
        guard text.utf8.count.isMultiple(of: 4) else { return false }
        let padding = text.utf8.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return text.utf8.dropLast(padding).allSatisfy { value(of: $0) != nil }
    }

    private func digit(_ value: UInt8) -> UInt8 {
        switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: digit62
        default: digit63
        }
    }

    private func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case digit62: 62
        case digit63: 63
        default: nil
        }
    }
}

/// Hexadecimal digits, two for each byte. Lower case when encoding, either case when decoding.
package enum Hex {
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0x0F)]] }, as: UTF8.self)
    }

    /// - Returns: nil for an odd number of characters, or one that is not a digit.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        var high: UInt8?
        for character in text {
            guard let value = Character(Unicode.Scalar(character)).hexDigitValue else { return nil }
            if let upper = high {
                bytes.append(upper << 4 | UInt8(value))
                high = nil
            } else {
                high = UInt8(value)
            }
        }
        return bytes
    }
}
