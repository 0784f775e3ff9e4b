/// A text message on a user's own channel, taken apart as `IncomingRequest` is.
public struct IncomingCallRequest: Sendable {
    /// The client's number; nil asks for no answer.
    public var id: UInt64?
    public var content: Result<CallRequest, RequestError>

    /// Reads one text message. Never throws: a broken message is a value with an error in it.
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
        (id, content) = try RequestEnvelope.read(decoder, unknown: { "no request about calls is named \"\($0)\"; see PROTOCOL section 13" })
        { (type: CallRequestType, data) in
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
}

/// The body of every request but `call.start`.
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
        if case .start = type {
            guard let body else { throw MissingField(name: "data") }
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
            case .start, .renew, .ping: preconditionFailure("read above")
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
        }
    }
}

/// The client's side: a request as text.
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
