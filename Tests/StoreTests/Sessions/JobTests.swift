import Testing

@testable import Store

struct JobTests {
    let world: StoreWorld
    var store: Store { world.store }

    init() throws { world = try StoreWorld() }

    @discardableResult
    private func enqueue(_ kind: JobKind, _ subject: String) async throws -> Bool {
        try await store.database.write { [now = world.now] db in try Sessions.enqueue(kind: kind, subject: subject, due: now, in: db) }
    }

    @Test func endingASessionEnqueuesItsSummary() async throws {
        let user = try await world.makeUser()
        let session = try await world.talk(user, ["buy apples"])
        let job = try #require(try await store.sessions.lease(.summary, for: .seconds(60), at: world.now + .seconds(60)))
        #expect(job.subject == session.id.text && job.userID == user.id && job.sessionID == session.id && job.attempts == 1)
        let summary = try await store.sessions.saveSummary(StoreWorld.content, for: session.id, of: user.id, finishing: job, at: world.now)
        let record = try await store.sessions.record(of: session.id, of: user.id)
        #expect(record.summary == summary && record.session.summaryStatus == .ready)
        #expect(try await store.sessions.lease(.summary, for: .seconds(60), at: world.now + .seconds(3_600)) == nil)
    }

    @Test func aJobIsLeasedToOneWorkerUntilTheLeaseExpires() async throws {
        try await enqueue(.summary, "s")
        let first = try #require(try await store.sessions.lease(.summary, for: .seconds(60), at: world.now))
        #expect(try await store.sessions.lease(.summary, for: .seconds(60), at: world.now + .seconds(59)) == nil)
        let second = try #require(try await store.sessions.lease(.summary, for: .seconds(60), at: world.now + .seconds(60)))
        #expect(second.id == first.id && second.attempts == 2)
        #expect(try await store.sessions.finish(first) == false, "the first one came too late")
        #expect(try await store.sessions.finish(second))
    }

    @Test func aLeaseOfAnEndedProcessIsReleasedWhenTheStoreIsOpened() async throws {
        let user = try await world.makeUser()
        let session = try await world.talk(user, ["hi"])
        let time = world.now + .seconds(60)
        let first = try #require(try await store.sessions.lease(.summary, for: .seconds(3_600), at: time))
        #expect(try await store.sessions.lease(.summary, for: .seconds(3_600), at: time) == nil)
        try store.close()

        let reopened = try world.reopen()
        let second = try #require(try await reopened.sessions.lease(.summary, for: .seconds(3_600), at: time))
        #expect(second.id == first.id && second.sessionID == session.id && second.attempts == 2, "the attempt stays counted")
        // A retry is no lease: it keeps its time.
        #expect(try await reopened.sessions.retry(second, due: time + .seconds(600), reason: "busy", at: time))
        try reopened.close()

        let third = try world.reopen()
        #expect(try await third.sessions.lease(.summary, for: .seconds(60), at: time) == nil)
        #expect(try await third.sessions.lease(.summary, for: .seconds(60), at: time + .seconds(600)) != nil)
        try third.close()
    }

    @Test func aSummaryAfterTheLeaseIsNotStored() async throws {
        let user = try await world.makeUser()
        let session = try await world.talk(user, ["hi"])
        let late = try #require(try await store.sessions.lease(.summary, for: .zero, at: world.now + .seconds(60)))
        _ = try await store.sessions.lease(.summary, for: .seconds(60), at: world.now + .seconds(60))
        await #expect(throws: StoreError.notFound) {
            try await store.sessions.saveSummary(StoreWorld.content, for: session.id, of: user.id, finishing: late, at: world.now)
        }
        #expect(try await store.sessions.record(of: session.id, of: user.id).summary == nil)
    }

    @Test func aFailedJobIsRetriedALimitedNumberOfTimes() async throws {
        let user = try await world.makeUser()
        let session = try await world.talk(user, ["hi"])
        var time = world.now + .seconds(60)
        for attempt in 1...StoreLimits.jobAttemptsMax {
            let job = try #require(try await store.sessions.lease(.summary, for: .seconds(60), at: time))
            time = time + .seconds(100)
            let willBeTried = try await store.sessions.retry(job, due: time, reason: "no answer about apples", at: time)
            #expect(willBeTried == (attempt < StoreLimits.jobAttemptsMax))
        }
        #expect(try await store.sessions.lease(.summary, for: .seconds(60), at: time + .seconds(86_400)) == nil)
        #expect(try await store.sessions.session(session.id, of: user.id).summaryStatus == .failed)
        #expect(try await store.sessions.failedJobs().map(\.reason) == ["no answer about apples"])
        #expect(try world.files(with: "apples".utf8).isEmpty)
    }

    @Test func aJobThatCrashesTheProcessFailsEventually() async throws {
        let user = try await world.makeUser()
        let session = try await world.talk(user, ["hi"])
        for _ in 0..<StoreLimits.jobAttemptsMax { _ = try await store.sessions.lease(.summary, for: .zero, at: world.now + .seconds(60)) }
        #expect(try await store.sessions.lease(.summary, for: .zero, at: world.now + .seconds(60)) == nil)
        #expect(try await store.sessions.session(session.id, of: user.id).summaryStatus == .failed)
    }

    @Test func aLeasedJobIsNotLeasedAgain() async throws {
        for index in 0..<40 { try await enqueue(.summary, "\(index)") }
        let leased = try await withThrowingTaskGroup { group in
            for _ in 0..<60 { group.addTask { try await store.sessions.lease(.summary, for: .seconds(60), at: world.now)?.id } }
            return try await group.reduce(into: [Int64]()) { if let id = $1 { $0.append(id) } }
        }
        #expect(leased.count == 40 && Set(leased).count == 40)
    }

    @Test func thereIsOneJobOfAKindAndSubject() async throws {
        #expect(try await enqueue(.summary, "s"))
        #expect(try await enqueue(.summary, "s") == false)
        #expect(try await enqueue(JobKind(rawValue: "other"), "s"))
    }

    @Test func jobsAreDeletedWithTheirSession() async throws {
        let user = try await world.makeUser()
        let session = try await world.talk(user, ["hi"])
        try await store.sessions.delete(session.id, of: user.id)
        #expect(try await store.sessions.lease(.summary, for: .seconds(60), at: world.now + .seconds(60)) == nil)
    }
}
