/// A call as it is at one moment. Every event of a call carries all of it, so the newest is always enough.
public struct CallInfo: Sendable, Hashable, Codable {
    public var id: CallID
    /// The room in which its members talk.
    public var room: String
    /// How many events this call has had; its last one's number.
    public var seq: UInt64
    public var status: CallStatus
    public var caller: CallParty
    /// What the caller calls itself; empty if it does not say.
    public var callerName: String
    /// The caller's own, unread by the gateway.
    public var metadata: String
    /// The caller first, the others in the order in which they were invited.
    public var members: [CallMember]

    public init(
        id: CallID, room: String, seq: UInt64, status: CallStatus, caller: CallParty, callerName: String = "", metadata: String = "",
        members: [CallMember]
    ) {
        self.id = id
        self.room = room
        self.seq = seq
        self.status = status
        self.caller = caller
        self.callerName = callerName
        self.metadata = metadata
        self.members = members
    }

    public func member(_ party: CallParty) -> CallMember? { members.first { $0.party == party } }
}

/// Somebody in a call.
public struct CallMember: Sendable, Hashable {
    public var party: CallParty
    /// How far the call is for this member. A caller's is `answered` from the start.
    public var status: CallStatus
    /// It has put its call on hold: it neither hears nor is heard.
    public var held: Bool
    public var muted: Bool
    /// The device with which it called or answered, where that is known.
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

    /// `state` follows from `status`, and is not read.
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
