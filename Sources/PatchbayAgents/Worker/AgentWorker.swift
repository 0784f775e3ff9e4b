internal import Logging
public import PatchbayClient
internal import Wire

/// A process of an assistant that takes jobs from a gateway: it registers, reports its load, accepts jobs, and runs a handler for each.
///
///     let worker = AgentWorker(settings: AgentWorkerSettings(url: "wss://127.0.0.1:7880", assistant: "helper"), tokens: tokens) { job in
///         let room = try await job.connect()
///         try await converse(in: room)
///         await room.leave()
///     }
///     try await worker.run()
///
/// A handler that returns ends its job as success. If it throws, another worker gets the job. It is cancelled when the gateway takes the job
/// back, for example because the room has ended; it must then return soon.
///
/// When the channel to the gateway is lost, running jobs continue, and the worker reconnects and registers again with their ids.
public actor AgentWorker {
    private enum Phase {
        case serving
        /// No more jobs are taken.
        case draining
        case over
    }

    /// Changes are reported together, so that many jobs at once do not exhaust the channel's request limit.
    private static let changeInterval = Duration.milliseconds(200)
    /// In change intervals.
    private static let reportInterval = 5
    private static let log = Logger(label: "patchbay.worker")
    private static let reconnect = Backoff(.exponential, unit: .milliseconds(250), delayMax: .seconds(5), jitter: .upperHalf)

    private let settings: AgentWorkerSettings
    private let tokens: UserTokenSource
    private let handler: @Sendable (AgentJob) async throws -> Void
    private var channel: Channel?
    private var running = RunningJobs()
    private let turns = TurnReports()
    private var meter = LoadMeter()
    private var hasChanged = false
    private var phase = Phase.serving
    private var link = GatewayLink()

    /// - Parameter tokens: returns a currently valid token of the assistant, as `patchbay token --assistant` prints it.
    public init(
        settings: AgentWorkerSettings, tokens: @escaping UserTokenSource, handler: @escaping @Sendable (AgentJob) async throws -> Void
    ) {
        self.settings = settings
        self.tokens = tokens
        self.handler = handler
    }

    /// Accepted jobs whose handlers have not returned.
    public var jobCount: Int { running.count }

    /// Whether the worker is registered with the gateway.
    public var isRegistered: Bool { link.isRegistered }

    /// Waits until the gateway has registered the worker for the first time.
    ///
    /// - Returns: false if `run()` ends before.
    public func registered() async -> Bool {
        await withCheckedContinuation { link.addWaiter($0) }
    }

    /// Serves until `drain()` is complete or the task is cancelled.
    ///
    /// - Throws: `ConnectError` or `RequestFailure` if the gateway refuses the first connection or registration for good.
    public func run() async throws {
        defer { link.end() }
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await self.reportPeriodically() }
            while phase != .over, !Task.isCancelled {
                do throws(ConnectError) {
                    let channel = try await Channel.connect(url: settings.url, options: settings.options, userTokens: tokens)
                    await serve(channel) { job in group.addTask { await self.take(job) } }
                } catch {
                    guard link.hasRegistered || error.isRetryable else { throw error }
                    Self.log.warning("the gateway cannot be reached", metadata: ["error": "\(error)"])
                }
                if let refusal = link.refusal { throw refusal }
                if phase == .over { break }
                link.countFailure()
                try? await Task.sleep(for: Self.reconnect.delay(afterFailures: link.failures, random: .random(in: 0..<1)))
            }
            group.cancelAll()
        }
    }

    /// Takes no more jobs, and ends `run()` when the running ones are over. After `settings.drainTimeout` they are cancelled.
    public func drain() async {
        phase = .draining
        hasChanged = true
        let deadline = Task { [timeout = settings.drainTimeout] in
            try await Task.sleep(for: timeout)
            self.cancelAll()
        }
        await withCheckedContinuation { running.addWaiter($0) }
        deadline.cancel()
        await reportTurns()
        phase = .over
        await channel?.close()
    }

    // MARK: The channel

    /// Registers and handles the channel's events until it has ended.
    private func serve(_ channel: Channel, take: (JobInfo) -> Void) async {
        self.channel = channel
        if phase != .over { await register(on: channel) }
        // `drain()` may have ended before there was a channel to close.
        if phase == .over { await channel.close() }
        for await event in channel.events {
            switch event {
            case .job(.offered(let job)): take(job)
            case .job(.cancelled(let id, let reason)): cancel(id, reason)
            case .reconnecting: link.lose()
            case .reconnected: await register(on: channel)
            case .disconnected(let reason): Self.log.info("the channel has ended", metadata: ["reason": "\(reason)"])
            case .incoming, .begun, .changed, .ended: break
            }
        }
        link.lose()
        self.channel = nil
        await channel.close()
    }

    private func register(on channel: Channel) async {
        let registration = WorkerRegistration(
            assistantID: settings.assistant, capacity: settings.capacity, load: load, jobs: running.infos,
            needsDefinition: settings.needsDefinition ? true : nil)
        do throws(RequestFailure) {
            let kept = try await channel.request(.register(registration)).jobs ?? []
            link.register()
            for job in registration.jobs where !kept.contains(job.id) { cancel(job.id, "another worker has it, or it is over") }
            // With the first measurement of the load.
            hasChanged = true
            Self.log.info("registered", metadata: ["assistant": "\(settings.assistant)", "jobs": .stringConvertible(kept.count)])
        } catch .notConnected {
            // The next `reconnected` registers.
        } catch {
            Self.log.error("the gateway refuses the registration", metadata: ["error": "\(error)"])
            link.refuse(error)
            await channel.close()
        }
    }

    // MARK: Jobs

    /// Accepts a job and runs its handler, or declines it.
    private func take(_ offer: JobInfo) async {
        guard let channel, !running.contains(offer.id) else { return }
        guard phase == .serving, running.count < settings.capacity else {
            _ = try? await channel.request(.decline(offer.id))
            return
        }
        running.add(offer)
        defer { finish(offer.id) }
        guard let job = await accept(offer, on: channel) else { return }
        let task = Task { [handler] in try await handler(job) }
        running.start(job.id, task)
        hasChanged = true
        let outcome = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        guard running.keeps(job.id) else { return }
        switch outcome {
        case .success: await tell(.finish(job.id, error: nil))
        case .failure(let error):
            Self.log.warning("a job's handler failed", metadata: ["job": "\(job.id)", "error": "\(error)"])
            await tell(.finish(job.id, error: String("\(error)".utf8.prefix(ProtocolLimits.jobErrorBytesMax)) ?? "the handler failed"))
        }
    }

    /// Nil if the job is not this worker's any more.
    private func accept(_ offer: JobInfo, on channel: Channel) async -> AgentJob? {
        do throws(RequestFailure) {
            let reply = try await channel.request(.accept(offer.id))
            guard running.keeps(offer.id), let job = AgentJob(reply, options: settings.options, turns: turns)
            else { return nil }
            if let info = reply.job { running.update(offer.id, to: info) }
            return job
        } catch {
            Self.log.info("a job was lost before it began", metadata: ["job": "\(offer.id)", "error": "\(error)"])
            return nil
        }
    }

    /// Without a connection the gateway learns of the end from the room.
    private func tell(_ request: WorkerRequest) async {
        _ = try? await channel?.request(request)
    }

    private func finish(_ id: JobID) {
        running.remove(id)
        hasChanged = true
    }

    private func cancel(_ id: JobID, _ reason: String) {
        guard running.contains(id) else { return }
        Self.log.info("the gateway takes a job back", metadata: ["job": "\(id)", "reason": "\(reason)"])
        running.cancel(id)
    }

    private func cancelAll() { running.cancelTasks() }

    // MARK: Load

    private var load: Double { max(meter.load, min(1, Double(running.count) / Double(settings.capacity))) }

    private func reportPeriodically() async {
        var count = 0
        while (try? await Task.sleep(for: Self.changeInterval)) != nil {
            count += 1
            if count % Self.reportInterval == 0 {
                meter.measure(at: MediaClock.now, with: settings.measureLoad)
                report()
            } else if hasChanged || !turns.isEmpty {
                report()
            }
        }
    }

    private func report() {
        guard isRegistered else { return }
        hasChanged = false
        channel?.notify(.status(nextStatus()))
    }

    private func nextStatus() -> WorkerStatus {
        let (turns, dropped) = self.turns.take()
        return WorkerStatus(
            load: load, jobs: running.count, draining: phase != .serving, turns: turns.isEmpty ? nil : turns,
            turnsDropped: dropped == 0 ? nil : dropped)
    }

    /// Reports the turns of the last jobs, and waits until the gateway has them.
    private func reportTurns() async {
        while isRegistered, !turns.isEmpty, let channel {
            do throws(RequestFailure) { try await channel.request(.status(nextStatus())) } catch { return }
        }
    }
}
