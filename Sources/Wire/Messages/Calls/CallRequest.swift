/// What a user may ask about calls, on its own channel or by HTTP (PROTOCOL section 13).
public enum CallRequest: Sendable, Hashable {
    /// Rings. The caller is in the call at once, and is given a room token.
    case start(CallStart)
    /// The first device to answer is given a room token.
    case answer(CallID)
    case reject(CallID, CallRejection)
    /// Takes back a call that nobody has answered.
    case cancel(CallID)
    case hangUp(CallID)
    case hold(CallID, held: Bool)
    case mute(CallID, muted: Bool)
    case invite(CallID, [CallParty])
    /// Another room token for a call that one is in: the call goes on with this device.
    case join(CallID)
    /// A fresher token of the same user: the channel goes on with it.
    case renew(token: String)
    /// A sign of life; comes back as it was.
    case ping(Int64)
}

/// `call.start`, and the body of `POST /v1/calls`.
public struct CallStart: Sendable, Hashable, Codable {
    public var to: [CallParty]
    public var callerName: String
    public var metadata: String
    /// The same call, however often this is asked. By HTTP it is the field `Idempotency-Key`.
    public var idempotencyKey: String?

    public init(to: [CallParty], callerName: String = "", metadata: String = "", idempotencyKey: String? = nil) {
        self.to = to
        self.callerName = callerName
        self.metadata = metadata
        self.idempotencyKey = idempotencyKey
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            to: try fields.decode([CallParty].self, forKey: .to),
            callerName: try fields.decodeIfPresent(String.self, forKey: .callerName) ?? "",
            metadata: try fields.decodeIfPresent(String.self, forKey: .metadata) ?? "",
            idempotencyKey: try fields.decodeIfPresent(String.self, forKey: .idempotencyKey))
    }
}

/// How somebody does not want to talk.
public struct CallRejection: Sendable, Hashable {
    /// "Busy" instead of "no".
    public var isBusy: Bool
    /// In the callee's words; the others are told.
    public var reason: String?

    public init(isBusy: Bool = false, reason: String? = nil) {
        self.isBusy = isBusy
        self.reason = reason
    }
}
