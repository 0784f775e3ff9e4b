import Backend
import Engine
import PatchbayAgents
import PatchbayClient
import Testing
import Wire

/// Workers that die, lose their channel or their agent's connection, and gateways that restart under them.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct LostAgentTests {
    @Test(arguments: [1, 2])
    func killedWorkerIsReplacedInTheRoom(shardCount: Int) async throws {
        try await WorkerGateway.run(shardCount: shardCount, patience: 1) { node in
            let first = try await HandWorker(node)
            let ann = try await node.join("ann")
            let job = try await node.administrator().dispatch("helper", to: "room")
            let (_, room) = try await first.takeJob()
            #expect(try await ann.agent() == ["agent.joined"])
            let second = try await TestWorker(node).registered()
            first.die(in: room)
            #expect(try await ann.agent() == ["agent.lost", "agent.joined"])
            let running = try await node.job(.running)
            #expect(running.id == job.id && running.attempt == 2 && second.jobs.map(\.attempt) == [2])
            #expect(ann.participants.map(\.identity.text) == ["assistant:helper"])
            try await second.stop()
        }
    }

    @Test func workerKilledWithTwentyJobsIsReplacedInAllOfThem() async throws {
        try await WorkerGateway.run(patience: 1) { node in
            let first = try await HandWorker(node, capacity: 20)
            let administrator = try node.administrator(of: nil)
            var (users, rooms): ([RoomConnection], [RoomConnection]) = ([], [])
            for number in 0..<20 {
                users.append(try await node.join("ann", "room \(number)"))
                try await administrator.dispatch("helper", to: "room \(number)")
                rooms.append(try await first.takeJob().room)
                #expect(try await users[number].agent() == ["agent.joined"])
            }
            let second = try await TestWorker(node, capacity: 20).registered()
            let killed = ContinuousClock.now
            first.channel.dropConnection()
            for room in rooms { room.dropConnection() }
            try await eventually("twenty jobs") { second.jobs.count == 20 }
            // Usually a second; without the loss of the channel, the jobs would wait for the end of their lease.
            let span = ContinuousClock.now - killed
            #expect(span < .seconds(20), "another worker had all jobs after \(span)")
            for user in users { #expect(try await user.agent() == ["agent.lost", "agent.joined"]) }
            for number in 0..<20 { #expect(try await node.job(.running, in: "room \(number)").attempt == 2) }
            #expect(node.counters.sizes.running == 20)
            try await second.stop()
        }
    }

    @Test func agentOfAnEarlierAttemptCannotReturn() async throws {
        try await WorkerGateway.run(patience: 1) { node in
            let first = try await HandWorker(node)
            let ann = try await node.join("ann")
            try await node.administrator().dispatch("helper", to: "room")
            let reply = try await first.accept()
            let room = try await first.join(with: reply)
            #expect(try await ann.agent() == ["agent.joined"])
            let second = try await TestWorker(node).registered()
            first.die(in: room)
            #expect(try await ann.agent() == ["agent.lost", "agent.joined"])
            await #expect(throws: ConnectError.self) { try await first.join(with: reply) }
            try await node.job(.running)
            try await second.stop()
        }
    }

    @Test func lostChannelDoesNotReplaceTheAgent() async throws {
        try await WorkerGateway.run { node in
            let first = try await HandWorker(node)
            let ann = try await node.join("ann")
            try await node.administrator().dispatch("helper", to: "room")
            let (job, room) = try await first.takeJob()
            #expect(try await ann.agent() == ["agent.joined"])
            let second = try await TestWorker(node).registered()
            first.die()
            try await eventually("the loss of the channel") { node.counters.sizes.workers == 1 }
            #expect(try await node.job(.running).attempt == 1 && second.jobs.isEmpty)
            // Its process registers again and keeps the job.
            let channel = try await node.channel("helper")
            let registration = WorkerRegistration(assistantID: "helper", capacity: 1, jobs: [job])
            #expect(try await channel.request(.register(registration)).jobs == [job.id])
            await room.leave()
            try await node.job(.succeeded)
            #expect(second.jobs.isEmpty)
            try await second.stop()
        }
    }

    @Test func lostRoomConnectionIsResumedByTheSameWorker() async throws {
        try await WorkerGateway.run { node in
            let rooms = AsyncStream.makeStream(of: RoomConnection.self)
            let worker = try await TestWorker(node) { job in
                let room = try await job.connect()
                rooms.continuation.yield(room)
                for await event in room.events { if case .disconnected = event { break } }
            }.registered()
            let other = try await HandWorker(node)
            try await other.channel.request(.status(WorkerStatus(load: 1)))
            try await node.administrator().dispatch("helper", to: "room")
            var opened = rooms.stream.makeAsyncIterator()
            let room = try #require(await opened.next(isolation: #isolation))
            try await node.job(.running)
            try await other.channel.request(.status(WorkerStatus(load: 0)))
            room.dropConnection()
            try await eventually("the resume") { room.statistics.reconnects == 1 }
            #expect(try await node.job(.running).attempt == 1 && worker.jobs.count == 1)
            #expect(node.counters.offers[.accepted] == 1)
            try await worker.stop()
        }
    }

    @Test func restartedGatewayStartsNoSecondAgent() async throws {
        let rules = [DispatchRule(room: "room", assistant: "helper")]
        let before = try WorkerGateway(rules: rules)
        try await before.begin()
        let (connected, continuation) = AsyncStream.makeStream(of: Void.self)
        let worker = try await TestWorker(before) { job in
            let room = try await job.connect()
            continuation.yield()
            for await event in room.events { if case .disconnected = event { break } }
        }.registered()
        let ann = try await before.join("ann")
        #expect(try await ann.agent() == ["agent.joined"])
        // The job is running before its handler is connected, which fails if the gateway stops.
        for await _ in connected { break }
        let job = try await before.job(.running)
        try await before.stop()
        let after = try WorkerGateway(port: before.port, rules: rules)
        try await after.begin()
        try await eventually("the agent's return") { after.counters.sizes.workers == 1 && after.counters.sizes.running == 1 }
        try await eventually("the user's return") { ann.statistics.reconnects > 0 }
        try await eventually("one agent") { ann.participants.map(\.identity.text) == ["assistant:helper"] }
        let running = try await after.administrator().jobs(in: "room").filter { !$0.status.isOver }
        #expect(worker.jobs.count == 1 && (running.map(\.id) == [job.id] || running.map(\.attempt) == [0]), "\(running)")
        try await worker.stop()
        try await after.stop()
    }

    @Test func unreachableGatewayIsAwaited() async throws {
        let before = try WorkerGateway()
        try await before.begin()
        let worker = try await TestWorker(before).registered()
        try await before.stop()
        try await eventually("the loss") { await !worker.worker.isRegistered }
        let after = try WorkerGateway(port: before.port)
        try await after.begin()
        _ = try await worker.registered()
        try await after.administrator().dispatch("helper", to: "room")
        try await after.job(.running)
        try await worker.stop()
        try await after.stop()
    }

    @Test func drainingGatewayFailsWaitingJobs() async throws {
        try await WorkerGateway.run { node in
            let ann = try await node.join("ann")
            let job = try await node.administrator().dispatch("helper", to: "room")
            #expect(job.status == .pending)
            node.drain()
            try await eventually("the failure") { node.counters.jobs[.failed] == 1 }
            await ann.leave()
        }
    }
}
