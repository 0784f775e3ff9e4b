internal import Wire

/// Requests of workers. Each is validated completely before it changes state.
extension DispatchStateMachine {
    mutating func answer(
        _ request: WorkerRequest, _ assistant: String, _ requester: Requester, at now: Instant, into effects: inout [Effect]
    ) {
        do throws(RequestError) {
            try perform(request, assistant, requester, at: now, into: &effects)
        } catch {
            effects.append(.reject(error, to: requester))
        }
    }

    private mutating func perform(
        _ request: WorkerRequest, _ assistant: String, _ requester: Requester, at now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        let device = requester.device
        if case .register(let registration) = request {
            return try register(registration, assistant, requester, at: now, into: &effects)
        }
        guard workers[device] != nil else { throw RequestError(.notAllowed, "send `worker.register` first") }
        workers[device]?.isResponsive = true
        switch request {
        case .register: break
        case .status(let status):
            try Self.check(status)
            workers[device]?.load = status.load
            workers[device]?.reportedJobs = status.jobs ?? 0
            workers[device]?.isDraining = status.draining
            let (turns, dropped) = (status.turns ?? [], status.turnsDropped ?? 0)
            if !turns.isEmpty || dropped > 0 { effects.append(.turns(turns, of: assistant, dropped: dropped)) }
            reply(CallReply(worker: device), to: requester, into: &effects)
        case .accept(let id): try accept(job(id, of: assistant), requester, at: now, into: &effects)
        case .decline(let id):
            let job = try job(id, of: assistant)
            guard job.hasOffer, job.worker == device else { throw Self.notOffered(job) }
            reply(CallReply(job: job.info), to: requester, into: &effects)
            withdrawOffer(of: id, .declined, at: now, into: &effects)
        case .finish(let id, let error): try finish(job(id, of: assistant), error, requester, at: now, into: &effects)
        }
        assign(assistant, at: now, into: &effects)
    }

    // MARK: Jobs

    /// Another assistant's job is as unknown as one that does not exist.
    private func job(_ id: JobID, of assistant: String) throws(RequestError) -> Job {
        guard let job = jobs[id], job.info.assistant == assistant else { throw RequestError(.notFound, "there is no such job") }
        return job
    }

    private mutating func accept(
        _ job: Job, _ requester: Requester, at now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        guard requester.id != nil else { throw RequestError(.invalidArgument, "give an `id`: the reply has the room token") }
        let id = job.id
        guard job.worker == requester.device, job.hasOffer || job.isTaken else { throw Self.notOffered(job) }
        if job.hasOffer {
            effects.append(.offerEnded(id, .accepted, worker: requester.device))
            jobs[id]?.info.attempt += 1
            setStatus(of: id, .accepted, into: &effects)
            arm(.join, id, at: now)
        }
        // Repeated by a worker that did not get the reply: another token.
        if let info = jobs[id]?.info { effects.append(.admit(info, to: requester)) }
    }

    private mutating func finish(
        _ job: Job, _ error: String?, _ requester: Requester, at now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        guard (error ?? "").utf8.count <= ProtocolLimits.jobErrorBytesMax else {
            throw RequestError(.invalidArgument, "`error` must be at most \(ProtocolLimits.jobErrorBytesMax) bytes")
        }
        let id = job.id
        guard job.isOver || job.isTaken && job.worker == requester.device else { throw Self.notOffered(job) }
        if let error {
            lose(id, error, tellingWorker: false, at: now, into: &effects)
        } else {
            end(id, .succeeded, removingAgent: true, at: now, into: &effects)
        }
        if let info = jobs[id]?.info { reply(CallReply(job: info), to: requester, into: &effects) }
    }

    // MARK: Registration

    private mutating func register(
        _ registration: WorkerRegistration, _ assistant: String, _ requester: Requester, at now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        guard registration.assistantId == assistant else {
            throw RequestError(.notAllowed, "`assistant_id` is not the assistant of the token")
        }
        guard 1...Limits.workerCapacityMax ~= registration.capacity else { throw Self.outOfRange("capacity", 1...Limits.workerCapacityMax) }
        try Self.check(load: registration.load)
        let device = requester.device
        let isNew = workers[device] == nil
        guard !isNew || workers.count < Limits.workersMax else {
            throw RequestError(.limitExceeded, "the gateway has as many workers as it may have", retryable: true)
        }
        var worker = workers[device] ?? Worker(assistant: assistant, capacity: 0, load: 0)
        worker.capacity = registration.capacity
        worker.load = registration.load
        worker.isDraining = false
        worker.isResponsive = true
        workers[device] = worker
        if isNew {
            workersOf[assistant, default: []].append(device)
            sizes.workers += 1
            effects.append(.dedicate(device))
        }
        let kept = registration.jobs.filter { keep($0, of: assistant, by: device, at: now, into: &effects) }
        reply(CallReply(worker: device, keeping: kept.map(\.id)), to: requester, into: &effects)
        assign(assistant, at: now, into: &effects)
    }

