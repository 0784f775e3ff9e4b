/// An event of a call, sent on the user channel of each user concerned (docs/protocol/calls.md).
public struct CallEvent: Sendable, Hashable {
    public var kind: Kind
    /// The call after this event; `call.seq` is the event's number.
    public var call: CallInfo
    /// The party that caused the event or that it affects; nil for `ended`.
    public var by: CallParty?
    /// This connection, as events name it.
    public var device: DeviceID?
    /// Why a call was rejected (in the callee's words) or failed (in the gateway's).
    public var reason: String?

    public init(_ kind: Kind, _ call: CallInfo, by: CallParty? = nil, device: DeviceID? = nil, reason: String? = nil) {
        self.kind = kind
        self.call = call
        self.by = by
        self.device = device
        self.reason = reason
    }

    public enum Kind: String, Sendable, CaseIterable {
        /// The first event, for the caller's devices.
        case started = "call.started"
        /// A party was invited, for those who are already in the call.
        case invited = "call.invited"
        /// Either of the two, for the invited party.
        case incoming = "call.incoming"
        /// The first device of a callee was notified.
        case ringing = "call.ringing"
        case answered = "call.answered"
        case rejected = "call.rejected"
        case busy = "call.busy"
        /// Nobody answered in time.
        case missed = "call.missed"
        /// The inviting party withdrew the call.
        case cancelled = "call.cancelled"
        case failed = "call.failed"
        /// A member hung up.
        case left = "call.left"
        case held = "call.held"
        case resumed = "call.resumed"
        case muted = "call.muted"
        case unmuted = "call.unmuted"
        /// Another device of the same user took over the call.
        case moved = "call.moved"
        /// The last event; `call.status` says how it ended.
        case ended = "call.ended"
    }
}

/// The first message on a user channel: the user, the device and the current calls.
public struct CallsHello: Sendable, Hashable {
    public var server: ServerInfo
    public var user: Identity
    /// This connection, as events name it.
    public var device: DeviceID
    /// Calls that this user is invited to or has joined, oldest first.
    public var calls: [CallInfo]
    /// Seconds until the channel needs a renewed token; nil if not sent.
    public var expiresIn: Int64?
    /// URLs of other nodes of a cluster, as in `Hello`.
    public var nodes: [String]?

    public init(
        server: ServerInfo, user: Identity, device: DeviceID, calls: [CallInfo], expiresIn: Int64? = nil, nodes: [String]? = nil
    ) {
        self.server = server
        self.user = user
        self.device = device
        self.calls = calls
        self.expiresIn = expiresIn
        self.nodes = nodes
    }
}

/// A text message from the gateway on a user channel, as a client decodes it.
public enum CallMessage: Sendable, Hashable {
    case hello(CallsHello)
    case event(CallEvent)
    case job(JobEvent)
    /// An event of a later protocol version, to be ignored.
    case unknownEvent(type: String)
    case reply(re: UInt64, CallReply)
    /// `re` is nil if the gateway could not read the request's `id`.
    case error(re: UInt64?, CallError)

    /// Parses one text message from the gateway.
    ///
    /// - Throws: an error if it does not conform to the protocol.
    public init(parsing text: [UInt8]) throws {
        var message = FieldReader(object: try JSONValueReader(parsing: text))
        let type: String = try message("type", nil)
        let data = try message.member("data")
        switch type {
        case "reply": self = .reply(re: try message("re", nil), try message("data", nil))
        case "error": self = .error(re: try message.optional("re", nil), try message("data", nil))
        default:
            if let hello = try CallsHello.types.read(type, data) {
                self = .hello(hello)
            } else if let event = try CallEvent.types.read(type, data) {
                self = .event(event)
            } else if let event = try JobEvent.types.read(type, data) {
                self = .job(event)
            } else {
                self = .unknownEvent(type: type)
            }
        }
    }
}

extension CallEvent: Message {
    /// As a text message, the same for all recipients.
    public var bytes: [UInt8] { JSONOutput.bytes(of: self) }

    func coded(by fields: inout some FieldCoder) throws -> CallEvent {
        fields.begin(kind.rawValue)
        return try CallEvent(
            kind, fields("call", call), by: fields.optional("by", by), device: fields.optional("device", device),
            reason: fields.optional("reason", reason))
    }

    static let types = MessageTypes<CallEvent>(Kind.allCases.map { CallEvent($0, .blank) })
}

