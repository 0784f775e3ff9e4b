/// A job: one assistant that is dispatched to one room (docs/protocol/assistants.md, "Workers and jobs").
public struct JobInfo: Sendable, Hashable {
    public var id: JobID
    /// The room's name.
    public var room: String
    /// Without the prefix `assistant:`.
    public var assistant: String
    /// Chosen by whoever asked for the assistant and opaque to the gateway.
    public var metadata: String
    public var reason: JobReason
    /// The call to which the assistant was called.
    public var call: CallID?
    public var status: JobStatus
    /// How often a worker has accepted it.
    public var attempt: Int
    /// Why it failed or was cancelled.
    public var error: String?
    /// W3C Trace Context: the span of the request that asked for the assistant.
    public var traceparent: String?

    public init(
        id: JobID, room: String, assistant: String, metadata: String = "", reason: JobReason, call: CallID? = nil,
        status: JobStatus = .pending, attempt: Int = 0, error: String? = nil, traceparent: String? = nil
    ) {
        self.id = id
        self.room = room
        self.assistant = assistant
        self.metadata = metadata
        self.reason = reason
        self.call = call
        self.status = status
        self.attempt = attempt
        self.error = error
        self.traceparent = traceparent
    }

    /// The identity of the assistant in rooms.
    public var identity: Identity { CallParty.assistant(assistant).identity }
}

extension JobInfo: Codable {
    /// All but `id`, `room` and `assistant` may be omitted.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try fields.decode(JobID.self, forKey: .id), room: try fields.decode(String.self, forKey: .room),
            assistant: try fields.decode(String.self, forKey: .assistant),
            metadata: try fields.decodeIfPresent(String.self, forKey: .metadata) ?? "",
            reason: try fields.decodeIfPresent(JobReason.self, forKey: .reason) ?? .request,
            call: try fields.decodeIfPresent(CallID.self, forKey: .call),
            status: try fields.decodeIfPresent(JobStatus.self, forKey: .status) ?? .pending,
            attempt: try fields.decodeIfPresent(Int.self, forKey: .attempt) ?? 0,
            error: try fields.decodeIfPresent(String.self, forKey: .error),
            traceparent: try fields.decodeIfPresent(String.self, forKey: .traceparent))
    }
}

/// Why an assistant is dispatched.
public enum JobReason: String, Sendable, Codable, CaseIterable {
    /// A session was started with its id.
    case session
    /// The token that opened the room named it in `roomConfig.agents`.
    case token
    /// A rule of the gateway's configuration.
    case rule
    /// `POST /v1/rooms/{room}/agents`.
    case request
    /// A user called it.
    case call
}

/// The status of a job.
public enum JobStatus: String, Sendable, Codable, CaseIterable {
    /// No worker can take it now.
    case pending
    /// A worker has been asked.
    case offered
    /// A worker has accepted; its agent is not in the room yet.
    case accepted
    /// The agent is in the room.
    case running
    /// The agent has left the room, or its worker reports the end.
    case succeeded
    case failed
    /// The room has ended, or somebody ended the job.
    case cancelled

    public var isOver: Bool {
        switch self {
        case .pending, .offered, .accepted, .running: false
        case .succeeded, .failed, .cancelled: true
        }
    }
}

/// An event of a job on the channel of a worker.
public enum JobEvent: Sendable, Hashable {
    /// Accept or decline within 1 s.
    case offered(JobInfo)
    /// The job is no longer the worker's: leave the room.
    case cancelled(JobID, reason: String)
}

extension JobEvent: Message {
    /// As a text message.
    public var bytes: [UInt8] { JSONOutput.bytes(of: self) }

    func coded(by fields: inout some FieldCoder) throws -> JobEvent {
        switch self {
        case .offered(let job):
            fields.begin("job.offered")
            return .offered(try fields("job", job))
        case .cancelled(let job, let reason):
            fields.begin("job.cancelled")
            return .cancelled(try fields("job", job), reason: try fields("reason", reason))
        }
    }

    static let types = MessageTypes<JobEvent>([.offered(.blank), .cancelled(.blank, reason: "")])
}

