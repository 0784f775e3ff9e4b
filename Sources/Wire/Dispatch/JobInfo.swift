/// A job: one assistant that is dispatched to one room (PROTOCOL, "Workers and jobs").
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

    public init(
        id: JobID, room: String, assistant: String, metadata: String = "", reason: JobReason, call: CallID? = nil,
        status: JobStatus = .pending, attempt: Int = 0, error: String? = nil
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
            error: try fields.decodeIfPresent(String.self, forKey: .error))
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

    /// As a text message.
    public var bytes: [UInt8] {
        let body =
            switch self {
            case .offered(let job): ControlCoding.bytes(of: JobOffer(job: job))
            case .cancelled(let job, let reason): ControlCoding.bytes(of: JobCancellation(job: job, reason: reason))
            }
        return Array(#"{"type":"\#(kind.rawValue)","data":"#.utf8) + body + [UInt8(ascii: "}")]
    }

    enum Kind: String {
        case offered = "job.offered"
        case cancelled = "job.cancelled"
    }

    private var kind: Kind {
        switch self {
        case .offered: .offered
        case .cancelled: .cancelled
        }
    }

    init(_ kind: Kind, from body: any Decoder) throws {
        switch kind {
        case .offered: self = .offered(try JobOffer(from: body).job)
        case .cancelled:
            let cancellation = try JobCancellation(from: body)
            self = .cancelled(cancellation.job, reason: cancellation.reason)
        }
    }
}

private struct JobOffer: Codable {
    var job: JobInfo
}

private struct JobCancellation: Codable {
    var job: JobID
    var reason: String
}
