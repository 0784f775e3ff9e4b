import Engine
import Testing
public import Wire

/// The dispatch state machine with a virtual clock, workers that record what they are told, and checks of its invariants.
final class DispatchWorld {
    enum Answer: Equatable {
        case reply(CallReply)
        case admitted(JobInfo)
        case rejected(RequestError)

        var code: RequestError.Code? { if case .rejected(let error) = self { error.code } else { nil } }
        var admitted: JobInfo? { if case .admitted(let job) = self { job } else { nil } }
        var kept: [JobID]? { if case .reply(let reply) = self { reply.jobs } else { nil } }
    }

    var machine: DispatchStateMachine
    var now = Instant(nanoseconds: 1_000_000_000)
    /// Effects of the last step.
    var effects: [DispatchStateMachine.Effect] = []
    /// Offers that have not ended.
    private(set) var offers: [JobID: DeviceID] = [:]
    /// Who accepted each job last and was not told that it is lost.
    private(set) var holders: [JobID: DeviceID] = [:]
    private(set) var changes: [JobID: [JobStatus]] = [:]
    /// What each worker last said of itself.
    private(set) var capacity: [DeviceID: Int] = [:]
    private(set) var assistants: [DeviceID: String] = [:]
    /// What rooms were told of their waiting jobs, oldest first.
    private(set) var waits: [String: [AgentWaitReason]] = [:]
    private var attended: Set<String> = []
    private var draining: Set<DeviceID> = []
    /// For a test to count with.
    var counts: [DeviceID: Int] = [:]
    private var answers: [DispatchStateMachine.Requester: [Answer]] = [:]
    private var lastNumber: UInt64 = 0

    init(seed: UInt64 = 1) {
        machine = DispatchStateMachine(seed: seed)
    }

    // MARK: Inputs

    func receive(_ input: DispatchStateMachine.Input) {
        effects = []
        switch input {
        case .attended(let room, let isAttended): if isAttended { attended.insert(room) } else { attended.remove(room) }
        case .roomEnded(let room): attended.remove(room)
        default: break
        }
        machine.handle(input, at: now, into: &effects)
        follow()
    }

