/// A request on a user's or an assistant's channel; those about calls also by HTTP (docs/protocol/calls.md).
public enum CallRequest: Sendable, Hashable {
    /// Rings the callees. The caller joins the call at once and receives a room token.
    case start(CallStart)
    /// The first device to answer receives a room token.
    case answer(CallID)
    case reject(CallID, CallRejection)
    /// Withdraws a call that nobody has answered.
    case cancel(CallID)
    case hangUp(CallID)
    case hold(CallID, held: Bool)
    case mute(CallID, muted: Bool)
    case invite(CallID, [CallParty])
    /// Requests another room token for a call of this user; the call continues on this device.
    case join(CallID)
    /// Renews the user's token, to keep the channel open.
    case renew(token: String)
    /// Keep-alive, returned unchanged.
    case ping(Int64)
    /// Only on an assistant's channel.
    case worker(WorkerRequest)
}

/// `call.start`, and the body of `POST /v1/calls`.
public struct CallStart: Sendable, Hashable, Codable {
    public var to: [CallParty]
    /// The conversation whose other members are called, in place of `to`.
    public var conversation: String?
    public var callerName: String
    public var metadata: String
    /// Repeated requests with the same key start one call. By HTTP this is the `Idempotency-Key` header.
    public var idempotencyKey: String?

    public init(
        to: [CallParty], conversation: String? = nil, callerName: String = "", metadata: String = "", idempotencyKey: String? = nil
    ) {
        self.to = to
        self.conversation = conversation
        self.callerName = callerName
        self.metadata = metadata
        self.idempotencyKey = idempotencyKey
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            to: try fields.decodeIfPresent([CallParty].self, forKey: .to) ?? [],
            conversation: try fields.decodeIfPresent(String.self, forKey: .conversation),
            callerName: try fields.decodeIfPresent(String.self, forKey: .callerName) ?? "",
            metadata: try fields.decodeIfPresent(String.self, forKey: .metadata) ?? "",
            idempotencyKey: try fields.decodeIfPresent(String.self, forKey: .idempotencyKey))
    }
}

/// How a callee rejects a call.
public struct CallRejection: Sendable, Hashable {
    /// Rejects with `busy` instead of `rejected`.
    public var isBusy: Bool
    /// Sent to the other members.
    public var reason: String?

    public init(isBusy: Bool = false, reason: String? = nil) {
        self.isBusy = isBusy
        self.reason = reason
    }
}

/// A decoded text message on a user channel; see `IncomingRequest`.
public struct IncomingCallRequest: Sendable {
    /// Chosen by the client; nil requests no reply.
    public var id: UInt64?
    public var content: Result<CallRequest, RequestError>

    /// Parses one text message. Never throws: a malformed message yields an error in `content`.
    public init(parsing text: [UInt8]) {
        (id, content) = CallRequest.types.readRequest(text, kind: "call request", reference: "calls.md")
    }
}

/// A request to be sent by a client.
public struct OutgoingCallRequest: Sendable {
    public var id: UInt64?
    public var request: CallRequest

    public init(_ request: CallRequest, id: UInt64? = nil) {
        self.id = id
        self.request = request
    }

    public var bytes: [UInt8] { JSONOutput.bytes(of: request, id: id) }
}

/// The fields of each request.
extension CallRequest: Message {
    func coded(by fields: inout some FieldCoder) throws -> CallRequest {
        switch self {
        case .start(let start):
            fields.begin("call.start")
            return .start(try fields.body(start))
        case .answer(let call):
            fields.begin("call.answer")
            return .answer(try fields("call", call))
        case .reject(let call, let rejection):
            fields.begin("call.reject")
            return .reject(
                try fields("call", call),
                CallRejection(
                    isBusy: try fields("busy", rejection.isBusy, default: false), reason: try fields.optional("reason", rejection.reason)))
        case .cancel(let call):
            fields.begin("call.cancel")
            return .cancel(try fields("call", call))
        case .hangUp(let call):
            fields.begin("call.hangup")
            return .hangUp(try fields("call", call))
        case .hold(let call, let held):
            fields.begin("call.hold")
            return .hold(try fields("call", call), held: try fields("held", held))
        case .mute(let call, let muted):
            fields.begin("call.mute")
            return .mute(try fields("call", call), muted: try fields("muted", muted))
        case .invite(let call, let parties):
            fields.begin("call.invite")
            return .invite(try fields("call", call), try fields("to", parties))
        case .join(let call):
            fields.begin("call.join")
            return .join(try fields("call", call))
        case .renew(let token):
            fields.begin("token.renew")
            return .renew(token: try fields("token", token))
        case .ping(let t):
            fields.begin("ping")
            return .ping(try fields("t", t, default: 0))
        case .worker(let request): return .worker(try request.coded(by: &fields))
        }
    }

    static let types = MessageTypes<CallRequest>(
        [
            .start(.blank), .answer(.blank), .reject(.blank, CallRejection()), .cancel(.blank), .hangUp(.blank), .hold(.blank, held: false),
            .mute(.blank, muted: false), .invite(.blank, []), .join(.blank), .renew(token: ""), .ping(0),
        ] + WorkerRequest.prototypes.map(CallRequest.worker))
}

extension CallStart: Fields {
    static func coded(_ start: CallStart?, by fields: inout some FieldCoder) throws -> CallStart {
        let conversation: String? = try fields.optional("conversation", start?.conversation)
        // Exactly one of `to` and `conversation` is required.
        let to: [CallParty] = try conversation == nil ? fields("to", start?.to) : fields("to", start?.to, default: [])
        return try CallStart(
            to: to, conversation: conversation, callerName: fields("caller_name", start?.callerName, default: ""),
            metadata: fields("metadata", start?.metadata, default: ""),
            idempotencyKey: fields.optional("idempotency_key", start?.idempotencyKey))
    }
}
