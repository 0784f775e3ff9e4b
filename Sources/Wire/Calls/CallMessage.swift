/// An event of a call, sent on the user channel of each user concerned (PROTOCOL, "Calls").
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
public struct CallsHello: Sendable, Hashable, Codable {
    public var server: ServerInfo
    public var user: Identity
    /// This connection, as events name it.
    public var device: DeviceID
    /// Calls that this user is invited to or has joined, oldest first.
    public var calls: [CallInfo]
    /// Seconds until the channel needs a renewed token; nil if not sent.
    public var expiresIn: Int64?

    public init(server: ServerInfo, user: Identity, device: DeviceID, calls: [CallInfo], expiresIn: Int64? = nil) {
        self.server = server
        self.user = user
        self.device = device
        self.calls = calls
        self.expiresIn = expiresIn
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
    /// - Throws: `DecodingError` if it does not conform to PROTOCOL.
    public init(parsing text: [UInt8]) throws {
        self = try ControlCoding.decode(Envelope.self, from: text).message
    }
}

/// Encoding, the same for all recipients.
extension CallEvent {
    public var bytes: [UInt8] {
        let fields = Fields(call: call, by: by, device: device, reason: reason)
        return Array(#"{"type":"\#(kind.rawValue)","data":"#.utf8) + ControlCoding.bytes(of: fields) + [UInt8(ascii: "}")]
    }

    fileprivate struct Fields: Codable {
        var call: CallInfo
        var by: CallParty?
        var device: DeviceID?
        var reason: String?
    }
}

extension CallsHello {
    public var bytes: [UInt8] {
        Array(#"{"type":"hello","data":"#.utf8) + ControlCoding.bytes(of: self) + [UInt8(ascii: "}")]
    }
}

private struct Envelope: Decodable {
    var message: CallMessage

    private enum Key: String, CodingKey { case type, re, data }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        switch try fields.decode(String.self, forKey: .type) {
        case "hello": message = .hello(try fields.decode(CallsHello.self, forKey: .data))
        case "reply":
            message = .reply(re: try fields.decode(UInt64.self, forKey: .re), try fields.decode(CallReply.self, forKey: .data))
        case "error":
            message = .error(
                re: try fields.decodeIfPresent(UInt64.self, forKey: .re), try fields.decode(CallError.self, forKey: .data))
        case let name:
            if let kind = JobEvent.Kind(rawValue: name) {
                message = .job(try JobEvent(kind, from: try fields.superDecoder(forKey: .data)))
                return
            }
            guard let kind = CallEvent.Kind(rawValue: name) else {
                message = .unknownEvent(type: name)
                return
            }
            let body = try fields.decode(CallEvent.Fields.self, forKey: .data)
            message = .event(CallEvent(kind, body.call, by: body.by, device: body.device, reason: body.reason))
        }
    }
}

/// A successful reply: the call after the request, and access to its room where requested.
public struct CallReply: Sendable, Hashable, Codable {
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
        Array(#"{"type":"reply","re":\#(id),"data":"#.utf8) + ControlCoding.bytes(of: self) + [UInt8(ascii: "}")]
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
        let id = id.map(String.init) ?? "null"
        return Array(#"{"type":"error","re":\#(id),"data":"#.utf8) + ControlCoding.bytes(of: self) + [UInt8(ascii: "}")]
    }
}

extension CallError: Codable {
    private enum Key: String, CodingKey { case call }

    public init(from decoder: any Decoder) throws {
        error = try RequestError(from: decoder)
        call = try decoder.container(keyedBy: Key.self).decodeIfPresent(CallInfo.self, forKey: .call)
    }

    public func encode(to encoder: any Encoder) throws {
        try error.encode(to: encoder)
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encodeIfPresent(call, forKey: .call)
    }
}
