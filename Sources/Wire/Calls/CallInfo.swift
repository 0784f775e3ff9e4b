/// A snapshot of a call. Every event of a call carries one, so the newest event is always sufficient.
public struct CallInfo: Sendable, Hashable {
    public var id: CallID
    /// The room in which its members talk.
    public var room: String
    /// Number of the call's latest event.
    public var seq: UInt64
    public var status: CallStatus
    public var caller: CallParty
    /// Display name chosen by the caller; may be empty.
    public var callerName: String
    /// Chosen by the caller and opaque to the gateway.
    public var metadata: String
    /// The conversation whose members are called, if any.
    public var conversation: String?
    /// The caller first, then the others in the order of their invitation.
    public var members: [CallMember]
    /// The times of the start, the first answer and the end, in milliseconds since 1970 by the gateway's clock. Nil until then.
    public var startedAt: Int64?
    public var answeredAt: Int64?
    public var endedAt: Int64?

    public init(
        id: CallID, room: String, seq: UInt64, status: CallStatus, caller: CallParty, callerName: String = "", metadata: String = "",
        conversation: String? = nil, members: [CallMember], startedAt: Int64? = nil, answeredAt: Int64? = nil, endedAt: Int64? = nil
    ) {
        self.id = id
        self.room = room
        self.seq = seq
        self.status = status
        self.caller = caller
        self.callerName = callerName
        self.metadata = metadata
        self.conversation = conversation
        self.members = members
        self.startedAt = startedAt
        self.answeredAt = answeredAt
        self.endedAt = endedAt
    }

    public func member(_ party: CallParty) -> CallMember? { members.first { $0.party == party } }
}

extension CallInfo: Codable {
    private enum Key: String, CodingKey {
        case id, uuid, room, seq, status, caller, callerName, metadata, conversation, members, startedAt, answeredAt, endedAt
    }

    /// `uuid` is derived from `id` and is not decoded.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        func time(_ key: Key) throws -> Int64? {
            guard let text = try fields.decodeIfPresent(String.self, forKey: key) else { return nil }
            guard let time = RFC3339.milliseconds(of: text) else {
                throw DecodingError.dataCorruptedError(forKey: key, in: fields, debugDescription: "not a time as RFC 3339 has it")
            }
            return time
        }
        self.init(
            id: try fields.decode(CallID.self, forKey: .id), room: try fields.decode(String.self, forKey: .room),
            seq: try fields.decode(UInt64.self, forKey: .seq), status: try fields.decode(CallStatus.self, forKey: .status),
            caller: try fields.decode(CallParty.self, forKey: .caller), callerName: try fields.decode(String.self, forKey: .callerName),
            metadata: try fields.decode(String.self, forKey: .metadata),
            conversation: try fields.decodeIfPresent(String.self, forKey: .conversation),
            members: try fields.decode([CallMember].self, forKey: .members),
            startedAt: try time(.startedAt), answeredAt: try time(.answeredAt), endedAt: try time(.endedAt))
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(id, forKey: .id)
        try fields.encode(id.uuid, forKey: .uuid)
        try fields.encode(room, forKey: .room)
        try fields.encode(seq, forKey: .seq)
        try fields.encode(status, forKey: .status)
        try fields.encode(caller, forKey: .caller)
        try fields.encode(callerName, forKey: .callerName)
        try fields.encode(metadata, forKey: .metadata)
        try fields.encodeIfPresent(conversation, forKey: .conversation)
        try fields.encode(members, forKey: .members)
        try fields.encodeIfPresent(startedAt.map(RFC3339.text(ofMilliseconds:)), forKey: .startedAt)
        try fields.encodeIfPresent(answeredAt.map(RFC3339.text(ofMilliseconds:)), forKey: .answeredAt)
        try fields.encodeIfPresent(endedAt.map(RFC3339.text(ofMilliseconds:)), forKey: .endedAt)
    }
}

/// A member of a call.
public struct CallMember: Sendable, Hashable {
    public var party: CallParty
    /// The call's status for this member. The caller's is `answered` from the start.
    public var status: CallStatus
    /// Whether this member has put the call on hold: it neither sends nor receives audio.
    public var held: Bool
    public var muted: Bool
    /// The device with which it called or answered, if known.
    public var device: DeviceID?

    public init(party: CallParty, status: CallStatus, held: Bool = false, muted: Bool = false, device: DeviceID? = nil) {
        self.party = party
        self.status = status
        self.held = held
        self.muted = muted
        self.device = device
    }

    public var state: CallMemberState {
        switch status {
        case .started, .ringing: .invited
        case .answered: .joined
        case .completed, .cancelled, .rejected, .busy, .timeout, .failed: .left
        }
    }
}

extension CallMember: Codable {
    private enum Key: String, CodingKey { case party, state, status, held, muted, device }

    /// `state` is derived from `status` and is not decoded.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        self.init(
            party: try fields.decode(CallParty.self, forKey: .party), status: try fields.decode(CallStatus.self, forKey: .status),
            held: try fields.decodeIfPresent(Bool.self, forKey: .held) ?? false,
            muted: try fields.decodeIfPresent(Bool.self, forKey: .muted) ?? false,
            device: try fields.decodeIfPresent(DeviceID.self, forKey: .device))
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(party, forKey: .party)
        try fields.encode(state, forKey: .state)
        try fields.encode(status, forKey: .status)
        try fields.encode(held, forKey: .held)
        try fields.encode(muted, forKey: .muted)
        try fields.encodeIfPresent(device, forKey: .device)
    }
}

/// The status of a call, or of a call for one of its members.
public enum CallStatus: String, Sendable, Codable, CaseIterable {
    /// Created; no device of a callee has been notified yet.
    case started
    /// A device of a callee rings.
    case ringing
    case answered
    /// Answered and over.
    case completed
    /// Withdrawn before it was answered.
    case cancelled
    case rejected
    /// The callee is in another call.
    case busy
    /// Nobody answered in time.
    case timeout
    /// A member could not be reached, or did not join the room.
    case failed

    public var isOver: Bool {
        switch self {
        case .started, .ringing, .answered: false
        case .completed, .cancelled, .rejected, .busy, .timeout, .failed: true
        }
    }
}

/// A member's relation to the call.
public enum CallMemberState: String, Sendable, Codable, CaseIterable {
    case invited, joined, left
}

/// A party to a call: a user, by the id that is also its identity in rooms, or `assistant:<id>`.
public enum CallParty: Sendable, Hashable {
    case user(Identity)
    case assistant(String)

    public static let assistantPrefix = "assistant:"

    /// - Returns: nil if the name is empty or longer than an identity may be.
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

    /// The party with this identity in rooms.
    public init(_ identity: Identity) {
        self = CallParty(text: identity.text) ?? .user(identity)
    }

    /// The party's identity in rooms.
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
