/// Who takes part in a call: a user, by the id that is also its identity in rooms, or `assistant:<id>`.
public enum CallParty: Sendable, Hashable {
    case user(Identity)
    case assistant(String)

    public static let assistantPrefix = "assistant:"

    /// - Returns: nil if the name is empty, or longer than an identity may be.
    public init?(text: String) {
        if text.hasPrefix(Self.assistantPrefix) {
            let id = String(text.dropFirst(Self.assistantPrefix.count))
            guard Self.lengths.contains(id.utf8.count) else { return nil }
            self = .assistant(id)
        } else {
            guard Self.lengths.contains(text.utf8.count) else { return nil }
            self = .user(Identity(text: text))
        }
    }

    private static let lengths = 1...ProtocolLimits.identityBytesMax

    public var text: String {
        switch self {
        case .user(let user): user.text
        case .assistant(let id): Self.assistantPrefix + id
        }
    }

    /// Who is called so in rooms.
    public init(_ identity: Identity) {
        self = CallParty(text: identity.text) ?? .user(identity)
    }

    /// As it is called in rooms.
    public var identity: Identity { Identity(text: text) }

    /// Nil for an assistant.
    public var user: Identity? {
        if case .user(let user) = self { user } else { nil }
    }

    public var isAssistant: Bool { user == nil }
}

extension CallParty: Codable, CustomStringConvertible {
    public var description: String { text }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let party = CallParty(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not 1 to \(ProtocolLimits.identityBytesMax) bytes")
        }
        self = party
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
