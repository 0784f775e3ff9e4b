import Engine
import Testing
import Wire

/// Jobs whose worker or agent is lost.
struct LostWorkerTests {
    let world = DispatchWorld()

    private func runOnFirstOfTwo() throws -> (job: JobID, first: DeviceID, second: DeviceID) {
        let first = world.worker("first").device
        let job = try #require(world.runJob(first))
        return (job.id, first, world.worker("second").device)
    }

    @Test(arguments: [true, false])
    func killedWorkerIsReplacedAtOnce(isChannelFirst: Bool) throws {
        let (job, first, second) = try runOnFirstOfTwo()
        world.pass(.seconds(3))
        if isChannelFirst { world.disconnect(first) }
        world.receive(.agent("a", in: "r", .away))
        if !isChannelFirst { world.disconnect(first) }
        #expect(world.offers[job] == second)
        let effects = world.effects
        let lost = try #require(effects.firstIndex(of: .giveUp("assistant:a", in: "r")), "the room must lose the old agent first")
        let offered = try #require(effects.firstIndex { if case .offer = $0 { true } else { false } })
        #expect(lost < offered)
        #expect(world.accept(second, job)?.attempt == 2)
        // The room reports the end of the old agent, which means nothing any more.
        world.receive(.agent("a", in: "r", .left(.signalClose)))
        #expect(world.status(job) == .accepted)
        world.receive(.agent("a", in: "r", .present))
        #expect(world.status(job) == .running)
    }

    @Test func agentThatResumesWithinASecondKeepsItsJob() throws {
        let (job, first, second) = try runOnFirstOfTwo()
        world.receive(.agent("a", in: "r", .away))
        world.pass(.milliseconds(900))
        world.receive(.agent("a", in: "r", .present))
        world.pass(.seconds(5))
        #expect(world.offers.isEmpty && world.holders[job] == first && world.offered(to: second).isEmpty)
    }

    @Test func agentThatIsAwayForASecondIsReplaced() throws {
        let (job, first, second) = try runOnFirstOfTwo()
        world.receive(.agent("a", in: "r", .away))
        world.pass(.seconds(1))
        #expect(world.offers[job] == second && world.wasCancelled(job, at: first))
    }

    @Test func agentThatIsAwayMayResumeWhileNoOtherWorkerIsFree() throws {
        let worker = world.worker("w").device
        let job = try #require(world.runJob(worker)).id
        world.receive(.agent("a", in: "r", .away))
        world.pass(.seconds(15))
        #expect(world.status(job) == .running && world.offers.isEmpty)
        let other = world.worker("other").device
        #expect(world.offers[job] == other)
    }

    @Test func lostChannelLeavesTheAgentInItsRoom() throws {
        let (job, first, second) = try runOnFirstOfTwo()
        world.disconnect(first)
        world.pass(.seconds(30))
        #expect(world.status(job) == .running && world.offered(to: second).isEmpty)
        let info = try #require(world.machine.job(job))
        #expect(world.worker("again", keeping: [info]).kept == [job])
        world.receive(.agent("a", in: "r", .left(.clientInitiated)))
        #expect(world.status(job) == .succeeded)
    }

    @Test func workerThatDisconnectsBeforeItsAgentJoinsLosesTheJob() throws {
        let first = world.worker("first").device
        let job = try #require(world.create()).id
        let info = try #require(world.accept(first, job))
        let second = world.worker("second").device
        world.disconnect(first)
        #expect(world.offers[job] == second)
        // It is back before the other one accepts.
        let (again, kept) = world.worker("again", keeping: [info])
        #expect(kept == [job] && world.offers.isEmpty && world.wasCancelled(job, at: second))
        #expect(world.send(second, .accept(job))?.code == .conflict)
        world.receive(.agent("a", in: "r", .present))
        #expect(world.send(again, .finish(job, error: nil)).map { $0.code == nil } == true)
        #expect(world.status(job) == .succeeded)
    }

    @Test func workerThatComesBackTooLateDoesNotKeepTheJob() throws {
        let (job, first, second) = try runOnFirstOfTwo()
        let info = try #require(world.machine.job(job))
        world.disconnect(first)
        world.receive(.agent("a", in: "r", .away))
        world.accept(second, job)
        #expect(world.worker("again", keeping: [info]).kept.isEmpty)
        #expect(world.holders[job] == second)
    }

