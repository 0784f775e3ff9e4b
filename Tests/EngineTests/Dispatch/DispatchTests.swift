import Engine
import Testing
import Wire

/// Jobs, offers and their ends, one behaviour a test.
struct DispatchTests {
    let world = DispatchWorld()

    @Test func jobIsOfferedAcceptedAndRuns() throws {
        let worker = world.worker("w").device
        let job = try #require(world.create())
        #expect(job.status == .offered && job.attempt == 0)
        let admitted = try #require(world.accept(worker, job.id))
        #expect(admitted.status == .accepted && admitted.attempt == 1)
        world.receive(.agent("a", in: "r", .present))
        #expect(world.status(job.id) == .running)
        world.receive(.agent("a", in: "r", .left(.clientInitiated)))
        #expect(world.status(job.id) == .succeeded)
        #expect(world.changes[job.id] == [.pending, .offered, .accepted, .running, .succeeded])
    }

    @Test func workerLearnsTheTraceOfItsJob() throws {
        let trace = TraceContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
        var machine = DispatchStateMachine(seed: 1)
        var effects: [DispatchStateMachine.Effect] = []
        let request = JobRequest(room: "r", assistant: "a", reason: .request, trace: trace)
        let (job, _) = try machine.create(request, at: .at(0), into: &effects)
        #expect(job.traceparent == trace?.traceparent)
    }

    @Test func jobWithoutWorkersIsOfferedToTheFirstThatRegisters() throws {
        let job = try #require(world.create())
        #expect(job.status == .pending)
        world.pass(.seconds(9))
        let worker = world.worker("w").device
        #expect(world.offered(to: worker) == [job.id])
    }

    @Test func jobWithoutWorkersFailsAfterTenSeconds() throws {
        let job = try #require(world.create())
        world.pass(.milliseconds(9_999))
        #expect(world.status(job.id) == .pending)
        world.pass(.milliseconds(1))
        #expect(world.machine.job(job.id)?.error == "no worker of the assistant is connected")
        #expect(world.status(job.id) == .failed)
    }

    @Test func declinedJobGoesToTheNextWorker() throws {
        let workers = [world.worker("v").device, world.worker("w").device]
        let job = try #require(world.create())
        let first = try #require(world.offers[job.id])
        world.send(first, .decline(job.id))
        #expect(world.offers[job.id] == workers.first { $0 != first })
    }

    @Test func unansweredOfferGoesToTheNextWorkerAfterOneSecond() throws {
        _ = [world.worker("v"), world.worker("w")]
        let job = try #require(world.create())
        let first = try #require(world.offers[job.id])
        world.pass(.milliseconds(999))
        #expect(world.offers[job.id] == first)
        world.pass(.milliseconds(1))
        let second = try #require(world.offers[job.id])
        #expect(second != first && world.wasCancelled(job.id, at: first))
        #expect(world.send(first, .accept(job.id))?.code == .conflict, "the answer is too late")
        #expect(world.accept(second, job.id) != nil)
    }

    @Test func silentWorkerGetsNoOfferUntilItReports() throws {
        let worker = world.worker("w").device
        let job = try #require(world.create())
        world.pass(.seconds(4))
        #expect(world.offers.isEmpty && world.status(job.id) == .pending)
        world.send(worker, .status(WorkerStatus(load: 0)))
        #expect(world.offered(to: worker) == [job.id])
    }

    @Test func jobDeclinedByAllIsOfferedAgainAfterASecond() throws {
        let worker = world.worker("w").device
        let job = try #require(world.create())
        world.send(worker, .decline(job.id))
        #expect(world.offers.isEmpty)
        world.pass(.seconds(1))
        #expect(world.offered(to: worker) == [job.id])
    }

    @Test func roundOfRefusalsEndsAfterTenSeconds() throws {
        let worker = world.worker("w").device
        let job = try #require(world.create())
        for _ in 0..<30 where world.status(job.id)?.isOver == false {
            if world.offers[job.id] == worker { world.send(worker, .decline(job.id)) }
            world.pass(.milliseconds(500))
        }
        #expect(world.machine.job(job.id)?.error == "no worker of the assistant took the job in time")
    }

    @Test func assistantHasOneActiveJobPerRoom() throws {
        world.worker("w")
        let job = try #require(world.create())
        #expect(world.create()?.id == job.id)
        #expect(world.create("r", "b")?.id != job.id && world.create("other")?.id != job.id)
    }

