package import Engine
package import HTTPServer
internal import ServiceLifecycle
package import Wire

/// Runs the dispatch of assistants around the pure `DispatchStateMachine`: feeds it inputs from channels, rooms and HTTP requests, and
/// performs its effects in order.
///
/// Shards and other services reach it through the bounded `DispatchInbox`; HTTP handlers call its methods. `run()` returns once the inbox is
/// finished, that is when the gateway has stopped. Jobs are not persisted: workers name theirs when they register again.
package actor DispatchService: Service {
    private let inbox: DispatchInbox
    private let rooms: RoomService
    private let admissions: JobAdmissions
    private var rules: [DispatchRule]
    private let announcements: JobAnnouncements
    private var jobs: DispatchStateMachine
    private var devices: DispatchDevices
    private var timer = DeadlineTimer()
    private var followUps: [DispatchStateMachine.Input] = []
    private var hasEnded = false

    /// - Parameters:
    ///   - publicURL: the URL at which clients reach the gateway; nil derives it from the Host header of the worker's channel.
    ///   - calls: the inbox of the call service; nil without calls, in which case this service sends `hello` on channels.
    ///   - definition: an assistant's definition; must not block.
    ///   - definedAssistants: the ids of all assistants with a definition; must not block.
    ///   - patience: factor of the times that workers and agents have, for tests on loaded machines.
    package init(
        inbox: DispatchInbox, rooms: RoomService, keys: KeysInUse, publicURL: String? = nil, rules: [DispatchRule] = [],
        calls: CallInbox? = nil, server: ServerInfo, definition: @escaping @Sendable (String) -> AssistantDefinition? = { _ in nil },
        definedAssistants: @escaping @Sendable () -> [String] = { [] }, patience: Int = 1
    ) {
        self.inbox = inbox
        self.rooms = rooms
        self.rules = rules
        admissions = JobAdmissions(
            rooms: rooms, tokens: RoomTokenMinter(keys: keys, publicURL: publicURL),
            assistants: DefinedAssistants(definition: definition, ids: definedAssistants))
        announcements = JobAnnouncements(rooms: rooms, calls: calls, registry: inbox.registry)
        devices = DispatchDevices(shards: rooms.shards, registry: inbox.registry, calls: calls, server: server)
        jobs = DispatchStateMachine(seed: .random(in: 0 ... .max), patience: patience)
    }

    package func run() async throws {
        for await message in inbox.messages { receive(message) }
        hasEnded = true
        timer.cancel()
    }

    /// Replaces the rules. They apply to rooms that open from now on.
    package func use(_ rules: [DispatchRule]) { self.rules = rules }

    // MARK: HTTP

    /// Creates a job on request, or returns the active job of that assistant in that room.
    ///
    /// - Throws: `HTTPError` with status 404 if the gateway knows no such assistant; `CallError`.
    func createOnRequest(_ request: JobRequest) throws -> (job: JobInfo, isNew: Bool) {
        try admissions.assistants.check(request.assistant, inbox.registry)
        return try create(request)
    }

    /// Creates a job, or returns the active job of that assistant in that room.
    package func create(_ request: JobRequest) throws(CallError) -> (job: JobInfo, isNew: Bool) {
        guard !hasEnded else { throw CallError(.unsupported, "this gateway is about to stop; use another one", retryable: true) }
        var effects: [DispatchStateMachine.Effect] = []
        let created: (job: JobInfo, isNew: Bool)
        do throws(RequestError) {
            created = try jobs.create(request, at: .now, into: &effects)
        } catch {
            throw CallError(error)
        }
        perform(effects)
        return created
    }

    /// - Throws: `HTTPError.elsewhere` if another node dispatches for the cluster.
    nonisolated func checkIsHere() async throws(HTTPError) { try await rooms.checkCoordinates() }

    package func jobs(in room: String) -> [JobInfo] { jobs.jobs(in: room) }

    nonisolated func times(of job: JobID) -> DispatchRegistry.JobTimes? { inbox.registry.times(of: job) }

    /// Ends a job and removes its agent from the room.
    package func cancel(_ id: JobID, in room: String, because reason: String = "ended by a request") throws(CallError) -> JobInfo {
        var effects: [DispatchStateMachine.Effect] = []
        guard let job = jobs.cancel(id, in: room, reason: reason, at: .now, into: &effects) else {
            throw CallError(.notFound, "the room has no such job")
        }
        perform(effects)
        return job
    }

    // MARK: Inputs

    private func receive(_ message: DispatchInbox.Message) {
        switch message {
        case .opened(let address, let assistant): open(address, assistant)
        case .closed(let device): close(device)
        case .request(let request, let number, let id):
            guard let device = devices[id] else { return }
            if case .register(let registration) = request,
                let error = admissions.assistants.refusal(of: registration, by: device.assistant)
            {
                return devices.refuse(error, .init(device: id, id: number))
            }
            handle(.request(request, assistant: device.assistant, from: .init(device: id, id: number)))
        case .service(let message): receive(message)
        case .workers(let reply): reply(jobs.workerReports)
        case .drain:
            inbox.registry.startDraining()
            handle(.draining)
            devices.closeAll(.serverShutdown)
        case .resign:
            timer.cancel()
            jobs.reset(seed: .random(in: 0 ... .max))
            inbox.registry.forgetJobs()
        }
    }

    private func receive(_ message: DispatchServiceMessage) {
        switch message {
        case .create(let request): begin(request)
        case .recall(let assistant, let call):
            let room = CallInfo.room(of: call)
            guard let job = jobs.jobs(in: room).first(where: { $0.assistant == assistant && !$0.status.isOver }) else { return }
            _ = try? cancel(job.id, in: room, because: "the call is over")
        case .roomOpened(let room, let agents, _): begin(agents, in: room)
        case .roomIsOpen(let room, let missing, let present, _):
            begin(missing, in: room, besides: present)
            for agent in present { receive(.agent(agent, in: room, .present)) }
        case .agent(let identity, let room, let presence, _):
            guard case .assistant(let assistant) = CallParty(identity) else { return }
            handle(.agent(assistant, in: room, presence))
        case .attended(let room, let isAttended, _): handle(.attended(room, isAttended))
        case .roomEnded(let room, _): handle(.roomEnded(room))
        }
    }

    /// Creates the jobs of an open room.
    private func begin(_ agents: [AgentRequest], in room: String, besides present: [Identity] = []) {
        for agent in agents { begin(JobRequest(room: room, assistant: agent.assistant, metadata: agent.metadata, reason: .token)) }
        for rule in rules where rule.matches(room) && !present.contains(CallParty.assistant(rule.assistant).identity) {
            begin(JobRequest(room: room, assistant: rule.assistant, reason: .rule))
        }
        // The room was not open when these jobs were created.
        for job in jobs.jobs(in: room) { announcements.expect(job) }
    }

    private func handle(_ input: DispatchStateMachine.Input) {
        var effects: [DispatchStateMachine.Effect] = []
        jobs.handle(input, at: .now, into: &effects)
        perform(effects)
    }

    /// Creates a job for which nobody waits.
    private func begin(_ request: JobRequest) {
        do throws(CallError) {
            _ = try create(request)
        } catch {
            announcements.notCreated(request, error.error)
        }
    }

    private func deadlinePassed() {
        timer.disarm()
        if !hasEnded { handle(.deadlinePassed) }
    }

    // MARK: Channels

    private func open(_ address: ChannelAddress, _ assistant: Identity) {
        guard case .assistant(let id) = CallParty(assistant) else { return }
        devices.add(address, of: id)
    }

    private func close(_ id: DeviceID) {
        guard devices.remove(id) else { return }
        // A worker that leaves on purpose has finished its jobs.
        if let worker = jobs.worker(id), !worker.isDraining || worker.jobs > 0 {
            inbox.registry.noteLoss(of: worker, at: WallClock.milliseconds)
        }
        handle(.disconnected(id))
    }

    // MARK: Effects

    private func perform(_ effects: [DispatchStateMachine.Effect]) {
        for effect in effects { perform(effect) }
        inbox.registry.count { $0.sizes = jobs.sizes }
        while !followUps.isEmpty { handle(followUps.removeFirst()) }
        guard let deadline = jobs.deadline, !hasEnded else { return }
        timer.arm(for: deadline, at: .now) { [weak self] in await self?.deadlinePassed() }
    }

    private func perform(_ effect: DispatchStateMachine.Effect) {
        switch effect {
        case .reply(let reply, let requester): if let id = requester.id { devices.send(reply.bytes(re: id), to: requester.device) }
        case .reject(let error, let requester): devices.refuse(error, requester)
        case .admit(let job, let requester): admit(job, requester)
        case .offer(let job, let worker): devices.send(JobEvent.offered(job).bytes, to: worker)
        case .offerEnded(_, let outcome, _): inbox.registry.count { $0.offers[outcome, default: 0] += 1 }
        case .cancel(let job, let worker, let reason): devices.send(JobEvent.cancelled(job, reason: reason).bytes, to: worker)
        case .dedicate(let id): devices.dedicate(id)
        case .giveUp(let identity, let room): rooms.send(.giveUp(identity), to: room)
        case .remove(let identity, let room): rooms.send(.remove(identity), to: room)
        case .waiting(let job, let reason): announcements.wait(job, reason)
        case .changed(let job): announcements.change(job)
        case .forget(let job): inbox.registry.forget(job)
        case .turns(let turns, let assistant, let dropped):
            inbox.registry.count { $0.turns.add(turns, dropped: dropped) }
            inbox.registry.note(turns, of: assistant, at: WallClock.milliseconds)
        }
    }

    private func admit(_ job: JobInfo, _ requester: DispatchStateMachine.Requester) {
        guard rooms.isInCluster else { return admit(job, requester, homeURL: nil) }
        Task {
            let homeURL = await rooms.homeURL(of: job.room)
            let isCurrent = jobs.jobs(in: job.room).contains { $0.id == job.id && $0.attempt == job.attempt && !$0.status.isOver }
            guard isCurrent else { return devices.refuse(RequestError(.conflict, "the job has ended"), requester) }
            admit(job, requester, homeURL: homeURL)
            // The admission may have added an input.
            perform([])
        }
    }

    private func admit(_ job: JobInfo, _ requester: DispatchStateMachine.Requester, homeURL: String?) {
        guard let id = requester.id, let device = devices[requester.device] else { return }
        do throws(HTTPError) {
            let reply = try admissions.reply(to: job, host: device.address.host, homeURL: homeURL)
            devices.send(reply.bytes(re: id), to: requester.device)
        } catch {
            devices.refuse(RequestError(.unsupported, error.message), requester)
            followUps.append(.admissionFailed(job.id, reason: "the gateway cannot issue a room token"))
        }
    }
}
