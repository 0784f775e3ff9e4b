internal import Engine
internal import Logging
internal import Wire

/// Tells rooms, calls and operators about jobs.
struct JobAnnouncements {
    private let rooms: RoomService
    private let calls: CallInbox?
    private let registry: DispatchRegistry
    private let log = Logger(label: "patchbay.dispatch")

    init(rooms: RoomService, calls: CallInbox?, registry: DispatchRegistry) {
        self.rooms = rooms
        self.calls = calls
        self.registry = registry
    }

    func notCreated(_ request: JobRequest, _ error: RequestError) {
        log.warning("no job was created", metadata: ["room": "\(request.room)", "assistant": "\(request.assistant)", "error": "\(error)"])
        if let call = request.call { report(.failed(reason: error.message), of: request.assistant, to: call) }
    }

    /// A job's status has changed.
    func change(_ job: JobInfo) {
        registry.note(job, at: WallClock.milliseconds)
        expect(job)
        let level: Logger.Level =
            switch job.status {
            case .pending, .offered: .debug
            case .accepted, .running, .succeeded, .cancelled: .info
            case .failed: .warning
            }
        log.log(
            level: level, "job \(job.status.rawValue)",
            metadata: [
                "job": "\(job.id)", "room": "\(job.room)", "assistant": "\(job.assistant)", "attempt": .stringConvertible(job.attempt),
                "reason": "\(job.error ?? job.reason.rawValue)",
            ])
        guard let call = job.call else { return }
        switch job.status {
        case .accepted: report(.accepted, of: job.assistant, to: call)
        case .failed, .cancelled: report(.failed(reason: job.error ?? "the job has ended"), of: job.assistant, to: call)
        case .pending, .offered, .running, .succeeded: break
        }
    }

    /// Tells the room whether to keep what users say for the job's agent. It learns of a running job by the agent's join.
    func expect(_ job: JobInfo) {
        switch job.status {
        case .pending, .offered, .accepted: rooms.send(.agentExpected(job.identity, true), to: job.room)
        case .running: break
        case .succeeded, .failed, .cancelled: rooms.send(.agentExpected(job.identity, false), to: job.room)
        }
    }

    /// A job waits for a worker, or waits no longer.
    func wait(_ job: JobInfo, _ reason: AgentWaitReason) {
        rooms.send(.agentWaiting(job.identity, reason), to: job.room)
        guard reason != .ended else { return }
        log.warning(
            "a job waits for a worker",
            metadata: ["job": "\(job.id)", "room": "\(job.room)", "assistant": "\(job.assistant)", "reason": "\(reason.rawValue)"])
    }

    private func report(_ progress: CallInbox.DispatchProgress, of assistant: String, to call: CallID) {
        calls?.post(.dispatched(assistant: assistant, to: call, progress))
    }
}
