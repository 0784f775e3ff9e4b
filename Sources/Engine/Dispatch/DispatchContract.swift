package import Wire

extension DispatchStateMachine {
    /// Inputs, each passed with the time at which it occurred.
    package enum Input: Sendable {
        /// A request on an assistant's channel. `assistant` is the one of its token, without prefix.
        case request(WorkerRequest, assistant: String, from: Requester)
        /// The channel is closed or lost. Its agents may still be in their rooms.
        case disconnected(DeviceID)
        /// An agent of that assistant is in the room, is in it without a connection, or has left it for good.
        case agent(String, in: String, AgentPresence)
        /// The first user has come to a room, or the last one has left it.
        case attended(String, Bool)
        case roomEnded(String)
        /// The room's token could not be issued.
        case admissionFailed(JobID, reason: String)
        /// No job is created or offered any more.
        case draining
        /// The time given by `deadline` has come.
        case deadlinePassed
    }

    /// A worker's channel and the id of its request; nil wants no reply.
    package struct Requester: Sendable, Hashable {
        package var device: DeviceID
        package var id: UInt64?

        package init(device: DeviceID, id: UInt64?) {
            self.device = device
            self.id = id
        }
    }

    /// Effects, to be performed in this order.
    package enum Effect: Sendable, Hashable {
        case reply(CallReply, to: Requester)
        /// An error: always counted, and sent if the requester wants an answer.
        case reject(RequestError, to: Requester)
        /// A reply with a token for the job's room.
        case admit(JobInfo, to: Requester)
        case offer(JobInfo, to: DeviceID)
        /// An offer has ended.
        case offerEnded(JobID, OfferOutcome, worker: DeviceID)
        /// Tell a worker that it no longer has the job.
        case cancel(JobID, of: DeviceID, reason: String)
        /// The process has registered for the first time on this channel: it takes jobs instead of calls.
        case dedicate(DeviceID)
        /// End the stay of an agent whose connection is lost; without effect on one that is connected.
        case giveUp(Identity, in: String)
        /// Remove an agent from the room.
        case remove(Identity, from: String)
        /// Tell the room of a job that its assistant cannot come yet, or that it does not come any more.
        case waiting(JobInfo, AgentWaitReason)
        /// The job's status or attempt has changed.
        case changed(JobInfo)
        /// An ended job is not kept any longer.
        case forget(JobID)
        /// A worker of this assistant has reported turns of its conversations, and the number of further turns that it dropped.
        case turns([TurnMetrics], of: String, dropped: Int)
    }

    /// How an offer ended, as `/metrics` names it.
    package enum OfferOutcome: String, Sendable, CaseIterable {
        case accepted, declined
        /// The worker did not answer in time.
        case expired
        /// The job ended or was given to another worker, or the worker disconnected.
        case withdrawn
    }
}

/// Whether an agent is in a room.
package enum AgentPresence: Sendable, Hashable, Codable {
    case present
    /// Its connection is lost and may be resumed.
    case away
    /// It has left, or was removed, for this reason.
    case left(DisconnectReason)
}

/// An assistant asked for in a room.
package struct JobRequest: Sendable, Hashable, Codable {
    package var room: String
    /// Without the prefix `assistant:`.
    package var assistant: String
    package var metadata: String
    package var reason: JobReason
    package var call: CallID?
    package var trace: TraceContext?

    package init(
        room: String, assistant: String, metadata: String = "", reason: JobReason, call: CallID? = nil, trace: TraceContext? = nil
    ) {
        self.room = room
        self.assistant = assistant
        self.metadata = metadata
        self.reason = reason
        self.call = call
        self.trace = trace
    }

    /// - Throws: `RequestError` for a name or metadata of the wrong length.
    func check() throws(RequestError) {
        guard 1...ProtocolLimits.roomNameBytesMax ~= room.utf8.count else {
            throw RequestError(.invalidArgument, "`room` must be 1 to \(ProtocolLimits.roomNameBytesMax) bytes")
        }
        guard !assistant.isEmpty, CallParty.assistant(assistant).text.utf8.count <= ProtocolLimits.identityBytesMax else {
            let max = ProtocolLimits.identityBytesMax - CallParty.assistantPrefix.utf8.count
            throw RequestError(.invalidArgument, "`assistant` must be 1 to \(max) bytes")
        }
        guard metadata.utf8.count <= ProtocolLimits.jobMetadataBytesMax else {
            throw RequestError(.invalidArgument, "`metadata` must be at most \(ProtocolLimits.jobMetadataBytesMax) bytes")
        }
    }
}

/// A worker's state as known to dispatch, for operators.
package struct WorkerReport: Sendable, Hashable {
    package var id: DeviceID
    package var assistant: String
    package var capacity: Int
    /// The last reported load, 0 to 1.
    package var load: Double
    /// Jobs that were offered to the worker or that it has accepted.
    package var jobs: Int
    package var isDraining: Bool
    /// False from an expired offer until the worker's next message.
    package var isResponsive: Bool
}

extension DispatchStateMachine {
    package func worker(_ id: DeviceID) -> WorkerReport? { workers[id].map { WorkerReport($0, id) } }

    /// All workers, the busiest first. O(n) in workers.
    package var workerReports: [WorkerReport] {
        workers.map { WorkerReport($0.value, $0.key) }.sorted {
            ($0.isResponsive ? 1 : 0, -$0.load, $0.assistant, $0.id.text) < ($1.isResponsive ? 1 : 0, -$1.load, $1.assistant, $1.id.text)
        }
    }
}

extension WorkerReport {
    fileprivate init(_ worker: Worker, _ id: DeviceID) {
        self.init(
            id: id, assistant: worker.assistant, capacity: worker.capacity, load: worker.load, jobs: worker.jobs.count,
            isDraining: worker.isDraining, isResponsive: worker.isResponsive)
    }
}

/// Sizes of the state, for metrics.
package struct DispatchSizes: Sendable, Hashable {
    package var workers = 0
    /// Jobs that no worker has accepted.
    package var pending = 0
    /// Jobs that a worker has accepted.
    package var running = 0

    package init() {}
}
