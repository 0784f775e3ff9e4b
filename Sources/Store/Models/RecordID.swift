package import Wire

/// A random identifier (RFC 9562 UUID, version 4, lower case) of one kind of record, so that no two kinds can be mixed up.
package struct RecordID<Kind>: Hashable, Sendable, CustomStringConvertible {
    /// A list reads and writes hundreds: sixteen bytes need no memory of their own, their text does.
    private let bits: UUIDBits

    /// A new one.
    package init() {
        bits = .random()
    }

    /// What somebody says is one; nil for anything but a UUID.
    package init?(text: String) {
        var text = text
        let bits = text.withUTF8 { UUIDBits(text: UnsafeRawBufferPointer($0)) }
        guard let bits else { return nil }
        self.bits = bits
    }

    /// The same of a text's bytes.
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
package typealias SessionID = RecordID<Session>
package typealias TurnID = RecordID<Turn>
package typealias SummaryID = RecordID<Summary>
