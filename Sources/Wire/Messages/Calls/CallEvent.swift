/// What happens to a call, told on each concerned user's own channel (PROTOCOL section 13).
public struct CallEvent: Sendable, Hashable {
    public var kind: Kind
    /// The call after this event; `call.seq` is the event's number.
    public var call: CallInfo
    /// Whose doing it is, or to whom it happened; nil for `ended`.
    public var by: CallParty?
    /// With which device, where that is known.
    public var device: DeviceID?
    /// Why: of a rejection, in the callee's words; of a failure, in the gateway's.
    public var reason: String?

    public init(_ kind: Kind, _ call: CallInfo, by: CallParty? = nil, device: DeviceID? = nil, reason: String? = nil) {
        self.kind = kind
        self.call = call
        self.by = by
        self.device = device
        self.reason = reason
    }

    public enum Kind: String, Sendable, CaseIterable {
        /// The first event, as those hear it who are not called: the caller's devices.
        case started = "call.started"
        /// Somebody is invited to a call that goes on, as those hear it who are in it.
        case invited = "call.invited"
        /// Either of the two, as those hear it who are called.
        case incoming = "call.incoming"
        /// The first device of a callee has been told.
        case ringing = "call.ringing"
        case answered = "call.answered"
        case rejected = "call.rejected"
        case busy = "call.busy"
        /// Rung out.
        case missed = "call.missed"
        /// Whoever invited them took it back.
        case cancelled = "call.cancelled"
        case failed = "call.failed"
        /// Hung up.
        case left = "call.left"
        case held = "call.held"
        case resumed = "call.resumed"
        case muted = "call.muted"
        case unmuted = "call.unmuted"
        /// Another device of the same user goes on with the call in place of the one that had it.
        case moved = "call.moved"
        /// The last event; `call.status` tells how it ended.
        case ended = "call.ended"
    }
}

/// The first message on a user's own channel: who one is, and how things stand.
public struct CallsHello: Sendable, Hashable, Codable {
    public var server: ServerInfo
    public var user: Identity
    /// This connection, as events name it.
    public var device: DeviceID
    /// The calls that this user is invited to or has joined, oldest first.
    public var calls: [CallInfo]
    /// For how many seconds the channel may go on without a fresher token; nil where the gateway does not say.
    public var expiresIn: Int64?

    public init(server: ServerInfo, user: Identity, device: DeviceID, calls: [CallInfo], expiresIn: Int64? = nil) {
        self.server = server
        self.user = user
        self.device = device
        self.calls = calls
        self.expiresIn = expiresIn
    }
}
