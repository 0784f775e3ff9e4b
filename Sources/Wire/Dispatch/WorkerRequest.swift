/// A request of an assistant's worker on its channel (PROTOCOL, "Workers and jobs").
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
public struct WorkerRegistration: Sendable, Hashable, Codable {
    /// As in the token, without the prefix `assistant:`.
    public var assistantId: String
    /// How many jobs the worker takes at once.
    public var capacity: Int
    /// 0 to 1.
    public var load: Double
    /// Accepted jobs that have not ended. Only their id, room and assistant are read.
    public var jobs: [JobInfo]

    public init(assistantID: String, capacity: Int, load: Double = 0, jobs: [JobInfo] = []) {
        assistantId = assistantID
        self.capacity = capacity
        self.load = load
        self.jobs = jobs
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            assistantID: try fields.decode(String.self, forKey: .assistantId), capacity: try fields.decode(Int.self, forKey: .capacity),
            load: try fields.decodeIfPresent(Double.self, forKey: .load) ?? 0,
            jobs: try fields.decodeIfPresent([JobInfo].self, forKey: .jobs) ?? [])
    }
}

/// `worker.status`.
public struct WorkerStatus: Sendable, Hashable, Codable {
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

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            load: try fields.decode(Double.self, forKey: .load), jobs: try fields.decodeIfPresent(Int.self, forKey: .jobs),
            draining: try fields.decodeIfPresent(Bool.self, forKey: .draining) ?? false,
            turns: try fields.decodeIfPresent([TurnMetrics].self, forKey: .turns),
            turnsDropped: try fields.decodeIfPresent(Int.self, forKey: .turnsDropped))
    }
}

/// The body of requests about one job.
private struct JobFields: Codable {
    var job: JobID?
    var error: String?
}

extension WorkerRequest {
    /// Nil if the request is not one of a worker.
    init?(_ type: CallRequestType, from body: (any Decoder)?) throws {
        func decoded<T: Decodable>(_: T.Type) throws -> T {
            guard let body else { throw FieldError(name: "data") }
            return try T(from: body)
        }
        func job() throws -> (id: JobID, error: String?) {
            let fields = try body.map(JobFields.init(from:)) ?? JobFields()
            return (try required(fields.job, "job"), fields.error)
        }
        switch type {
        case .register: self = .register(try decoded(WorkerRegistration.self))
        case .status: self = .status(try decoded(WorkerStatus.self))
        case .accept: self = .accept(try job().id)
        case .decline: self = .decline(try job().id)
        case .finish:
            let (id, error) = try job()
            self = .finish(id, error: error)
        default: return nil
        }
    }

    var typeAndBody: (CallRequestType, any Encodable) {
        switch self {
        case .register(let registration): (.register, registration)
        case .status(let status): (.status, status)
        case .accept(let job): (.accept, JobFields(job: job))
        case .decline(let job): (.decline, JobFields(job: job))
        case .finish(let job, let error): (.finish, JobFields(job: job, error: error))
        }
    }
}
