internal import Foundation

/// A random identifier (RFC 9562 UUID, version 4, lower case) of one kind of record, so that no two kinds can be mixed up.
package struct RecordID<Kind>: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    /// A new one.
    package init() {
        text = UUID().uuidString.lowercased()
    }

    /// What somebody says is one; nil for anything but a UUID.
    package init?(text: String) {
        guard let uuid = UUID(uuidString: text) else { return nil }
        self.text = uuid.uuidString.lowercased()
    }

    package var description: String { text }
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

package typealias UserID = RecordID<User>
package typealias SessionID = RecordID<Session>
package typealias TurnID = RecordID<Turn>
package typealias SummaryID = RecordID<Summary>