    /// Advances the clock and processes each deadline on the way.
    func pass(_ span: Duration) {
        let end = now + span
        var passed: [DispatchStateMachine.Effect] = []
        while let deadline = machine.deadline, deadline <= end {
            now = max(now, deadline)
            receive(.deadlinePassed)
            passed += effects
            if let next = machine.deadline { #expect(next > now, "a deadline that has passed must be removed") }
        }
        now = end
        effects = passed
    }

    @discardableResult
    func create(_ room: String = "r", _ assistant: String = "a", call: CallID? = nil) -> JobInfo? {
        effects = []
        defer { follow() }
        let request = JobRequest(room: room, assistant: assistant, reason: call == nil ? .request : .call, call: call)
        return try? machine.create(request, at: now, into: &effects).job
    }

    func cancel(_ job: JobID, in room: String = "r") {
        effects = []
        _ = machine.cancel(job, in: room, reason: "ended", at: now, into: &effects)
        follow()
    }

    @discardableResult
    func send(_ device: DeviceID, _ request: WorkerRequest) -> Answer? {
        lastNumber += 1
        let requester = DispatchStateMachine.Requester(device: device, id: lastNumber)
        if case .status(let status) = request, capacity[device] != nil {
            if status.draining { draining.insert(device) } else { draining.remove(device) }
        }
        receive(.request(request, assistant: assistants[device] ?? "a", from: requester))
        #expect(answers[requester]?.count == 1, "\(request) must get exactly one answer")
        return answers[requester]?.first
    }

    /// Registers a worker on a new channel.
    @discardableResult
    func worker(
        _ name: String, of assistant: String = "a", capacity: Int = 2, load: Double = 0, keeping jobs: [JobInfo] = []
    ) -> (device: DeviceID, kept: [JobID]) {
        let device = DeviceID(text: name)
        assistants[device] = assistant
        self.capacity[device] = capacity
        draining.remove(device)
        let registration = WorkerRegistration(assistantID: assistant, capacity: capacity, load: load, jobs: jobs)
        let kept = send(device, .register(registration))?.kept ?? []
        return (device, kept)
    }

    func disconnect(_ device: DeviceID) {
        capacity[device] = nil
        draining.remove(device)
        for (job, holder) in holders where holder == device { holders[job] = nil }
        receive(.disconnected(device))
    }

    /// Accepts the job that is offered to this worker.
    @discardableResult
    func accept(_ device: DeviceID, _ job: JobID) -> JobInfo? { send(device, .accept(job))?.admitted }

    /// Creates a job, which a worker accepts and whose agent joins.
    func runJob(_ device: DeviceID, in room: String = "r") -> JobInfo? {
        guard let job = create(room) else { return nil }
        accept(device, job.id)
        receive(.agent(job.assistant, in: room, .present))
        return machine.job(job.id)
    }

    // MARK: Observations

    func offered(to device: DeviceID) -> [JobID] { offers.filter { $0.value == device }.map(\.key) }
    func status(_ job: JobID?) -> JobStatus? { job.flatMap { machine.job($0)?.status } }

    func wasCancelled(_ job: JobID, at device: DeviceID) -> Bool {
        effects.contains { if case .cancel(job, of: device, _) = $0 { true } else { false } }
    }

    // MARK: Checks

    private func follow() {
        for effect in effects {
            switch effect {
            case .reply(let reply, let requester): answers[requester, default: []].append(.reply(reply))
            case .reject(let error, let requester): answers[requester, default: []].append(.rejected(error))
            case .admit(let job, let requester):
                answers[requester, default: []].append(.admitted(job))
                holders[job.id] = requester.device
            case .offer(let job, let device):
                #expect(offers[job.id] == nil, "a job is offered to two workers")
                #expect(
                    holders[job.id] == nil || machine.job(job.id)?.status.isOver == true || isTakenBack(job.id),
                    "an accepted job is offered")
                #expect(capacity[device] != nil, "a job is offered to a worker that is not connected")
                #expect(!draining.contains(device), "a job is offered to a draining worker")
                #expect(assistants[device] == job.assistant, "a job is offered to another assistant's worker")
                offers[job.id] = device
                let busy = offers.values.count { $0 == device } + holders.count { $0.value == device && $0.key != job.id }
                #expect(busy <= capacity[device] ?? 0, "a job is offered to a full worker")
            case .offerEnded(let job, _, let device):
                #expect(offers[job] == device, "an offer ends that was not open")
                offers[job] = nil
            case .cancel(let job, let device, _): if holders[job] == device { holders[job] = nil }
            case .changed(let job):
                if let last = changes[job.id]?.last {
                    #expect(last != job.status, "no change")
                    #expect(!last.isOver, "\(job) changes after its end")
                }
                changes[job.id, default: []].append(job.status)
                if job.status.isOver || job.status == .pending { holders[job.id] = nil }
            case .forget(let job): #expect(changes[job]?.last?.isOver == true, "an active job is forgotten")
            case .waiting(let job, let reason): waits[job.room, default: []].append(reason)
            case .dedicate, .giveUp, .remove, .turns: break
            }
        }
        checkDeadlines()
    }

    private func isTakenBack(_ job: JobID) -> Bool {
        effects.contains { if case .cancel(job, _, _) = $0 { true } else { false } }
    }

    /// Every active job has a worker, an agent or a user in the room, or a deadline.
    private func checkDeadlines() {
        for (id, statuses) in changes {
            switch statuses.last {
            case .pending? where attended.contains(machine.job(id)?.room ?? ""): break
            case .pending?, .offered?, .accepted?: #expect(machine.deadline != nil, "\(id) may wait forever")
            default: break
            }
        }
    }
}

/// Lets tests write jobs as string literals.
extension JobID: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self.init(text: text) }
}