    /// Decides whether a worker that has connected again keeps a job that it has been doing.
    ///
    /// After a restart of the gateway its jobs are unknown here, and are adopted.
    private mutating func keep(
        _ claim: JobInfo, of assistant: String, by device: DeviceID, at now: Instant, into effects: inout [Effect]
    ) -> Bool {
        guard claim.assistant == assistant else { return false }
        guard let job = jobs[claim.id] else { return adopt(claim, by: device, at: now, into: &effects) }
        guard !job.isOver, job.info.assistant == assistant, job.info.room == claim.room else { return false }
        if job.worker == device { return job.isTaken }
        switch job.info.status {
        case .running where job.worker == nil: break
        // Lost with the channel, and not accepted by another worker since.
        case .pending where job.info.attempt > 0: dequeue(claim.id, assistant)
        case .offered where job.info.attempt > 0:
            guard let other = job.worker else { return false }
            workers[other]?.jobs.removeAll { $0 == claim.id }
            effects.append(.offerEnded(claim.id, .withdrawn, worker: other))
            effects.append(.cancel(claim.id, of: other, reason: "its worker is connected again"))
        default: return false
        }
        attach(claim.id, to: device, at: now, into: &effects)
        return true
    }

    private mutating func adopt(_ claim: JobInfo, by device: DeviceID, at now: Instant, into effects: inout [Effect]) -> Bool {
        let request = JobRequest(room: claim.room, assistant: claim.assistant, metadata: claim.metadata, reason: claim.reason)
        guard (try? request.check()) != nil, 1...64 ~= claim.id.text.utf8.count, !isDraining else { return false }
        var waitReason: AgentWaitReason?
        if let id = activeJob(of: claim.assistant, in: claim.room), let job = jobs[id] {
            // A job that was created since the restart is the same one, unless another worker has it.
            guard !job.isTaken || job.worker == nil else { return false }
            waitReason = job.waitReason
            jobs[id]?.waitReason = nil
            end(id, .cancelled, "continued as \(claim.id)", tellingWorker: true, at: now, into: &effects)
        }
        var info = JobInfo(
            id: claim.id, room: claim.room, assistant: claim.assistant, metadata: claim.metadata, reason: claim.reason, call: claim.call,
            traceparent: TraceContext(traceparent: claim.traceparent)?.traceparent)
        info.attempt = max(1, min(claim.attempt, Int(UInt32.max)))
        guard (try? insert(info, at: now)) != nil else { return false }
        jobs[info.id]?.waitReason = waitReason
        attach(info.id, to: device, at: now, into: &effects)
        return true
    }

    /// Gives a job back to its worker.
    private mutating func attach(_ id: JobID, to device: DeviceID, at now: Instant, into effects: inout [Effect]) {
        guard let job = jobs[id] else { return }
        jobs[id]?.worker = device
        workers[device]?.jobs.append(id)
        switch rooms[job.info.room]?.isAway(job.info.assistant) {
        case false?: setRunning(id, at: now, into: &effects)
        case true?:
            setRunning(id, at: now, into: &effects)
            arm(.away, id, at: now)
        case nil:
            setStatus(of: id, .accepted, into: &effects)
            arm(.join, id, at: now)
        }
    }

    /// The worker's channel is closed. Agents that are in their rooms go on; its other jobs are offered to other workers at once.
    mutating func disconnect(_ device: DeviceID, at now: Instant, into effects: inout [Effect]) {
        guard let worker = workers.removeValue(forKey: device) else { return }
        sizes.workers -= 1
        workersOf[worker.assistant]?.removeAll { $0 == device }
        if workersOf[worker.assistant]?.isEmpty == true { workersOf[worker.assistant] = nil }
        for id in worker.jobs {
            guard let job = jobs[id] else { continue }
            switch job.info.status {
            case .offered: withdrawOffer(of: id, .withdrawn, at: now, into: &effects)
            case .accepted: lose(id, "its worker disconnected", at: now, into: &effects)
            case .running:
                jobs[id]?.worker = nil
                if rooms[job.info.room]?.isAway(worker.assistant) == true { replaceAgent(of: id, at: now, into: &effects) }
            case .pending, .succeeded, .failed, .cancelled: break
            }
        }
        // It may have been the last one: rooms whose jobs wait learn that.
        assign(worker.assistant, at: now, into: &effects)
    }

    // MARK: Replies

    private func reply(_ reply: CallReply, to requester: Requester, into effects: inout [Effect]) {
        if requester.id != nil { effects.append(.reply(reply, to: requester)) }
    }

    private static func check(load: Double) throws(RequestError) {
        guard 0...1 ~= load else { throw RequestError(.invalidArgument, "`load` must be 0 to 1") }
    }

    private static func check(_ status: WorkerStatus) throws(RequestError) {
        try check(load: status.load)
        guard 0...Limits.workerCapacityMax ~= status.jobs ?? 0 else { throw outOfRange("jobs", 0...Limits.workerCapacityMax) }
        let turns = status.turns ?? []
        guard turns.count <= ProtocolLimits.turnsPerReportMax else {
            throw RequestError(.invalidArgument, "`turns` must have at most \(ProtocolLimits.turnsPerReportMax) entries")
        }
        for (index, turn) in turns.enumerated() {
            if let fault = turn.fault { throw RequestError(.invalidArgument, "turns[\(index)]: \(fault)") }
        }
        let range = 0...ProtocolLimits.turnsDroppedMax
        guard range ~= status.turnsDropped ?? 0 else { throw outOfRange("turns_dropped", range) }
    }

    private static func outOfRange(_ name: String, _ range: ClosedRange<Int>) -> RequestError {
        RequestError(.invalidArgument, "`\(name)` must be \(range.lowerBound) to \(range.upperBound)")
    }

    private static func notOffered(_ job: Job) -> RequestError {
        RequestError(.conflict, "the job is not this worker's (\(job.info.status.rawValue))")
    }
}