    @Test func fullDrainingAndBusyWorkersGetNothing() throws {
        let full = world.worker("full", capacity: 1).device
        let first = try #require(world.create("first"))
        world.accept(full, first.id)
        let draining = world.worker("draining").device
        world.send(draining, .status(WorkerStatus(load: 0, draining: true)))
        let busy = world.worker("busy", load: 1).device
        let job = try #require(world.create("second"))
        #expect(job.status == .pending)
        world.send(busy, .status(WorkerStatus(load: 0.99)))
        #expect(world.offered(to: busy) == [job.id])
        world.send(busy, .decline(job.id))
        world.send(full, .finish(first.id, error: nil))
        #expect(world.offered(to: full) == [job.id], "its place is free again")
    }

    @Test func choiceIsWeightedByFreeCapacity() {
        let (small, large) = (world.worker("small", capacity: 10).device, world.worker("large", capacity: 30).device)
        for round in 0..<400 {
            guard let job = world.create("r\(round)"), let device = world.offers[job.id] else { continue }
            world.accept(device, job.id)
            world.send(device, .finish(job.id, error: nil))
            world.counts[device, default: 0] += 1
        }
        let share = Double(world.counts[small] ?? 0) / 400
        #expect(0.17...0.33 ~= share, "\(share) of the jobs went to the worker with a quarter of the capacity")
        #expect(world.counts[large] ?? 0 > 0)
    }

    @Test func endOfTheRoomIsTheSuccessOfTheAssistantInIt() throws {
        let worker = world.worker("w").device
        let job = try #require(world.runJob(worker))
        world.receive(.roomEnded("r"))
        #expect(world.status(job.id) == .succeeded && world.wasCancelled(job.id, at: worker))
        #expect(world.machine.job(job.id)?.error == nil)
    }

    @Test func endOfTheRoomCancelsJobsWhoseAssistantIsNotThere() throws {
        let pending = try #require(world.create())
        let worker = world.worker("w", of: "b").device
        let accepted = try #require(world.create("r", "b"))
        world.accept(worker, accepted.id)
        world.receive(.roomEnded("r"))
        #expect(world.status(pending.id) == .cancelled && world.status(accepted.id) == .cancelled)
        #expect(world.wasCancelled(accepted.id, at: worker) && world.machine.job(accepted.id)?.error == "the room has ended")
    }

    @Test func roomsThatEndInADrainCutConversationsOff() throws {
        let worker = world.worker("w").device
        let job = try #require(world.runJob(worker))
        world.receive(.draining)
        world.receive(.roomEnded("r"))
        #expect(world.status(job.id) == .cancelled)
    }

    @Test func deletedJobRemovesItsAgent() throws {
        let worker = world.worker("w").device
        let job = try #require(world.runJob(worker))
        world.cancel(job.id, in: "other room")
        #expect(world.status(job.id) == .running)
        world.cancel(job.id)
        #expect(world.effects.contains(.remove("assistant:a", from: "r")) && world.wasCancelled(job.id, at: worker))
    }

    @Test func assistantThatIsThereAlreadyIsNotDispatched() throws {
        let worker = world.worker("w").device
        world.receive(.agent("a", in: "r", .present))
        #expect(world.create()?.status == .running && world.offered(to: worker).isEmpty)
    }

    @Test func drainFailsWaitingJobsAndCreatesNone() throws {
        let waiting = try #require(world.create())
        world.receive(.draining)
        #expect(world.machine.job(waiting.id)?.error == "the gateway is about to stop")
        #expect(world.create("other") == nil)
    }

