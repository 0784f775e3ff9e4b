import Backend
import PatchbayAgents
import PatchbayClient
import Synchronization
import Testing
import Wire

/// Workers that accept, decline, say nothing, are full or drain.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct OfferTests {
    @Test func declinedJobGoesToTheNextWorker() async throws {
        try await WorkerGateway.run { node in
            let (one, other) = (try await HandWorker(node), try await HandWorker(node))
            let job = try await node.administrator().dispatch("helper", to: "room")
            let first = try await Self.firstOffered(job, one, other)
            try await first.channel.request(.decline(job.id))
            let second = first.channel === one.channel ? other : one
            #expect(try await second.takeJob().job.id == job.id)
            try await node.job(.running)
            #expect(node.counters.offers[.declined] == 1 && node.counters.offers[.accepted] == 1)
        }
    }

    @Test func unansweredOfferGoesToTheNextWorker() async throws {
        try await WorkerGateway.run { node in
            let (one, other) = (try await HandWorker(node), try await HandWorker(node))
            let job = try await node.administrator().dispatch("helper", to: "room")
            let silent = try await Self.firstOffered(job, one, other)
            let second = silent.channel === one.channel ? other : one
            #expect(try await second.takeJob().job.id == job.id)
            guard case .cancelled(job.id, _) = try await silent.channel.job() else {
                Issue.record("the silent worker must learn that it has lost the job")
                return
            }
            #expect(await silent.channel.refusal(of: .accept(job.id)) == .conflict)
            #expect(node.counters.offers[.expired] == 1)
        }
    }

    /// Reads the offer of a job on the channel that has it.
    private static func firstOffered(_ job: JobInfo, _ one: HandWorker, _ other: HandWorker) async throws -> HandWorker {
        let found = Mutex<HandWorker?>(nil)
        let readers = [one, other].map { worker in
            Task {
                guard try await worker.channel.offer().id == job.id else { return }
                found.withLock { $0 = $0 ?? worker }
            }
        }
        try await eventually("an offer") { found.withLock { $0 != nil } }
        for reader in readers { reader.cancel() }
        return try #require(found.withLock { $0 })
    }

    @Test func fullWorkerGetsTheNextJobWhenOneEnds() async throws {
        try await WorkerGateway.run { node in
            let worker = try await TestWorker(node, capacity: 1).registered()
            let first = try await node.administrator(of: "first").dispatch("helper", to: "first")
            try await node.job(.running, in: "first")
            try await node.administrator(of: "second").dispatch("helper", to: "second")
            try await node.job(.pending, in: "second")
            try await node.administrator(of: "first").endJob(first.id, in: "first")
            try await node.job(.running, in: "second")
            #expect(worker.jobs.map(\.room) == ["first", "second"])
            try await worker.stop()
        }
    }

    @Test func loadedWorkerGetsNoJobUntilItsLoadFalls() async throws {
        try await WorkerGateway.run { node in
            let load = Mutex(1.0)
            let worker = try await TestWorker(node, load: { load.withLock { $0 } }).registered()
            try await eventually("a report") { node.counters.sizes.workers == 1 }
            // The first report follows within a second.
            try await Task.sleep(for: .milliseconds(1_200))
            try await node.administrator().dispatch("helper", to: "room")
            try await node.job(.pending)
            load.withLock { $0 = 0.1 }
            try await node.job(.running)
            try await worker.stop()
        }
    }

    @Test func drainingWorkerFinishesItsJobsAndGetsNoOthers() async throws {
        try await WorkerGateway.run { node in
            let worker = try await TestWorker(node).registered()
            let running = try await node.administrator().dispatch("helper", to: "room")
            try await node.job(.running)
            let draining = Task { await worker.worker.drain() }
            try await node.administrator(of: "other").dispatch("helper", to: "other")
            try await node.job(.pending, in: "other")
            #expect(await worker.worker.jobCount == 1)
            let next = try await TestWorker(node).registered()
            try await node.job(.running, in: "other")
            try await node.administrator().endJob(running.id, in: "room")
            await draining.value
            try await worker.ended()
            #expect(worker.jobs.count == 1 && next.jobs.count == 1)
            try await next.stop()
        }
    }

    @Test func drainCancelsJobsAfterItsTimeout() async throws {
        try await WorkerGateway.run { node in
            let worker = try await TestWorker(node, drainTimeout: .milliseconds(100)).registered()
            try await node.administrator().dispatch("helper", to: "room")
            try await node.job(.running)
            await worker.worker.drain()
            try await worker.ended()
            #expect(await worker.worker.jobCount == 0)
        }
    }

    @Test func failingHandlerGivesTheJobToAnotherWorker() async throws {
        try await WorkerGateway.run { node in
            struct Broken: Error {}
            let broken = try await TestWorker(node) { _ in throw Broken() }.registered()
            try await node.administrator().dispatch("helper", to: "room")
            try await eventually("the failure") { !broken.jobs.isEmpty }
            let healthy = try await TestWorker(node).registered()
            try await node.job(.running)
            #expect(healthy.jobs.count == 1)
            try await broken.stop()
            try await healthy.stop()
        }
    }

    @Test func returningHandlerEndsTheJobAsSuccess() async throws {
        try await WorkerGateway.run { node in
            let worker = try await TestWorker(node) { job in
                let room = try await job.connect()
                await room.leave()
            }.registered()
            try await node.administrator().dispatch("helper", to: "room")
            try await node.job(.succeeded)
            #expect(node.counters.jobs[.succeeded] == 1)
            try await worker.stop()
        }
    }
}