    @Test func jobsOfAWorkerAreAdoptedAfterARestart() throws {
        let info = JobInfo(id: "JB_before", room: "r", assistant: "a", reason: .rule, status: .running, attempt: 3)
        // The room has opened again and its rule has created a job.
        let rule = try #require(world.create()).id
        let (worker, kept) = world.worker("w", keeping: [info])
        #expect(kept == ["JB_before"] && world.status(rule) == .cancelled && world.offered(to: worker).isEmpty)
        #expect(world.machine.job("JB_before")?.attempt == 3, "its agent's token must stay valid")
        world.receive(.agent("a", in: "r", .present))
        #expect(world.status("JB_before") == .running)
        world.disconnect(worker)
        world.receive(.agent("a", in: "r", .left(.signalClose)))
        #expect(world.status("JB_before") == .pending, "an adopted job is replaced like any other")
    }

    @Test func adoptedJobWhoseAgentDoesNotReturnGoesToAnotherWorker() {
        let info = JobInfo(id: "JB_before", room: "r", assistant: "a", reason: .rule, attempt: 1)
        world.worker("w", keeping: [info])
        let other = world.worker("other").device
        world.pass(.milliseconds(10_000))
        #expect(world.offers["JB_before"] == other)
    }

    @Test func claimsOfOthersJobsAreNotKept() throws {
        let worker = world.worker("w").device
        let running = try #require(world.runJob(worker))
        let claims = [
            running, JobInfo(id: "JB_b", room: "r", assistant: "b", reason: .rule),
            JobInfo(id: "", room: "r", assistant: "a", reason: .rule),
            JobInfo(id: "JB_c", room: "", assistant: "a", reason: .rule), JobInfo(id: "JB_d", room: "r", assistant: "a", reason: .rule),
        ]
        #expect(world.worker("thief", keeping: claims).kept.isEmpty)
        #expect(world.holders[running.id] == worker)
    }

    @Test func failedHandlerGivesTheJobToAnotherWorker() throws {
        let (job, first, second) = try runOnFirstOfTwo()
        world.send(first, .finish(job, error: "no model"))
        #expect(world.offers[job] == second)
    }

    @Test func agentThatDoesNotJoinIsReplacedAfterTenSeconds() throws {
        let first = world.worker("first").device
        let job = try #require(world.create()).id
        world.accept(first, job)
        let second = world.worker("second").device
        world.pass(.seconds(10))
        #expect(world.offers[job] == second && world.wasCancelled(job, at: first))
    }

    @Test func jobThatFailsOnFiveWorkersInSuccessionFails() throws {
        let worker = world.worker("w").device
        let job = try #require(world.create()).id
        for _ in 0..<20 where world.status(job)?.isOver == false {
            if world.offers[job] == worker {
                world.accept(worker, job)
                world.send(worker, .finish(job, error: "broken"))
            }
            world.pass(.milliseconds(500))
        }
        #expect(world.status(job) == .failed)
        #expect(world.machine.job(job)?.attempt == 5)
        #expect(world.machine.job(job)?.error == "it failed on 5 workers in succession: broken")
    }

    @Test func twentyKillsOfALongConversationAreSurvived() throws {
        var worker = world.worker("worker 0").device
        let job = try #require(world.runJob(worker)).id
        for round in 1...20 {
            world.pass(.seconds(3))
            let next = world.worker("worker \(round)").device
            world.disconnect(worker)
            world.receive(.agent("a", in: "r", .away))
            #expect(world.accept(next, job) != nil, "round \(round)")
            world.receive(.agent("a", in: "r", .present))
            worker = next
        }
        #expect(world.status(job) == .running && world.machine.job(job)?.attempt == 21)
    }

    @Test(arguments: [
        (DisconnectReason.clientInitiated, JobStatus.succeeded), (.participantRemoved, .cancelled), (.agentError, .pending),
        (.signalClose, .pending), (.connectionTimeout, .pending), (.userRejected, .pending),
    ])
    func departureOfTheAgentDecides(_ reason: DisconnectReason, _ status: JobStatus) throws {
        let worker = world.worker("w").device
        let job = try #require(world.runJob(worker)).id
        world.receive(.agent("a", in: "r", .left(reason)))
        #expect(world.status(job) == status)
    }
}
