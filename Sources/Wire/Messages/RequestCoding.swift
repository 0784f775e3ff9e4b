/// A decoded text message from a client: its `id`, if present, and the request or the error in it.
public struct IncomingRequest: Sendable {
    /// Chosen by the client; nil requests no reply.
    public var id: UInt64?
    public var content: Result<Request, RequestError>

    /// Parses one text message. Never throws: a malformed message yields an error in `content`.
    public init(parsing text: [UInt8]) {
        self = FrequentRequestReader.request(in: text) ?? IncomingRequest(parsingAny: text)
    }

    init(id: UInt64?, content: Result<Request, RequestError>) {
        self.id = id
        self.content = content
    }

    /// Like `init(parsing:)`, but always through `Codable`.
    package init(parsingAny text: [UInt8]) {
        do {
            self = try ControlCoding.decode(IncomingRequest.self, from: text)
        } catch {
            self.id = nil
            self.content = .failure(RequestEnvelope.malformed(error))
        }
    }
}

extension IncomingRequest: Decodable {
    public init(from decoder: any Decoder) throws {
        (id, content) = try RequestEnvelope.read(decoder, unknown: { "unknown request type \"\($0)\"; see PROTOCOL section 5" }) {
            (type: RequestType, data) in
            try Request(type, from: data)
        }
    }
}

/// The `type` of each request.
enum RequestType: String, CaseIterable {
    case publish = "track.publish"
    case unpublish = "track.unpublish"
    case mute = "track.mute"
    case subscribe = "track.subscribe"
    case updateParticipant = "participant.update"
    case sendData = "data.send"
    case sendText = "text.send"
    case callProcedure = "rpc.request"
    case answerProcedure = "rpc.response"
    case segment = "transcript.segment"
    case agentState = "agent.state"
    case hold = "call.hold"
    case playoutMark = "playout.mark"
    case playoutClear = "playout.clear"
    case playoutProgress = "playout.progress"
    case sendDigits = "dtmf.send"
    case ping
    case refreshToken = "token.refresh"
    case leave
}

/// Small bodies that have no type of their own.
private struct RequestFields: Codable {
    var track: TrackSID?
    var muted: Bool?
    var subscribed: Bool?
    var topic: String?
    var payload: String?
    var payloadBase64: String?
    var to: [Identity]?
    var state: AgentState?
    var held: Bool?
    var digits: String?
    var t: Int64?
    var reason: String?
}

extension Request {
    init(_ type: RequestType, from body: (any Decoder)?) throws {
        func decoded<T: Decodable>(_: T.Type) throws -> T {
            guard let body else { throw FieldError(name: "data") }
            return try T(from: body)
        }
        func fields() throws -> RequestFields { try body.map(RequestFields.init(from:)) ?? RequestFields() }
        switch type {
        case .publish: self = .publish(try decoded(PublishTrack.self))
        case .unpublish: self = .unpublish(try required(fields().track, "track"))
        case .mute:
            let fields = try fields()
            self = .mute(try required(fields.track, "track"), muted: try required(fields.muted, "muted"))
        case .subscribe:
            let fields = try fields()
            self = .subscribe(try required(fields.track, "track"), subscribed: try required(fields.subscribed, "subscribed"))
        case .updateParticipant: self = .updateParticipant(try decoded(ParticipantUpdate.self))
        case .sendData:
            let fields = try fields()
            self = .sendData(DataMessage(topic: fields.topic ?? "", payload: try DataPayload(fields), to: fields.to))
        case .sendText: self = .sendText(try decoded(TextMessage.self))
        case .callProcedure: self = .callProcedure(try decoded(ProcedureCall.self))
        case .answerProcedure: self = .answerProcedure(try decoded(ProcedureAnswer.self))
        case .segment: self = .segment(try decoded(TranscriptSegment.self))
        case .agentState: self = .agentState(try required(fields().state, "state"))
        case .hold: self = .hold(try required(fields().held, "held"))
        case .playoutMark: self = .playoutMark(try decoded(PlayoutMark.self))
        case .playoutClear:
            let fields = try fields()
            self = .playoutClear(try required(fields.track, "track"), reason: fields.reason)
        case .playoutProgress: self = .playoutProgress(try decoded(PlayoutProgress.self))
        case .sendDigits: self = .sendDigits(try required(fields().digits, "digits"))
        case .ping: self = .ping(try fields().t ?? 0)
        case .refreshToken: self = .refreshToken
        case .leave: self = .leave(reason: try fields().reason)
        }
    }
}

extension DataPayload {
    fileprivate init(_ fields: RequestFields) throws {
        switch (fields.payload, fields.payloadBase64) {
        case (let text?, nil): self = .text(text)
        case (nil, let base64?):
            guard Base64.standard.isWellFormed(base64) else {
                throw FieldError(name: "payload_base64", problem: "is not base64 (RFC 4648 section 4, with padding)")
            }
            self = .base64(base64)
        case (nil, nil): throw FieldError(name: "payload", problem: "or `payload_base64` is missing")
        case (_?, _?): throw FieldError(name: "payload", problem: "and `payload_base64` exclude each other; send one of them")
        }
    }
}

/// A request to be sent by a client.
public struct OutgoingRequest: Encodable, Sendable {
    public var id: UInt64?
    public var request: Request

    public init(_ request: Request, id: UInt64? = nil) {
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

extension Request {
    fileprivate var typeAndBody: (RequestType, any Encodable) {
        switch self {
        case .publish(let track): (.publish, track)
        case .unpublish(let track): (.unpublish, RequestFields(track: track))
        case .mute(let track, let muted): (.mute, RequestFields(track: track, muted: muted))
        case .subscribe(let track, let subscribed): (.subscribe, RequestFields(track: track, subscribed: subscribed))
        case .updateParticipant(let update): (.updateParticipant, update)
        case .sendData(let data):
            switch data.payload {
            case .text(let text): (.sendData, RequestFields(topic: data.topic, payload: text, to: data.to))
            case .base64(let text): (.sendData, RequestFields(topic: data.topic, payloadBase64: text, to: data.to))
            }
        case .sendText(let text): (.sendText, text)
        case .callProcedure(let call): (.callProcedure, call)
        case .answerProcedure(let answer): (.answerProcedure, answer)
        case .segment(let segment): (.segment, segment)
        case .agentState(let state): (.agentState, RequestFields(state: state))
        case .hold(let held): (.hold, RequestFields(held: held))
        case .playoutMark(let mark): (.playoutMark, mark)
        case .playoutClear(let track, let reason): (.playoutClear, RequestFields(track: track, reason: reason))
        case .playoutProgress(let progress): (.playoutProgress, progress)
        case .sendDigits(let digits): (.sendDigits, RequestFields(digits: digits))
        case .ping(let t): (.ping, RequestFields(t: t))
        case .refreshToken: (.refreshToken, RequestFields())
        case .leave(let reason): (.leave, RequestFields(reason: reason))
        }
    }
}
