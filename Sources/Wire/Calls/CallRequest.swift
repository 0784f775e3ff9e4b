/// A request on a user's or an assistant's channel; those about calls also by HTTP (PROTOCOL, "Calls").
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
    public var callerName: String
    public var metadata: String
    /// Repeated requests with the same key start one call. By HTTP this is the `Idempotency-Key` header.
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
        do {
            self = try ControlCoding.decode(IncomingCallRequest.self, from: text)
        } catch {
            self.id = nil
            self.content = .failure(RequestEnvelope.malformed(error))
        }
    }
}

extension IncomingCallRequest: Decodable {
    public init(from decoder: any Decoder) throws {
        (id, content) = try RequestEnvelope.read(decoder, unknown: { "unknown call request type \"\($0)\"; see PROTOCOL section 13" }) {
            (type: CallRequestType, data) in
            try CallRequest(type, from: data)
        }
    }
}

/// The `type` of each request.
enum CallRequestType: String, CaseIterable {
    case start = "call.start"
    case answer = "call.answer"
    case reject = "call.reject"
    case cancel = "call.cancel"
    case hangUp = "call.hangup"
    case hold = "call.hold"
    case mute = "call.mute"
    case invite = "call.invite"
    case join = "call.join"
    case renew = "token.renew"
    case ping
    case register = "worker.register"
    case status = "worker.status"
    case accept = "job.accept"
    case decline = "job.decline"
    case finish = "job.finish"
}

/// The body of every request about a call except `call.start`.
private struct CallRequestFields: Codable {
    var call: CallID?
    var held: Bool?
    var muted: Bool?
    var busy: Bool?
    var reason: String?
    var to: [CallParty]?
    var token: String?
    var t: Int64?
}

extension CallRequest {
    init(_ type: CallRequestType, from body: (any Decoder)?) throws {
        if let request = try WorkerRequest(type, from: body) {
            self = .worker(request)
            return
        }
        if case .start = type {
            guard let body else { throw FieldError(name: "data") }
            self = .start(try CallStart(from: body))
            return
        }
        let fields = try body.map(CallRequestFields.init(from:)) ?? CallRequestFields()
        if case .ping = type {
            self = .ping(fields.t ?? 0)
            return
        }
        if case .renew = type {
            self = .renew(token: try required(fields.token, "token"))
            return
        }
        let call = try required(fields.call, "call")
        self =
            switch type {
            case .answer: .answer(call)
            case .reject: .reject(call, CallRejection(isBusy: fields.busy ?? false, reason: fields.reason))
            case .cancel: .cancel(call)
            case .hangUp: .hangUp(call)
            case .hold: .hold(call, held: try required(fields.held, "held"))
            case .mute: .mute(call, muted: try required(fields.muted, "muted"))
            case .invite: .invite(call, try required(fields.to, "to"))
            case .join: .join(call)
            case .start, .renew, .ping, .register, .status, .accept, .decline, .finish: preconditionFailure("decoded above")
            }
    }

    fileprivate var typeAndBody: (CallRequestType, any Encodable) {
        switch self {
        case .start(let start): (.start, start)
        case .answer(let call): (.answer, CallRequestFields(call: call))
        case .reject(let call, let rejection):
            (.reject, CallRequestFields(call: call, busy: rejection.isBusy, reason: rejection.reason))
        case .cancel(let call): (.cancel, CallRequestFields(call: call))
        case .hangUp(let call): (.hangUp, CallRequestFields(call: call))
        case .hold(let call, let held): (.hold, CallRequestFields(call: call, held: held))
        case .mute(let call, let muted): (.mute, CallRequestFields(call: call, muted: muted))
        case .invite(let call, let parties): (.invite, CallRequestFields(call: call, to: parties))
        case .join(let call): (.join, CallRequestFields(call: call))
        case .renew(let token): (.renew, CallRequestFields(token: token))
        case .ping(let t): (.ping, CallRequestFields(t: t))
        case .worker(let request): request.typeAndBody
        }
    }
}

/// A request to be sent by a client.
public struct OutgoingCallRequest: Encodable, Sendable {
    public var id: UInt64?
    public var request: CallRequest

    public init(_ request: CallRequest, id: UInt64? = nil) {
        self.id = id
        self.request = request
    }

    public var bytes: [UInt8] { ControlCoding.bytes(of: self) }

    private enum Key: String, CodingKey { case type, id, data }

    public func encode(to encoder: any Encoder) throws {
        var message = encoder.container(keyedBy: Key.self)
        try message.encodeIfPresent(id, forKey: .id)
        let (type, body) = request.typeAndBody
        try message.encode(type.rawValue, forKey: .type)
        try message.encode(body, forKey: .data)
    }
}
