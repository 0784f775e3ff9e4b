/// The 128 bits of a UUID, and how they are written (RFC 9562 section 4): `f81d4fae-7dec-41d0-a765-00a0c91e6bf6`.
struct UUIDBits: Hashable, Sendable {
    /// Bytes of the text.
    static let textCount = 36

    private var high: UInt64
    private var low: UInt64

    /// Version 4, from the system's generator, which nobody can foretell.
    static func random() -> UUIDBits {
        UUIDBits(
            high: .random(in: .min ... .max) & ~0xF000 | 0x4000,
            low: .random(in: .min ... .max) & ~(3 << 62) | 1 << 63)
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// - Returns: nil for anything but a UUID, in small letters or capitals.
    init?(text: UnsafeRawBufferPointer) {
        guard text.count == Self.textCount else { return nil }
        (high, low) = (0, 0)
        for (index, byte) in text.enumerated() {
            if Self.isHyphen(index) {
                guard byte == UInt8(ascii: "-") else { return nil }
            } else {
                guard let value = Self.value(ofDigit: byte) else { return nil }
                if index < Self.hyphenInTheMiddle { high = high << 4 | value } else { low = low << 4 | value }
            }
        }
    }

    func write(to text: UnsafeMutableBufferPointer<UInt8>) {
        var rest = high
        for index in 0..<Self.textCount {
            if index == Self.hyphenInTheMiddle { rest = low }
            if Self.isHyphen(index) {
                text[index] = UInt8(ascii: "-")
            } else {
                let digit = UInt8(truncatingIfNeeded: rest >> 60)
                text[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
                rest <<= 4
            }
        }
    }

    private static let hyphenInTheMiddle = 18

    private static func isHyphen(_ index: Int) -> Bool { index == 8 || index == 13 || index == 18 || index == 23 }

    private static func value(ofDigit byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}
