import Backend
import Engine
import PatchbayAgents
import PatchbayClient
import Synchronization
import Testing
import Wire

/// Workers that accept, decline, say nothing, are full or drain.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct OfferTests {
    @Test func declinedJobGoesToTheNextWorker() async throws {
        try await WorkerGateway.run { node in
            let workers = [OfferedWorker(try await HandWorker(node)), OfferedWorker(try await HandWorker(node))]
            let job = try await node.administrator().dispatch("helper", to: "room")
            let first = try await OfferedWorker.first(of: workers)
            try await first.channel.request(.decline(job.id))
            let second = try #require(workers.first { $0 !== first })
            #expect(try await second.offer.value.id == job.id)
            try await second.channel.request(.accept(job.id))
            #expect(node.counters.offers[.declined] == 1 && node.counters.offers[.accepted] == 1)
        }
    }

    @Test func unansweredOfferGoesToTheNextWorker() async throws {
        try await WorkerGateway.run(patience: 4) { node in
            let workers = [OfferedWorker(try await HandWorker(node)), OfferedWorker(try await HandWorker(node))]
            let job = try await node.administrator().dispatch("helper", to: "room")
            let silent = try await OfferedWorker.first(of: workers)
            let second = try #require(workers.first { $0 !== silent })
            #expect(try await second.offer.value.id == job.id)
            try await second.channel.request(.accept(job.id))
            guard case .cancelled(job.id, _) = try await silent.channel.job() else {
                Issue.record("the silent worker must learn that it has lost the job")
                return
            }
            #expect(await silent.channel.refusal(of: .accept(job.id)) == .conflict)
            #expect(node.counters.offers[.expired] == 1)
        }
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
            let readings = Mutex(0)
            let worker = try await TestWorker(
                node,
                load: {
                    readings.withLock { $0 += 1 }
                    return load.withLock { $0 }
                }
            ).registered()
            // Each reading is reported at once, and the next follows a second later.
            let early = readings.withLock { $0 }
            try await eventually("a report") { readings.withLock { $0 } >= early + 2 }
            try await node.administrator().dispatch("helper", to: "room")
            try await node.job(.pending)
            let unchanged = readings.withLock { $0 }
            try await eventually("another report") { readings.withLock { $0 } > unchanged }
            #expect(worker.jobs.isEmpty)
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
            let begun = Mutex(false)
            let draining = Task {
                begun.withLock { $0 = true }
                await worker.worker.drain()
            }
            try await eventually("the drain") { begun.withLock { $0 } }
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
