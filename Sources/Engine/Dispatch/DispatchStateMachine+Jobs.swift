internal import DequeModule
internal import Wire

/// Finding workers, and the life of jobs.
extension DispatchStateMachine {
    /// - Throws: `RequestError` if there are too many jobs.
    mutating func insert(_ info: JobInfo, at now: Instant) throws(RequestError) {
        guard sizes.pending + sizes.running < Limits.jobsMax else {
            throw RequestError(.limitExceeded, "the gateway has as many jobs as it may have", retryable: true)
        }
        let active = rooms[info.room]?.jobs.count { jobs[$0]?.isOver == false } ?? 0
        guard active < Limits.jobsPerRoomMax else {
            throw RequestError(.limitExceeded, "the room has \(Limits.jobsPerRoomMax) assistants already", retryable: true)
        }
        jobs[info.id] = Job(info: info, roundEndsAt: now)
        rooms[info.room, default: DispatchRoom()].jobs.append(info.id)
        count(info.status, 1)
    }

    /// Begins a round: the job waits until a worker takes it, for as long as `kind` says, and as long as a user is in its room.
    mutating func seekWorker(
        for id: JobID, within kind: JobTimer, avoiding worker: DeviceID? = nil, at now: Instant, into effects: inout [Effect]
    ) {
        guard let assistant = jobs[id]?.info.assistant else { return }
        beginRound(of: id, within: kind, avoiding: worker, at: now)
        jobs[id]?.worker = nil
        setStatus(of: id, .pending, into: &effects)
        enqueue(id, assistant)
        assign(assistant, at: now, into: &effects)
    }

    /// The last user has left the room of a job that waits: it waits as if it were new.
    mutating func limitWait(of id: JobID, at now: Instant, into effects: inout [Effect]) {
        guard let job = jobs[id], job.info.status == .pending || job.hasOffer else { return }
        beginRound(of: id, within: .pending, at: now)
        assign(job.info.assistant, at: now, into: &effects)
    }

    /// Whether a job may wait for a worker without a deadline. A call does not wait: its caller learns after a while that the assistant does not answer.
    func isAttended(_ job: Job) -> Bool { job.info.call == nil && rooms[job.info.room]?.isAttended == true }

    private mutating func beginRound(of id: JobID, within kind: JobTimer, avoiding worker: DeviceID? = nil, at now: Instant) {
        jobs[id]?.round += 1
        jobs[id]?.refusals = worker.map { [$0] } ?? []
        jobs[id]?.isRetrying = false
        let end = now + span(of: kind)
        jobs[id]?.roundEndsAt = end
        arm(kind, id, at: now)
    }

    /// Offers the waiting jobs of an assistant, as far as it has free workers.
    mutating func assign(_ assistant: String, at now: Instant, into effects: inout [Effect]) {
        guard !isDraining else { return }
        for id in waiting[assistant] ?? [] { offer(id, at: now, into: &effects) }
    }

    private mutating func offer(_ id: JobID, at now: Instant, into effects: inout [Effect]) {
        // An earlier offer of this pass may have ended the wait of this job.
        guard let job = jobs[id], waiting[job.info.assistant]?.contains(id) == true else { return }
        guard let device = chooseWorker(for: job) else {
            reportWait(of: job, into: &effects)
            return retryLater(job, at: now)
        }
        if job.info.status == .running {
            // Its agent is away: the room loses it now, so that the next one does not replace it silently.
            release(job, "its agent lost the connection", into: &effects)
            effects.append(.giveUp(job.info.identity, in: job.info.room))
            rooms[job.info.room]?.note(job.info.assistant, isAway: nil)
            guard countAttempt(of: id, at: now) else { return end(id, .failed, Self.flapping, at: now, into: &effects) }
            beginRound(of: id, within: .lost, avoiding: job.worker, at: now)
        }
        dequeue(id, job.info.assistant)
        jobs[id]?.worker = device
        workers[device]?.jobs.append(id)
        setStatus(of: id, .offered, into: &effects)
        arm(.offer, id, at: now)
        if let info = jobs[id]?.info { effects.append(.offer(info, to: device)) }
    }

