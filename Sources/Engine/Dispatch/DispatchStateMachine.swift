internal import DequeModule
package import Wire

/// The dispatch of assistants to rooms: workers with their capacity and load, and jobs with their states.
///
/// Driven like a room: `handle(_:at:into:)` takes an input and appends effects in order; `deadline` is when it must be called again.
/// Deterministic: no I/O, no clock; random choices come from the seed.
///
///     pending ──▶ offered ──▶ accepted ──▶ running ──▶ succeeded
///        ▲           │           │            │
///        └───────────┴───────────┴────────────┘   declined, expired, worker or agent lost
///
/// Invariants:
/// - The same seed and the same inputs give the same effects.
/// - Every request with an `id` gets exactly one answer.
/// - An assistant has at most one active job per room, and a job is offered to or held by one worker at most.
/// - Nothing is offered to a worker that is full, draining or did not answer its last offer.
/// - An active job always has a worker, an agent or a user in the room, or a deadline.
package struct DispatchStateMachine: Sendable {
    struct Timer: Sendable {
        var at: Instant
        var job: JobID
        /// The job's stamp or round when the timer was set; a different one means it no longer matters.
        var stamp: UInt64
    }

    var identifiers: IdentifierGenerator
    var random: SplitMix64
    /// Active jobs, and ended ones for a while. Never iterated.
    var jobs: [JobID: Job] = [:]
    var workers: [DeviceID: Worker] = [:]
    /// By assistant, in order of registration.
    var workersOf: [String: [DeviceID]] = [:]
    var rooms: [String: DispatchRoom] = [:]
    /// By assistant, the jobs that need a worker, in order: pending ones, and running ones whose agent is lost.
    var waiting: [String: [JobID]] = [:]
    var timers: [Deque<Timer>] = Array(repeating: [], count: JobTimer.allCases.count)
    package internal(set) var sizes = DispatchSizes()
    var isDraining = false
    private let patience: Int

    /// - Parameters:
    ///   - seed: determines identifiers and choices; must differ between runs of the process.
    ///   - patience: factor of the times that workers and agents have, for tests on loaded machines.
    package init(seed: UInt64, patience: Int = 1) {
        self.patience = patience
        identifiers = IdentifierGenerator(seed: seed)
        random = SplitMix64(seed: ~seed)
    }

    /// Forgets everything.
    ///
    /// - Parameter seed: as for a new state machine.
    package mutating func reset(seed: UInt64) {
        self = DispatchStateMachine(seed: seed, patience: patience)
    }

    /// Time for the next `deadlinePassed`. Changes only in `handle` and `create`.
    package var deadline: Instant? { timers.compactMap { $0.first?.at }.min() }

    /// Whether no state is left.
    package var isEmpty: Bool { jobs.isEmpty && workers.isEmpty && rooms.isEmpty && waiting.isEmpty && workersOf.isEmpty }

    /// The jobs of a room, oldest first, including those that ended a short while ago.
    package func jobs(in room: String) -> [JobInfo] {
        rooms[room]?.jobs.compactMap { jobs[$0]?.info } ?? []
    }

    package func job(_ id: JobID) -> JobInfo? { jobs[id]?.info }

    /// Handles an input and appends its effects.
    ///
    /// - Parameter now: never goes back.
    package mutating func handle(_ input: Input, at now: Instant, into effects: inout [Effect]) {
        switch input {
        case .request(let request, let assistant, let requester):
            answer(request, assistant, requester, at: now, into: &effects)
        case .disconnected(let device): disconnect(device, at: now, into: &effects)
        case .agent(let assistant, let room, let presence): note(assistant, in: room, presence, at: now, into: &effects)
        case .attended(let room, let isAttended): note(room, isAttended: isAttended, at: now, into: &effects)
        case .roomEnded(let room): endRoom(room, at: now, into: &effects)
        case .admissionFailed(let id, let reason): end(id, .failed, reason, tellingWorker: true, at: now, into: &effects)
        case .draining: drain(at: now, into: &effects)
        case .deadlinePassed: processDeadlines(at: now, into: &effects)
        }
        dropSettledTimers()
    }

    /// Creates a job, and offers it if a worker is free.
    ///
    /// - Returns: the new job, or the active job of that assistant in that room.
    package mutating func create(
        _ request: JobRequest, at now: Instant, into effects: inout [Effect]
    ) throws(RequestError) -> (job: JobInfo, isNew: Bool) {
        try request.check()
        if let id = activeJob(of: request.assistant, in: request.room), let job = jobs[id] { return (job.info, false) }
        guard !isDraining else { throw RequestError(.unsupported, "this gateway is about to stop; use another one", retryable: true) }
        let info = try begin(request, at: now, into: &effects)
        dropSettledTimers()
        return (jobs[info.id]?.info ?? info, true)
    }

    /// - Throws: `RequestError` if there are too many jobs.
    @discardableResult
    mutating func begin(_ request: JobRequest, at now: Instant, into effects: inout [Effect]) throws(RequestError) -> JobInfo {
        let info = JobInfo(
            id: identifiers.job(), room: request.room, assistant: request.assistant, metadata: request.metadata, reason: request.reason,
            call: request.call, traceparent: request.trace?.traceparent)
        try insert(info, at: now)
        effects.append(.changed(info))
        if rooms[request.room]?.isAway(request.assistant) == false {
            // The assistant is there already.
            setRunning(info.id, at: now, into: &effects)
        } else {
            seekWorker(for: info.id, within: .pending, at: now, into: &effects)
        }
        return info
    }

    /// Ends a job and removes its agent.
    ///
    /// - Returns: the job; nil if the room has no such active job.
    package mutating func cancel(
        _ id: JobID, in room: String, reason: String, at now: Instant, into effects: inout [Effect]
    ) -> JobInfo? {
        guard let job = jobs[id], !job.isOver, job.info.room == room else { return nil }
        end(id, .cancelled, reason, tellingWorker: true, removingAgent: true, at: now, into: &effects)
        dropSettledTimers()
        return jobs[id]?.info
    }

    func activeJob(of assistant: String, in room: String) -> JobID? {
        rooms[room]?.jobs.first { id in jobs[id].map { !$0.isOver && $0.info.assistant == assistant } ?? false }
    }
}

