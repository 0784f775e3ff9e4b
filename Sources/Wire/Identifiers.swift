/// An identifier made by the server: a two-letter prefix, an underscore, and unambiguous characters.
///
/// Each kind is a type of its own, so that a track's sid cannot be passed where a room's is expected.
public protocol ServerIdentifier: Hashable, Sendable, Codable, CustomStringConvertible {
    var text: String { get }
    init(text: String)
}

extension ServerIdentifier {
    public var description: String { text }

    public init(from decoder: any Decoder) throws {
        self.init(text: try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// Identifies one lifetime of a room, `RM_…`. A room that closes and is created again under the same name gets a new one.
public struct RoomSID: ServerIdentifier {
    public let text: String
    public init(text: String) { self.text = text }
}

/// Identifies one stay of a participant in a room, `PA_…`.
public struct ParticipantSID: ServerIdentifier {
    public let text: String
    public init(text: String) { self.text = text }
}

/// Identifies a published track, `TR_…`.
public struct TrackSID: ServerIdentifier {
    public let text: String
    public init(text: String) { self.text = text }
}

/// Identifies a recording of a room, `RC_…`.
public struct RecordingID: ServerIdentifier {
    public let text: String
    public init(text: String) { self.text = text }
}

/// A participant's identity from the token's `sub`: unique within a room, 1 to 256 bytes.
public struct Identity: ServerIdentifier {
    public let text: String
    public init(text: String) { self.text = text }
}

/// Identifies a call, `CA_…`.
public struct CallID: ServerIdentifier {
    public let text: String
    public init(text: String) { self.text = text }

    /// The call's UUID for APIs such as CallKit. It is the same for this identifier on every device.
    ///
    /// Version 8 (RFC 9562 section 5.8), in lower case: the 128-bit FNV-1a hash of the identifier's UTF-8 bytes, most significant byte
    /// first, in which the version, 8, replaces bits 48 to 51, and the variant, binary 10, bits 64 and 65.
    public var uuid: String {
        var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
        for byte in text.utf8 { hash = (hash ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b }
        var (high, low) = (UInt64(truncatingIfNeeded: hash >> 64), UInt64(truncatingIfNeeded: hash))
        high = high & ~0xf000 | 0x8000
        low = low & (1 << 62 - 1) | 1 << 63
        let digits = [high, low].map { half in
            let text = String(half, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
        var groups: [Substring] = []
        var rest = digits[...]
        for length in [8, 4, 4, 4, 12] {
            groups.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return groups.joined(separator: "-")
    }
}

/// Identifies a job of an assistant, `JB_…`.
public struct JobID: ServerIdentifier {
    public let text: String
    public init(text: String) { self.text = text }
}

/// Identifies one connection to a user channel, `DV_…`. A device that connects again gets a new one.
public struct DeviceID: ServerIdentifier {
    public let text: String
    public init(text: String) { self.text = text }
}

/// A track's short name in frame headers, 1 to 65,535: unique within its room and the same for every subscriber.
public struct TrackAlias: Hashable, Sendable, Codable {
    public let value: UInt16

    @inlinable
    public init(_ value: UInt16) { self.value = value }

    public init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(UInt16.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// Language tags (BCP 47), such as `en` and `de-AT`.
package enum LanguageTag {
    /// In bytes.
    package static let bytesMax = 35

    /// Whether a text has the form of a tag. Its subtags need not be registered.
    package static func isValid(_ text: String) -> Bool {
        text.utf8.count <= bytesMax && text.wholeMatch(of: /[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*/) != nil
    }

    /// The primary language of a tag, in lower case: `de` of `de-AT`.
    package static func primary(of tag: String) -> String { tag.prefix { $0 != "-" }.lowercased() }
}