/// A request of an assistant's worker on its channel (docs/protocol/assistants.md, "Workers and jobs").
public enum WorkerRequest: Sendable, Hashable {
    /// The process takes jobs from now on instead of calls.
    case register(WorkerRegistration)
    case status(WorkerStatus)
    /// The reply has the room's URL and token.
    case accept(JobID)
    case decline(JobID)
    /// The worker has ended an accepted job. Without an error it counts as success.
    case finish(JobID, error: String?)
}

/// `worker.register`. Repeated on each new connection.
public struct WorkerRegistration: Sendable, Hashable {
    /// As in the token, without the prefix `assistant:`.
    public var assistantId: String
    /// How many jobs the worker takes at once.
    public var capacity: Int
    /// 0 to 1.
    public var load: Double
    /// Accepted jobs that have not ended. Only their id, room and assistant are read.
    public var jobs: [JobInfo]
    /// The worker speaks as the gateway defines the assistant, and is refused if it does not. Absent: false.
    public var needsDefinition: Bool?

    public init(assistantID: String, capacity: Int, load: Double = 0, jobs: [JobInfo] = [], needsDefinition: Bool? = nil) {
        assistantId = assistantID
        self.capacity = capacity
        self.load = load
        self.jobs = jobs
        self.needsDefinition = needsDefinition
    }
}

/// `worker.status`.
public struct WorkerStatus: Sendable, Hashable {
    /// 0 to 1; nothing is offered to a worker with a load of 1.
    public var load: Double
    /// Accepted jobs that have not ended, as the worker counts them. Absent: the gateway's own count is used.
    public var jobs: Int?
    /// The worker takes no more jobs and ends when those it has are over.
    public var draining: Bool
    /// Turns that have ended since the last report, oldest first. At most `ProtocolLimits.turnsPerReportMax`.
    public var turns: [TurnMetrics]?
    /// Turns that ended since then and are not reported, because too many waited.
    public var turnsDropped: Int?

    public init(load: Double, jobs: Int? = nil, draining: Bool = false, turns: [TurnMetrics]? = nil, turnsDropped: Int? = nil) {
        self.load = load
        self.jobs = jobs
        self.draining = draining
        self.turns = turns
        self.turnsDropped = turnsDropped
    }
}

/// The fields of each request.
extension WorkerRequest {
    func coded(by fields: inout some FieldCoder) throws -> WorkerRequest {
        switch self {
        case .register(let registration):
            fields.begin("worker.register")
            return .register(try fields.body(registration))
        case .status(let status):
            fields.begin("worker.status")
            return .status(try fields.body(status))
        case .accept(let job):
            fields.begin("job.accept")
            return .accept(try fields("job", job))
        case .decline(let job):
            fields.begin("job.decline")
            return .decline(try fields("job", job))
        case .finish(let job, let error):
            fields.begin("job.finish")
            return .finish(try fields("job", job), error: try fields.optional("error", error))
        }
    }

    /// One of each type.
    static let prototypes: [WorkerRequest] = [
        .register(.blank), .status(.blank), .accept(.blank), .decline(.blank), .finish(.blank, error: nil),
    ]
}

extension WorkerRegistration: Fields {
    static func coded(_ worker: WorkerRegistration?, by fields: inout some FieldCoder) throws -> WorkerRegistration {
        try WorkerRegistration(
            assistantID: fields("assistant_id", worker?.assistantId), capacity: fields("capacity", worker?.capacity),
            load: fields("load", worker?.load, default: 0), jobs: fields("jobs", worker?.jobs, default: []),
            needsDefinition: fields.optional("needs_definition", worker?.needsDefinition))
    }
}

extension WorkerStatus: Fields {
    static func coded(_ status: WorkerStatus?, by fields: inout some FieldCoder) throws -> WorkerStatus {
        try WorkerStatus(
            load: fields("load", status?.load), jobs: fields.optional("jobs", status?.jobs),
            draining: fields("draining", status?.draining, default: false), turns: fields.optional("turns", status?.turns),
            turnsDropped: fields.optional("turns_dropped", status?.turnsDropped))
    }
}
