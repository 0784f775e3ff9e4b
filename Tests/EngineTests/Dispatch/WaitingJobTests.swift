import Engine
import Testing
import Wire

/// Jobs without a free worker, while a user is in their room and while none is.
struct WaitingJobTests {
    let world = DispatchWorld()

    private func attend(_ isAttended: Bool, _ room: String = "r") {
        world.receive(.attended(room, isAttended))
    }

    @Test func jobWaitsForAFreeWorkerAsLongAsAUserIsThere() throws {
        attend(true)
        let job = try #require(world.create())
        world.pass(.seconds(3_600))
        #expect(world.status(job.id) == .pending)
        let worker = world.worker("w").device
        #expect(world.offered(to: worker) == [job.id])
    }

    @Test func waitingJobsAreOfferedInOrderAsPlacesBecomeFree() throws {
        let worker = world.worker("w", capacity: 1).device
        let running = try #require(world.runJob(worker, in: "first"))
        for room in ["second", "third"] {
            attend(true, room)
            world.create(room)
        }
        world.pass(.seconds(60))
        world.receive(.agent("a", in: "first", .left(.clientInitiated)))
        #expect(world.status(running.id) == .succeeded)
        let second = try #require(world.machine.jobs(in: "second").first)
        #expect(world.offered(to: worker) == [second.id])
        world.accept(worker, second.id)
        world.receive(.agent("a", in: "second", .present))
        #expect(world.machine.jobs(in: "third").first?.status == .pending)
        world.receive(.agent("a", in: "second", .left(.clientInitiated)))
        #expect(world.offered(to: worker) == world.machine.jobs(in: "third").map(\.id))
    }

    @Test func refusedJobIsOfferedAgainEachSecondForAsLongAsAUserIsThere() throws {
        attend(true)
        let worker = world.worker("w").device
        let job = try #require(world.create())
        for _ in 0..<60 {
            #expect(world.offered(to: worker) == [job.id])
            world.send(worker, .decline(job.id))
            #expect(world.status(job.id) == .pending)
            world.pass(.seconds(1))
        }
    }

    @Test func afterTheLastUserTheJobWaitsTenSecondsMore() throws {
        attend(true)
        let job = try #require(world.create())
        world.pass(.seconds(60))
        attend(false)
        world.pass(.milliseconds(9_999))
        #expect(world.status(job.id) == .pending)
        world.pass(.milliseconds(1))
        #expect(world.status(job.id) == .failed)
    }

    @Test func userWhoReturnsInTimeKeepsTheJobWaiting() throws {
        attend(true)
        let job = try #require(world.create())
        attend(false)
        world.pass(.seconds(5))
        attend(true)
        world.pass(.seconds(60))
        #expect(world.status(job.id) == .pending && world.machine.jobs(in: "r").count == 1)
    }

    @Test func offerThatIsDeclinedAfterTheLastUserLeftEndsInTime() throws {
        attend(true)
        let worker = world.worker("w").device
        let job = try #require(world.create())
        world.pass(.milliseconds(500))
        attend(false)
        world.send(worker, .decline(job.id))
        for _ in 0..<30 where world.status(job.id) != .failed {
            if world.offers[job.id] == worker { world.send(worker, .decline(job.id)) }
            world.pass(.milliseconds(500))
        }
        #expect(world.status(job.id) == .failed)
    }

    @Test func calledAssistantThatNobodyTakesFailsAfterTenSeconds() throws {
        attend(true)
        let job = try #require(world.create(call: CallID(text: "CA_1")))
        world.pass(.seconds(10))
        #expect(world.status(job.id) == .failed)
    }

    // MARK: What the room is told

    @Test func roomIsToldWhyItsJobWaits() throws {
        let job = try #require(world.create())
        #expect(world.waits["r"] == [.noWorker])
        let worker = world.worker("w", load: 1).device
        #expect(world.waits["r"] == [.noWorker, .busy])
        world.pass(.seconds(3))
        #expect(world.waits["r"] == [.noWorker, .busy], "each reason once")
        world.disconnect(worker)
        #expect(world.waits["r"] == [.noWorker, .busy, .noWorker])
        world.pass(.seconds(10))
        #expect(world.status(job.id) == .failed && world.waits["r"]?.last == .ended)
    }

    @Test func roomOfAJobThatIsTakenAtOnceIsToldNothing() throws {
        let worker = world.worker("w").device
        let job = try #require(world.runJob(worker))
        world.receive(.agent("a", in: "r", .left(.clientInitiated)))
        #expect(world.status(job.id) == .succeeded && world.waits.isEmpty)
    }

