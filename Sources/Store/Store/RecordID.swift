package import Wire

/// A random UUID (RFC 9562 version 4, lower case), typed by the kind of record.
package struct RecordID<Kind>: Hashable, Sendable, CustomStringConvertible {
    /// Sixteen bytes inline: lists handle hundreds, and strings would be allocated.
    private let bits: UUIDBits

    package init() {
        bits = .random()
    }

    /// Nil for anything but a UUID.
    package init?(text: String) {
        var text = text
        let bits = text.withUTF8 { UUIDBits(text: UnsafeRawBufferPointer($0)) }
        guard let bits else { return nil }
        self.bits = bits
    }

    /// Nil for anything but a UUID.
    init?(utf8: UnsafeRawBufferPointer) {
        guard let bits = UUIDBits(text: utf8) else { return nil }
        self.bits = bits
    }

    package var text: String {
        String(unsafeUninitializedCapacity: UUIDBits.textCount) { bytes in
            bits.write(to: bytes)
            return UUIDBits.textCount
        }
    }

    package var description: String { text }

    /// Appends the text's bytes.
    func append(to bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: UUIDBits.textCount) { text in
            bits.write(to: text)
            bytes += text
        }
    }
}

extension RecordID: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = RecordID(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a UUID")
        }
        self = id
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension RecordID: JSONWritable {
    package func write(to json: inout JSONOutput) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: UUIDBits.textCount) { text in
            bits.write(to: text)
            json.write(plain: UnsafeBufferPointer(text))
        }
    }
}

package typealias UserID = RecordID<User>
package typealias NodeID = RecordID<Node>
package typealias SessionID = RecordID<Session>
package typealias TurnID = RecordID<Turn>
package typealias SummaryID = RecordID<Summary>

/// The 128 bits of a UUID and its text form (RFC 9562 section 4).
struct UUIDBits: Hashable, Sendable {
    /// Length of the text in bytes.
    static let textCount = 36

    private var high: UInt64
    private var low: UInt64

    /// A random version 4 UUID from the system's secure generator.
    static func random() -> UUIDBits {
        UUIDBits(
            high: .random(in: .min ... .max) & ~0xF000 | 0x4000,
            low: .random(in: .min ... .max) & ~(3 << 62) | 1 << 63)
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// - Returns: nil for anything but a UUID; upper case is accepted.
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