    @Test func invalidRequestsAreRejectedAndChangeNothing() throws {
        let stranger = DeviceID(text: "stranger")
        for request: WorkerRequest in [.status(WorkerStatus(load: 0)), .accept("JB_1"), .decline("JB_1"), .finish("JB_1", error: nil)] {
            #expect(world.send(stranger, request)?.code == .notAllowed, "\(request)")
        }
        let worker = world.worker("w").device
        let job = try #require(world.create())
        let before = world.offers
        let cases: [(WorkerRequest, RequestError.Code)] = [
            (.register(WorkerRegistration(assistantID: "b", capacity: 1)), .notAllowed),
            (.register(WorkerRegistration(assistantID: "a", capacity: 0)), .invalidArgument),
            (.register(WorkerRegistration(assistantID: "a", capacity: 1_001)), .invalidArgument),
            (.register(WorkerRegistration(assistantID: "a", capacity: 1, load: .nan)), .invalidArgument),
            (.status(WorkerStatus(load: 1.5)), .invalidArgument), (.status(WorkerStatus(load: 0, jobs: -1)), .invalidArgument),
            (.accept("JB_unknown"), .notFound), (.decline("JB_unknown"), .notFound), (.finish(job.id, error: nil), .conflict),
            (.finish(job.id, error: String(repeating: "x", count: 1_025)), .invalidArgument),
        ]
        for (request, code) in cases { #expect(world.send(worker, request)?.code == code, "\(request)") }
        #expect(world.offers == before)
        world.accept(worker, job.id)
        let other = world.worker("other").device
        for request: WorkerRequest in [.accept(job.id), .decline(job.id), .finish(job.id, error: nil)] {
            #expect(world.send(other, request)?.code == .conflict, "\(request)")
        }
        #expect(world.status(job.id) == .accepted)
    }

    @Test func namesAndMetadataHaveLimits() {
        let long = String(repeating: "x", count: 257)
        var effects: [DispatchStateMachine.Effect] = []
        for request in [
            JobRequest(room: "", assistant: "a", reason: .request), JobRequest(room: long, assistant: "a", reason: .request),
            JobRequest(room: "r", assistant: "", reason: .request), JobRequest(room: "r", assistant: long, reason: .request),
            JobRequest(room: "r", assistant: "a", metadata: String(repeating: "x", count: 16_385), reason: .request),
        ] {
            #expect(throws: RequestError.self) { try world.machine.create(request, at: world.now, into: &effects) }
        }
        for number in 0..<16 { #expect(world.create("r", "a\(number)") != nil) }
        #expect(world.create("r", "one more") == nil, "a room has 16 assistants at most")
        #expect(effects.isEmpty)
    }

    @Test func endedJobsAreForgotten() throws {
        let worker = world.worker("w").device
        let job = try #require(world.runJob(worker))
        world.receive(.agent("a", in: "r", .left(.clientInitiated)))
        #expect(world.machine.jobs(in: "r").map(\.id) == [job.id])
        world.pass(.seconds(120))
        world.disconnect(worker)
        #expect(world.machine.jobs(in: "r").isEmpty && world.machine.isEmpty)
    }

    @Test func operatorsSeeTheBusiestWorkersFirst() throws {
        let idle = world.worker("w1").device
        _ = try #require(world.runJob(idle))
        let busy = world.worker("w2", load: 0.75).device
        world.send(busy, .status(WorkerStatus(load: 0.9, draining: true)))
        let reports = world.machine.workerReports
        #expect(reports.map(\.id) == [busy, idle] && reports.map(\.load) == [0.9, 0])
        #expect(reports.map(\.isDraining) == [true, false])
        #expect(reports.map(\.jobs) == [0, 1])
        #expect(reports.map(\.capacity) == [2, 2])
        #expect(world.machine.worker(idle) == reports[1])
        world.disconnect(busy)
        #expect(world.machine.workerReports.map(\.id) == [idle] && world.machine.worker(busy) == nil)
    }

    @Test func reportedTurnsAreCounted() {
        let worker = world.worker("w").device
        let turns = [TurnMetrics(turn: 1, endOfTurnMs: 0, voiceToVoiceMs: 3_600_000), TurnMetrics(turn: 2, interrupted: true)]
        #expect(world.send(worker, .status(WorkerStatus(load: 0, turns: turns, turnsDropped: 4)))?.code == nil)
        #expect(world.effects.contains(.turns(turns, of: "a", dropped: 4)))
        world.send(worker, .status(WorkerStatus(load: 0, turns: [])))
        #expect(!world.effects.contains { if case .turns = $0 { true } else { false } })
    }

    @Test(arguments: [
        (WorkerStatus(load: 1, turns: [TurnMetrics(turn: -1)]), "turns[0]: `turn` must not be negative"),
        (
            WorkerStatus(load: 1, turns: [TurnMetrics(turn: 1), TurnMetrics(turn: 2, firstTokenMs: -1)]),
            "turns[1]: `first_token_ms` must be 0 to 3600000"
        ),
        (
            WorkerStatus(load: 1, turns: [TurnMetrics(turn: 1, voiceToVoiceMs: 3_600_001)]),
            "turns[0]: `voice_to_voice_ms` must be 0 to 3600000"
        ),
        (WorkerStatus(load: 1, turns: Array(repeating: TurnMetrics(turn: 1), count: 33)), "`turns` must have at most 32 entries"),
        (WorkerStatus(load: 1, turnsDropped: -1), "`turns_dropped` must be 0 to 1000000"),
    ])
    func statusWithInvalidTurnsChangesNothing(_ status: WorkerStatus, _ message: String) {
        let worker = world.worker("w").device
        guard case .rejected(let error)? = world.send(worker, .status(status)) else {
            Issue.record("it is accepted")
            return
        }
        #expect(error.code == .invalidArgument && error.message == message, "\(error)")
        #expect(!world.effects.contains { if case .turns = $0 { true } else { false } })
        #expect(world.create()?.status == .offered, "its load is still 0")
    }
}
