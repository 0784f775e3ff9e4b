/// A server-made identifier: a two-letter prefix, an underscore, and characters that are hard to confuse.
///
/// Each kind is a type of its own so that a track's sid can never be passed where a room's is meant.
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

/// Names one life of a room, `RM_…`: a room that closes and is made again under the same name has another.
public struct RoomSID: ServerIdentifier {
    public let text: String
    public init(text: String) { self.text = text }
}

/// Names one stay of a participant in a room, `PA_…`.
public struct ParticipantSID: ServerIdentifier {
    public let text: String
    public init(text: String) { self.text = text }
}

/// Names one published track, `TR_…`.
public struct TrackSID: ServerIdentifier {
    public let text: String
    public init(text: String) { self.text = text }
}

/// Names one recording of a room, `RC_…`.
public struct RecordingID: ServerIdentifier {
    public let text: String
    public init(text: String) { self.text = text }
}

/// Who somebody is, as the token says in `sub`: unique within a room, 1 to 256 bytes.
public struct Identity: ServerIdentifier {
    public let text: String
    public init(text: String) { self.text = text }
}

/// Names one call, `CA_…`.
public struct CallID: ServerIdentifier {
    public let text: String
    public init(text: String) { self.text = text }
}

/// Names one connection of a user's own channel, `DV_…`: a device that connects again has another.
public struct DeviceID: ServerIdentifier {
    public let text: String
    public init(text: String) { self.text = text }
}

/// A track's short name in frame headers, 1…65535, unique in its room and the same for every listener.
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