/// Time.
extension DispatchStateMachine {
    mutating func arm(_ kind: JobTimer, _ id: JobID, at now: Instant) {
        guard let job = jobs[id] else { return }
        timers[kind.rawValue].append(Timer(at: now + span(of: kind), job: id, stamp: kind.isOfRound ? job.round : job.stamp))
    }

    func span(of kind: JobTimer) -> Duration {
        switch kind {
        case .offer, .pending, .lost, .join, .away: kind.span * patience
        case .retry, .over: kind.span
        }
    }

    mutating func processDeadlines(at now: Instant, into effects: inout [Effect]) {
        for kind in JobTimer.allCases {
            while let timer = timers[kind.rawValue].first, timer.at <= now {
                timers[kind.rawValue].removeFirst()
                if matters(timer, kind) { expire(kind, timer.job, at: now, into: &effects) }
            }
        }
    }

    private mutating func expire(_ kind: JobTimer, _ id: JobID, at now: Instant, into effects: inout [Effect]) {
        guard let job = jobs[id] else { return }
        switch kind {
        case .offer:
            if let worker = job.worker { workers[worker]?.isResponsive = false }
            withdrawOffer(of: id, .expired, at: now, into: &effects)
        case .pending, .lost:
            if job.info.status == .pending, !isAttended(job) { failForLackOfWorkers(id, at: now, into: &effects) }
        case .retry:
            jobs[id]?.isRetrying = false
            jobs[id]?.refusals = []
            assign(job.info.assistant, at: now, into: &effects)
        case .join: lose(id, "its agent did not join in time", at: now, into: &effects)
        case .away:
            if let worker = job.worker { jobs[id]?.refusals.append(worker) }
            replaceAgent(of: id, at: now, into: &effects)
        case .over: forget(id, into: &effects)
        }
    }

    /// Drops timers that no longer matter.
    mutating func dropSettledTimers() {
        for kind in JobTimer.allCases {
            while let timer = timers[kind.rawValue].first, !matters(timer, kind) { timers[kind.rawValue].removeFirst() }
        }
    }

    private func matters(_ timer: Timer, _ kind: JobTimer) -> Bool {
        guard let job = jobs[timer.job] else { return false }
        switch kind {
        case .over: return job.isOver
        case .retry: return !job.isOver && job.isRetrying && job.round == timer.stamp
        case .pending, .lost: return !job.isOver && job.round == timer.stamp && !job.isTaken
        case .offer, .join, .away: return !job.isOver && job.stamp == timer.stamp
        }
    }
}

extension JobTimer {
    /// Whether the timer belongs to a round and not to one status.
    fileprivate var isOfRound: Bool { [.pending, .lost, .retry].contains(self) }
}