    /// A random worker, with a probability in proportion to its weight.
    private mutating func chooseWorker(for job: Job) -> DeviceID? {
        let candidates = (workersOf[job.info.assistant] ?? []).compactMap { device -> (device: DeviceID, weight: Int)? in
            guard let weight = workers[device]?.weight, weight > 0, !job.refusals.contains(device) else { return nil }
            return (device, weight)
        }
        guard !candidates.isEmpty else { return nil }
        var rest = random.below(candidates.reduce(0) { $0 + $1.weight })
        for candidate in candidates {
            if rest < candidate.weight { return candidate.device }
            rest -= candidate.weight
        }
        return nil
    }

    /// Tells the room of a job why it waits, each reason once.
    private mutating func reportWait(of job: Job, into effects: inout [Effect]) {
        let reason = workersOf[job.info.assistant] == nil ? AgentWaitReason.noWorker : .busy
        guard job.info.status == .pending, job.waitReason != reason else { return }
        jobs[job.id]?.waitReason = reason
        effects.append(.waiting(job.info, reason))
    }

    /// All workers refused the job or are busy. Those that refused it are asked again after a pause.
    private mutating func retryLater(_ job: Job, at now: Instant) {
        guard job.info.status == .pending, !job.refusals.isEmpty, !job.isRetrying else { return }
        jobs[job.id]?.isRetrying = true
        arm(.retry, job.id, at: now)
    }

    /// Ends an offer that was not accepted. Unless the round is over, the job waits for another worker.
    mutating func withdrawOffer(of id: JobID, _ outcome: OfferOutcome, at now: Instant, into effects: inout [Effect]) {
        guard let job = jobs[id], job.hasOffer, let worker = job.worker else { return }
        workers[worker]?.jobs.removeAll { $0 == id }
        effects.append(.offerEnded(id, outcome, worker: worker))
        if outcome == .expired { effects.append(.cancel(id, of: worker, reason: "it was not accepted in time")) }
        if outcome != .withdrawn { jobs[id]?.refusals.append(worker) }
        jobs[id]?.worker = nil
        setStatus(of: id, .pending, into: &effects)
        guard now < job.roundEndsAt || isAttended(job), !isDraining else {
            return failForLackOfWorkers(id, at: now, into: &effects)
        }
        enqueue(id, job.info.assistant, first: true)
        assign(job.info.assistant, at: now, into: &effects)
    }

    mutating func failForLackOfWorkers(_ id: JobID, at now: Instant, into effects: inout [Effect]) {
        let isKnown = jobs[id].map { workersOf[$0.info.assistant] != nil } ?? false
        let reason =
            isDraining
            ? "the gateway is about to stop"
            : isKnown ? "no worker of the assistant took the job in time" : "no worker of the assistant is connected"
        end(id, .failed, reason, at: now, into: &effects)
        noteMissed(id)
    }

    /// A job has ended although the assistant is still wanted. If the room had no user, the next one needs a new job.
    private mutating func noteMissed(_ id: JobID) {
        guard let job = jobs[id], job.info.call == nil, !isDraining else { return }
        jobs[id]?.isMissed = rooms[job.info.room]?.isAttended != true
    }

    /// An accepted or running job has lost its worker or its agent: another worker is sought at once.
    mutating func lose(_ id: JobID, _ reason: String, tellingWorker: Bool = true, at now: Instant, into effects: inout [Effect]) {
        guard let job = jobs[id], job.isTaken else { return }
        // Agents may continue on another gateway.
        guard !isDraining else { return end(id, .failed, reason, at: now, into: &effects) }
        release(job, tellingWorker ? reason : nil, into: &effects)
        guard countAttempt(of: id, at: now) else { return end(id, .failed, "\(Self.flapping): \(reason)", at: now, into: &effects) }
        seekWorker(for: id, within: .lost, avoiding: job.worker, at: now, into: &effects)
    }

