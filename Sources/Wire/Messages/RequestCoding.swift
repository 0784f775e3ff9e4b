/// A decoded text message from a client: its `id`, if present, and the request or the error in it.
public struct IncomingRequest: Sendable {
    /// Chosen by the client; nil requests no reply.
    public var id: UInt64?
    public var content: Result<Request, RequestError>

    /// Parses one text message. Never throws: a malformed message yields an error in `content`.
    public init(parsing text: [UInt8]) {
        (id, content) = Request.types.readRequest(text, kind: "request", reference: "requests.md")
    }
}

/// A request to be sent by a client.
public struct OutgoingRequest: Sendable {
    public var id: UInt64?
    public var request: Request

    public init(_ request: Request, id: UInt64? = nil) {
        self.id = id
        self.request = request
    }

    public var bytes: [UInt8] { JSONOutput.bytes(of: request, id: id) }
}

/// The fields of each request.
extension Request: Message {
    func coded(by fields: inout some FieldCoder) throws -> Request {
        switch self {
        case .publish(let track):
            fields.begin("track.publish", "`canPublish`, with the source; not hidden")
            return .publish(try fields.body(track))
        case .unpublish(let track):
            fields.begin("track.unpublish", "the publisher")
            return .unpublish(try fields("track", track))
        case .mute(let track, let muted):
            fields.begin("track.mute", "the publisher; muting: also `roomAdmin`")
            return .mute(try fields("track", track), muted: try fields("muted", muted))
        case .subscribe(let track, let subscribed):
            fields.begin("track.subscribe", "`canSubscribe`; unsubscribing: anyone")
            return .subscribe(try fields("track", track), subscribed: try fields("subscribed", subscribed))
        case .updateParticipant(let update):
            fields.begin("participant.update", "`canUpdateOwnMetadata`")
            return .updateParticipant(try fields.body(update))
        case .sendData(let data):
            fields.begin("data.send", "`canPublishData`")
            return .sendData(
                DataMessage(
                    topic: try fields("topic", data.topic, default: ""), payload: try fields.payload(data.payload),
                    to: try fields.optional("to", data.to)))
        case .sendText(let text):
            fields.begin("text.send", "`canPublishData`")
            return .sendText(try fields.body(text))
        case .callProcedure(let call):
            fields.begin("rpc.request", "`canPublishData`")
            return .callProcedure(try fields.body(call))
        case .answerProcedure(let answer):
            fields.begin("rpc.response", "the callee")
            return .answerProcedure(try fields.body(answer))
        case .segment(let segment):
            fields.begin("transcript.segment", "`canPublishData`")
            return .segment(try fields.body(segment))
        case .agentState(let state):
            fields.begin("agent.state", "kind `agent`")
            return .agentState(try fields("state", state))
        case .hold(let held):
            fields.begin("call.hold", "anyone")
            return .hold(try fields("held", held))
        case .playoutMark(let mark):
            fields.begin("playout.mark", "the publisher of an `ahead` track")
            return .playoutMark(try fields.body(mark))
        case .playoutClear(let track, let reason):
            fields.begin("playout.clear", "the publisher and the subscribers of an `ahead` track")
            return .playoutClear(try fields("track", track), reason: try fields.optional("reason", reason))
        case .playoutProgress(let progress):
            fields.begin("playout.progress", "a subscriber of an `ahead` track")
            return .playoutProgress(try fields.body(progress))
        case .sendDigits(let digits):
            fields.begin("dtmf.send", "`canPublishData`")
            return .sendDigits(try fields("digits", digits))
        case .ping(let t):
            fields.begin("ping", "anyone")
            return .ping(try fields("t", t, default: 0))
        case .refreshToken:
            fields.begin("token.refresh", "anyone")
            return .refreshToken
        case .leave(let reason):
            fields.begin("leave", "anyone")
            return .leave(reason: try fields.optional("reason", reason))
        }
    }

    /// All types, for the reference.
    package static var descriptions: [MessageDescription] { types.descriptions }

    static let types = MessageTypes<Request>([
        .publish(.blank), .unpublish(.blank), .mute(.blank, muted: false), .subscribe(.blank, subscribed: false),
        .updateParticipant(.blank), .sendData(DataMessage(topic: "", payload: .text(""))), .sendText(.blank), .callProcedure(.blank),
        .answerProcedure(.blank), .segment(.blank), .agentState(.blank), .playoutMark(.blank), .playoutClear(.blank, reason: nil),
        .playoutProgress(.blank), .hold(false), .sendDigits(""), .ping(0), .refreshToken, .leave(reason: nil),
    ])
}

extension PublishTrack: Fields {
    static func coded(_ track: PublishTrack?, by fields: inout some FieldCoder) throws -> PublishTrack {
        try PublishTrack(
            name: fields("name", track?.name, default: ""), source: fields("source", track?.source, default: .microphone),
            codec: fields("codec", track?.codec, default: "opus"), mode: fields("mode", track?.mode, default: .live),
            frameMs: fields("frame_ms", track?.frameMs, default: 20), dtx: fields("dtx", track?.dtx, default: false),
            fec: fields("fec", track?.fec, default: false), channels: fields("channels", track?.channels, default: 1))
    }
}

extension ParticipantUpdate: Fields {
    static func coded(_ update: ParticipantUpdate?, by fields: inout some FieldCoder) throws -> ParticipantUpdate {
        try ParticipantUpdate(
            name: fields.optional("name", update?.name), metadata: fields.optional("metadata", update?.metadata),
            attributes: fields.optional("attributes", update?.attributes))
    }
}

extension TextMessage: Fields {
    static func coded(_ message: TextMessage?, by fields: inout some FieldCoder) throws -> TextMessage {
        try TextMessage(
            text: fields("text", message?.text), topic: fields("topic", message?.topic, default: chatTopic),
            to: fields.optional("to", message?.to))
    }
}

extension ProcedureCall: Fields {
    static func coded(_ call: ProcedureCall?, by fields: inout some FieldCoder) throws -> ProcedureCall {
        try ProcedureCall(
            to: fields("to", call?.to), method: fields("method", call?.method), payload: fields("payload", call?.payload, default: ""),
            timeoutMs: fields("timeout_ms", call?.timeoutMs, default: 10_000))
    }
}

extension ProcedureAnswer: Fields {
    static func coded(_ answer: ProcedureAnswer?, by fields: inout some FieldCoder) throws -> ProcedureAnswer {
        try ProcedureAnswer(
            requestId: fields("request_id", answer?.requestId), payload: fields.optional("payload", answer?.payload),
            error: fields.optional("error", answer?.error))
    }
}