    @Test func assistantThatComesEndsTheWaitSilently() throws {
        attend(true)
        let job = try #require(world.create())
        let worker = world.worker("w").device
        world.accept(worker, job.id)
        world.receive(.agent("a", in: "r", .present))
        world.receive(.agent("a", in: "r", .left(.clientInitiated)))
        #expect(world.waits["r"] == [.noWorker])
    }

    @Test func lostAssistantThatNobodyReplacesIsWaitedForAgain() throws {
        attend(true)
        let worker = world.worker("w").device
        let job = try #require(world.runJob(worker))
        world.disconnect(worker)
        world.receive(.agent("a", in: "r", .left(.signalClose)))
        #expect(world.status(job.id) == .pending && world.waits["r"] == [.noWorker])
        world.pass(.seconds(300))
        #expect(world.status(job.id) == .pending)
    }

    @Test func assistantThatFailsBeforeItLeavesIsWaitedForOnceItHasLeft() throws {
        attend(true)
        let worker = world.worker("w", capacity: 1).device
        let job = try #require(world.runJob(worker))
        world.send(worker, .finish(job.id, error: "broken"))
        #expect(world.waits["r"] == [.busy])
        world.receive(.agent("a", in: "r", .left(.clientInitiated)))
        #expect(world.status(job.id) == .pending && world.waits["r"] == [.busy, .busy])
    }

    @Test func roomThatOpensIsToldWhatItMissed() throws {
        try #require(world.create() != nil)
        attend(true)
        #expect(world.waits["r"] == [.noWorker, .noWorker])
        attend(false)
        attend(true)
        #expect(world.waits["r"]?.count == 3)
    }

    @Test func deletedJobIsNotWaitedForAnyMore() throws {
        attend(true)
        let job = try #require(world.create())
        world.cancel(job.id)
        #expect(world.waits["r"] == [.noWorker, .ended])
        world.pass(.seconds(1))
        #expect(world.waits["r"]?.count == 2)
    }

    @Test func jobThatIsAdoptedAfterARestartIsStillWaitedFor() throws {
        attend(true)
        world.create()
        world.worker("w", keeping: [JobInfo(id: "JB_before", room: "r", assistant: "a", reason: .rule, attempt: 2)])
        #expect(world.waits["r"] == [.noWorker])
        world.cancel("JB_before")
        #expect(world.waits["r"] == [.noWorker, .ended])
    }

    // MARK: Users who come late

    @Test func userWhoComesAfterTheAssistantHasLeftGetsItAgain() throws {
        let worker = world.worker("w").device
        let job = try #require(world.runJob(worker))
        world.pass(.seconds(20))
        world.receive(.agent("a", in: "r", .left(.clientInitiated)))
        attend(true)
        let next = try #require(world.machine.jobs(in: "r").last)
        #expect(next.id != job.id && next.reason == job.reason && next.metadata == job.metadata)
        #expect(world.offered(to: worker) == [next.id])
        attend(false)
        attend(true)
        #expect(world.machine.jobs(in: "r").count == 2, "once")
    }

    @Test func userWhoComesAfterTheJobHasFailedForLackOfWorkersGetsAnother() throws {
        let job = try #require(world.create())
        world.pass(.seconds(11))
        #expect(world.status(job.id) == .failed)
        attend(true)
        #expect(world.machine.jobs(in: "r").map(\.status) == [.failed, .pending])
        world.pass(.seconds(300))
        #expect(world.machine.jobs(in: "r").map(\.status) == [.pending])
    }

    @Test func jobThatEndedBesideAUserOrWasDeletedIsNotRepeated() throws {
        let worker = world.worker("w").device
        attend(true, "first")
        try #require(world.runJob(worker, in: "first") != nil)
        world.receive(.agent("a", in: "first", .left(.clientInitiated)))
        let deleted = try #require(world.runJob(worker, in: "second"))
        world.cancel(deleted.id, in: "second")
        for room in ["first", "second"] {
            attend(false, room)
            attend(true, room)
            #expect(world.machine.jobs(in: room).count == 1, "\(room)")
        }
    }

    @Test func roomThatOpensAgainDoesNotGetTheJobsOfTheOneBefore() throws {
        let worker = world.worker("w").device
        try #require(world.runJob(worker) != nil)
        world.receive(.agent("a", in: "r", .left(.clientInitiated)))
        world.receive(.roomEnded("r"))
        attend(true)
        #expect(world.machine.jobs(in: "r").count == 1)
    }
}