    private static let flapping = "it failed on \(Limits.jobFailuresMax) workers in succession"

    /// Takes a job from its worker, and notifies the worker if there is a reason to.
    private mutating func release(_ job: Job, _ reason: String?, into effects: inout [Effect]) {
        guard let worker = job.worker, workers[worker] != nil else { return }
        workers[worker]?.jobs.removeAll { $0 == job.id }
        if let reason { effects.append(.cancel(job.id, of: worker, reason: reason)) }
    }

    /// Counts an attempt that has ended.
    ///
    /// - Returns: whether another one may be made.
    private mutating func countAttempt(of id: JobID, at now: Instant) -> Bool {
        guard let job = jobs[id] else { return false }
        let ran = job.joinedAt.map { now - $0 } ?? .zero
        let failures = ran >= Limits.jobRunMin ? 0 : job.failures + 1
        jobs[id]?.failures = failures
        jobs[id]?.joinedAt = nil
        return failures < Limits.jobFailuresMax
    }

    /// Ends a job, and notifies its worker unless the worker caused the end.
    mutating func end(
        _ id: JobID, _ status: JobStatus, _ reason: String? = nil, tellingWorker: Bool = false, removingAgent: Bool = false,
        at now: Instant, into effects: inout [Effect]
    ) {
        guard let job = jobs[id], !job.isOver else { return }
        if job.hasOffer, let worker = job.worker { effects.append(.offerEnded(id, .withdrawn, worker: worker)) }
        release(job, tellingWorker ? reason ?? "it has ended" : nil, into: &effects)
        dequeue(id, job.info.assistant)
        jobs[id]?.worker = nil
        jobs[id]?.info.error = status == .succeeded ? nil : reason
        setStatus(of: id, status, into: &effects)
        if status == .succeeded { noteMissed(id) }
        if job.waitReason != nil { effects.append(.waiting(job.info, .ended)) }
        let isPresent = rooms[job.info.room]?.isAway(job.info.assistant) != nil
        if removingAgent, isPresent { effects.append(.remove(job.info.identity, from: job.info.room)) }
        arm(.over, id, at: now)
        while timers[JobTimer.over.rawValue].count > Limits.jobsOverKeptMax,
            let oldest = timers[JobTimer.over.rawValue].popFirst()
        {
            forget(oldest.job, into: &effects)
        }
        // Its worker has a free place.
        assign(job.info.assistant, at: now, into: &effects)
    }

    mutating func forget(_ id: JobID, into effects: inout [Effect]) {
        guard let job = jobs.removeValue(forKey: id) else { return }
        rooms[job.info.room]?.jobs.removeAll { $0 == id }
        removeRoomIfIdle(job.info.room)
        effects.append(.forget(id))
    }

    // MARK: State

    mutating func setStatus(of id: JobID, _ status: JobStatus, into effects: inout [Effect]) {
        guard let old = jobs[id]?.info.status else { return }
        jobs[id]?.stamp += 1
        guard old != status else { return }
        jobs[id]?.info.status = status
        count(old, -1)
        count(status, 1)
        if let info = jobs[id]?.info { effects.append(.changed(info)) }
    }

    private mutating func count(_ status: JobStatus, _ difference: Int) {
        switch status {
        case .pending, .offered: sizes.pending += difference
        case .accepted, .running: sizes.running += difference
        case .succeeded, .failed, .cancelled: break
        }
    }

    mutating func enqueue(_ id: JobID, _ assistant: String, first: Bool = false) {
        guard waiting[assistant]?.contains(id) != true else { return }
        waiting[assistant, default: []].insert(id, at: first ? 0 : waiting[assistant]?.count ?? 0)
    }

    mutating func dequeue(_ id: JobID, _ assistant: String) {
        waiting[assistant]?.removeAll { $0 == id }
        if waiting[assistant]?.isEmpty == true { waiting[assistant] = nil }
    }

    mutating func removeRoomIfIdle(_ room: String) {
        if rooms[room]?.isIdle == true { rooms[room] = nil }
    }
}