extension CallsHello: Message, Fields {
    /// As a text message.
    public var bytes: [UInt8] { JSONOutput.bytes(of: self) }

    func coded(by fields: inout some FieldCoder) throws -> CallsHello {
        fields.begin("hello")
        return try fields.body(self)
    }

    static func coded(_ hello: CallsHello?, by fields: inout some FieldCoder) throws -> CallsHello {
        try CallsHello(
            server: fields("server", hello?.server), user: fields("user", hello?.user), device: fields("device", hello?.device),
            calls: fields("calls", hello?.calls), expiresIn: fields.optional("expires_in", hello?.expiresIn),
            nodes: fields.optional("nodes", hello?.nodes))
    }

    static let types = MessageTypes<CallsHello>([.blank])
}

/// A successful reply: the call after the request, and access to its room where requested.
public struct CallReply: Sendable, Hashable {
    public var call: CallInfo?
    /// As in the response to `POST /v1/sessions/start`.
    public var livekitUrl: String?
    public var livekitToken: String?
    public var roomName: String?
    /// Reply to `ping`.
    public var t: Int64?
    /// Reply to `token.renew`: seconds until the channel needs the next token.
    public var expiresIn: Int64?
    /// Reply to `worker.register`: the worker's id, and which of the jobs it named it keeps.
    public var worker: DeviceID?
    public var jobs: [JobID]?
    /// Reply to the other requests of a worker: the job after the request.
    public var job: JobInfo?
    /// Reply to `job.accept`: the assistant's definition, if the gateway has one.
    public var assistant: AssistantDefinition?

    init() {}

    public init(_ call: CallInfo, livekitURL: String? = nil, livekitToken: String? = nil, roomName: String? = nil) {
        self.call = call
        self.livekitUrl = livekitURL
        self.livekitToken = livekitToken
        self.roomName = roomName
    }

    public init(pong t: Int64) {
        self.t = t
    }

    public init(expiresIn: Int64) {
        self.expiresIn = expiresIn
    }

    public init(worker: DeviceID, keeping jobs: [JobID]? = nil) {
        self.worker = worker
        self.jobs = jobs
    }

    public init(job: JobInfo, livekitURL: String? = nil, livekitToken: String? = nil, assistant: AssistantDefinition? = nil) {
        self.job = job
        self.livekitUrl = livekitURL
        self.livekitToken = livekitToken
        self.roomName = livekitToken == nil ? nil : job.room
        self.assistant = assistant
    }

    public func bytes(re id: UInt64) -> [UInt8] {
        JSONOutput.bytes(ofReply: "reply", re: id, self)
    }
}

extension CallReply: Fields {
    static func coded(_ reply: CallReply?, by fields: inout some FieldCoder) throws -> CallReply {
        var coded = CallReply()
        coded.call = try fields.optional("call", reply?.call)
        coded.livekitUrl = try fields.optional("livekit_url", reply?.livekitUrl)
        coded.livekitToken = try fields.optional("livekit_token", reply?.livekitToken)
        coded.roomName = try fields.optional("room_name", reply?.roomName)
        coded.t = try fields.optional("t", reply?.t)
        coded.expiresIn = try fields.optional("expires_in", reply?.expiresIn)
        coded.worker = try fields.optional("worker", reply?.worker)
        coded.jobs = try fields.optional("jobs", reply?.jobs)
        coded.job = try fields.optional("job", reply?.job)
        coded.assistant = try fields.optional("assistant", reply?.assistant)
        return coded
    }
}

/// Why a request about a call failed and, for conflicts, the call's current state.
public struct CallError: Error, Sendable, Hashable {
    public var error: RequestError
    /// The call's current state, for a `conflict`.
    public var call: CallInfo?

    public init(_ code: RequestError.Code, _ message: String, retryable: Bool = false, call: CallInfo? = nil) {
        error = RequestError(code, message, retryable: retryable)
        self.call = call
    }

    public init(_ error: RequestError) {
        self.error = error
    }

    /// `re` is null if the request had no readable `id`.
    public func bytes(re id: UInt64?) -> [UInt8] {
        JSONOutput.bytes(ofReply: "error", re: id, self)
    }
}

extension CallError: Fields {
    static func coded(_ error: CallError?, by fields: inout some FieldCoder) throws -> CallError {
        var coded = CallError(try fields.body(error?.error))
        coded.call = try fields.optional("call", error?.call)
        return coded
    }
}
