internal import Wire

/// Inputs from rooms.
extension DispatchStateMachine {
    /// An assistant's agent has joined, lost its connection, resumed or left.
    mutating func note(
        _ assistant: String, in room: String, _ presence: AgentPresence, at now: Instant, into effects: inout [Effect]
    ) {
        switch presence {
        case .present: rooms[room, default: DispatchRoom()].note(assistant, isAway: false)
        case .away: rooms[room, default: DispatchRoom()].note(assistant, isAway: true)
        case .left:
            rooms[room]?.note(assistant, isAway: nil)
            removeRoomIfIdle(room)
        }
        guard let id = activeJob(of: assistant, in: room), let job = jobs[id] else { return }
        switch presence {
        case .present: arrive(job, at: now, into: &effects)
        case .away:
            guard job.info.status == .running else { return }
            jobs[id]?.stamp += 1
            // A worker that is connected is alive: its agent has a moment to resume.
            if job.worker == nil { replaceAgent(of: id, at: now, into: &effects) } else { arm(.away, id, at: now) }
        case .left(let reason):
            // A room does not wait for an assistant that has not left it.
            guard job.info.status == .running else { return repeatWait(of: job, into: &effects) }
            dequeue(id, assistant)
            if !reason.isIntended {
                lose(id, "its agent was lost (\(reason.rawValue))", at: now, into: &effects)
            } else if reason == .participantRemoved {
                end(id, .cancelled, "its agent was removed from the room", tellingWorker: true, at: now, into: &effects)
            } else {
                end(id, .succeeded, at: now, into: &effects)
            }
        }
    }

    private mutating func arrive(_ job: Job, at now: Instant, into effects: inout [Effect]) {
        switch job.info.status {
        case .pending, .accepted: setRunning(job.id, at: now, into: &effects)
        case .offered:
            // It has come without this offer.
            guard let worker = job.worker else { return }
            workers[worker]?.jobs.removeAll { $0 == job.id }
            effects.append(.offerEnded(job.id, .withdrawn, worker: worker))
            effects.append(.cancel(job.id, of: worker, reason: "the assistant is in the room already"))
            jobs[job.id]?.worker = nil
            setRunning(job.id, at: now, into: &effects)
        case .running:
            jobs[job.id]?.stamp += 1
            dequeue(job.id, job.info.assistant)
        case .succeeded, .failed, .cancelled: break
        }
    }

    mutating func setRunning(_ id: JobID, at now: Instant, into effects: inout [Effect]) {
        guard let job = jobs[id] else { return }
        dequeue(id, job.info.assistant)
        jobs[id]?.joinedAt = now
        // The room sees that the assistant has joined.
        jobs[id]?.waitReason = nil
        setStatus(of: id, .running, into: &effects)
    }

    /// Gives the job of an agent that is away to another worker, as soon as one is free. Until then the agent may resume.
    mutating func replaceAgent(of id: JobID, at now: Instant, into effects: inout [Effect]) {
        guard let job = jobs[id] else { return }
        enqueue(id, job.info.assistant, first: true)
        assign(job.info.assistant, at: now, into: &effects)
    }

    /// A user has come to a room without one, or the last one has left.
    mutating func note(_ room: String, isAttended: Bool, at now: Instant, into effects: inout [Effect]) {
        let ids = rooms[room]?.jobs ?? []
        guard isAttended else {
            rooms[room]?.isAttended = false
            for id in ids { limitWait(of: id, at: now, into: &effects) }
            return removeRoomIfIdle(room)
        }
        rooms[room, default: DispatchRoom()].isAttended = true
        for id in ids {
            // The room may have opened since it could be told.
            if let job = jobs[id] { repeatWait(of: job, into: &effects) }
            repeatIfMissed(id, at: now, into: &effects)
        }
    }

    private func repeatWait(of job: Job, into effects: inout [Effect]) {
        guard !job.isOver, let reason = job.waitReason else { return }
        effects.append(.waiting(job.info, reason))
    }

    /// Creates a job again that has ended because no user was there.
    private mutating func repeatIfMissed(_ id: JobID, at now: Instant, into effects: inout [Effect]) {
        guard let job = jobs[id], job.isMissed else { return }
        jobs[id]?.isMissed = false
        guard !isDraining, activeJob(of: job.info.assistant, in: job.info.room) == nil else { return }
        let request = JobRequest(
            room: job.info.room, assistant: job.info.assistant, metadata: job.info.metadata, reason: job.info.reason,
            trace: TraceContext(traceparent: job.info.traceparent))
        // Over the limits of jobs, there is no requester to inform.
        _ = try? begin(request, at: now, into: &effects)
    }

    mutating func endRoom(_ room: String, at now: Instant, into effects: inout [Effect]) {
        for id in rooms[room]?.jobs ?? [] {
            // An assistant that was there until the end has done its job.
            let isDone = jobs[id]?.info.status == .running && !isDraining
            end(id, isDone ? .succeeded : .cancelled, "the room has ended", tellingWorker: true, at: now, into: &effects)
            jobs[id]?.isMissed = false
        }
        rooms[room]?.removeEverybody()
        removeRoomIfIdle(room)
    }

    mutating func drain(at now: Instant, into effects: inout [Effect]) {
        isDraining = true
        for id in jobs.keys.sorted(by: { $0.text < $1.text }) {
            guard let status = jobs[id]?.info.status, status == .pending || status == .offered else { continue }
            end(id, .failed, "the gateway is about to stop", tellingWorker: true, at: now, into: &effects)
        }
    }
}
