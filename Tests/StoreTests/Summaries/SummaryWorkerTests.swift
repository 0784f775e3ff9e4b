import Store
import Synchronization
import Testing
import Wire

struct SummaryWorkerTests {
    let world: StoreWorld
    var store: Store { world.store }

    init() throws { world = try StoreWorld() }

    /// A model that fails until it recovers.
    private final class Model: Summarizer {
        let hasRecovered = Mutex(false)

        func summary(of session: Session, turns: [Turn]) async throws -> SummaryContent {
            guard hasRecovered.withLock({ $0 }) else { throw ChatSummaryError.refused(status: 503) }
            return SummaryContent(title: "By the model", summaryText: "It answered.", actionItems: [], tags: [])
        }
    }

    private final class Clock: Sendable {
        let time: Mutex<WallTime>

        init(_ time: WallTime) { self.time = Mutex(time) }

        var now: @Sendable () -> WallTime { { self.time.withLock { $0 } } }

        func advance(by span: Duration) { time.withLock { $0 = $0 + span } }
    }

    @Test func aFailingModelLeavesAProvisionalSummaryThatItReplacesOnceItAnswers() async throws {
        let user = try await world.makeUser()
        let session = try await world.talk(user, ["Can you order twenty apples?", "I'll order them."])
        let (model, clock) = (Model(), Clock(world.now + .seconds(60)))
        let worker = SummaryWorker(
            store: store.sessions, summarizer: model,
            webhooks: { session, summary in
                [
                    OutgoingWebhook(
                        event: "summary_ready", endpoint: "e", room: session.roomName, body: summary.isProvisional ? "provisional" : "final"
                    )
                ]
            })
        for _ in 1..<SummaryWorker.failuresBeforeProvisional {
            #expect(try await worker.runNext(now: clock.now) == .skipped)
            #expect(try await worker.runNext(now: clock.now) == .idle, "backs off")
            clock.advance(by: .seconds(600))
        }
        #expect(try await store.sessions.session(session.id, of: user.id).summaryStatus == .pending)

        #expect(try await worker.runNext(now: clock.now) == .stored(session.id, of: user.id, isFirst: true))
        let provisional = try #require(try await store.sessions.record(of: session.id, of: user.id).summary)
        #expect(provisional.isProvisional && provisional.content.title == "Can you order twenty apples?")
        #expect(try await store.sessions.session(session.id, of: user.id).summaryStatus == .ready)
        for _ in 0..<4 {
            clock.advance(by: .seconds(6 * 3_600))
            #expect(try await worker.runNext(now: clock.now) == .skipped)
            #expect(try await store.sessions.record(of: session.id, of: user.id).summary == provisional, "stored once")
        }

        model.hasRecovered.withLock { $0 = true }
        clock.advance(by: .seconds(6 * 3_600))
        #expect(try await worker.runNext(now: clock.now) == .stored(session.id, of: user.id, isFirst: false))
        let final = try #require(try await store.sessions.record(of: session.id, of: user.id).summary)
        #expect(!final.isProvisional && final.content.title == "By the model")
        clock.advance(by: .seconds(86_400))
        #expect(try await worker.runNext(now: clock.now) == .idle)
        #expect(try await store.webhooks.list().map(\.webhook.body).sorted() == ["final", "provisional"])
    }

    @Test func theProvisionalSummaryRemainsIfTheModelNeverAnswers() async throws {
        let user = try await world.makeUser()
        let session = try await world.talk(user, ["Hello there, how are you?"])
        let clock = Clock(world.now + .seconds(60))
        let worker = SummaryWorker(store: store.sessions, summarizer: Model())
        for _ in 0..<StoreLimits.jobAttemptsMax {
            #expect(try await worker.runNext(now: clock.now) != .idle)
            clock.advance(by: .seconds(6 * 3_600))
        }
        #expect(try await worker.runNext(now: clock.now) == .idle)
        #expect(try await store.sessions.record(of: session.id, of: user.id).summary?.isProvisional == true)
        #expect(try await store.sessions.session(session.id, of: user.id).summaryStatus == .ready)
        #expect(try await store.sessions.failedJobs().count == 1)
    }

    @Test func retriesBackOffToSixHours() {
        #expect(
            (1...4).map { SummaryWorker.backoff.delay(afterFailures: $0, random: 0) } == [
                .seconds(60), .seconds(120), .seconds(240), .seconds(480),
            ])
        #expect(SummaryWorker.backoff.delay(afterFailures: 24, random: 0) == .seconds(21_600))
    }
}
