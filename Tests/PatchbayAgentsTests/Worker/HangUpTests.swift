import Backend
import Engine
import Identity
import PatchbayClient
import Store
import Testing
import Wire

@testable import PatchbayAgents

/// Ends of conversations, and calls that wait for an assistant.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct HangUpTests {
    /// An agent in a room, with engines of tones.
    @Sendable private static func converse(_ job: AgentJob) async throws {
        let engines = AgentEngines(
            detector: LevelDetectors(), recognizer: ScriptedRecognizer([]), responder: ScriptedResponder { _ in [.text("Yes.")] },
            synthesizer: ToneSynthesizer())
        let room = try await job.connect()
        let definition = AssistantDefinition(id: "helper", greetings: ["One two three four five six seven eight nine ten."])
        try await VoicePipeline(definition, engines: engines).run(in: room)
        await room.leave()
    }

    /// Usually a second. Less than the time for which the assistant waits for a lost user.
    private static let departureMax = Duration.seconds(15)

    @Test func assistantLeavesWithItsLastUserAndItsJobHasSucceeded() async throws {
        try await WorkerGateway.run { node in
            let worker = try await TestWorker(node, handler: Self.converse).registered()
            let (ann, bob) = (try await node.join("ann"), try await node.join("bob"))
            try await node.administrator().dispatch("helper", to: "room")
            #expect(try await ann.agent() == ["agent.joined"])
            await bob.leave()
            try await eventually("one user") { ann.participants.count == 1 }
            #expect(try await node.job(.running).status == .running)
            let left = MediaClock.now
            await ann.leave()
            try await node.job(.succeeded)
            try await eventually("a free place") { await worker.worker.jobCount == 0 }
            #expect(MediaClock.now - left < Self.departureMax)
            #expect(node.counters.jobs[.succeeded] == 1 && node.counters.jobs[.cancelled] == nil)
            try await worker.stop()
        }
    }

    @Test func assistantWaitsForAUserWhoseConnectionIsLost() async throws {
        try await WorkerGateway.run { node in
            let worker = try await TestWorker(node, handler: Self.converse).registered()
            var options = WorkerGateway.options
            options.reconnect = .never
            let ann = try await RoomConnection.connect(
                url: node.url,
                token: WorkerGateway.sign(
                    .init(identity: "ann", expires: WorkerGateway.nowSeconds + 600, video: .joining("room"))), options: options)
            try await node.administrator().dispatch("helper", to: "room")
            #expect(try await ann.agent() == ["agent.joined"])
            ann.dropConnection()
            // Longer than the assistant takes to leave when a user has ended the conversation.
            try await Task.sleep(for: .seconds(3))
            #expect(try await node.job(.running).status == .running)
            try await worker.stop()
        }
    }

    @Test func endOfTheSessionIsTheSuccessOfItsAssistant() async throws {
        try await WorkerGateway.run(withStore: true) { node in
            let worker = try await TestWorker(node, handler: Self.converse).registered()
            let user = try await node.user("ann")
            let ticket = try await node.startSession(of: user, assistant: "helper")
            let room = try await RoomConnection.connect(url: node.url, token: ticket.token, options: WorkerGateway.options)
            try await node.job(.running, in: ticket.room)
            let ended = MediaClock.now
            try await node.end(ticket.session, of: user)
            try await node.job(.succeeded, in: ticket.room)
            try await eventually("a free place") { await worker.worker.jobCount == 0 }
            #expect(MediaClock.now - ended < Self.departureMax)
            await room.leave()
            try await worker.stop()
        }
    }

    @Test func userWhoReturnsToAnOpenRoomGetsTheAssistantAgain() async throws {
        try await WorkerGateway.run { node in
            let worker = try await TestWorker(node, handler: Self.converse).registered()
            let first = try await node.join("ann", agents: [TokenAgent(agentName: "helper", metadata: "m")])
            #expect(try await first.agent() == ["agent.joined"])
            await first.leave()
            try await node.job(.succeeded)
            let again = try await node.join("ann")
            #expect(try await again.agent() == ["agent.joined"])
            #expect(worker.jobs.map(\.metadata) == ["m", "m"] && worker.jobs.map(\.reason) == [.token, .token])
            await again.leave()
            try await worker.stop()
        }
    }

    @Test func waitingUserIsToldWhyAndGetsTheNextFreeAssistant() async throws {
        try await WorkerGateway.run { node in
            let ann = try await node.join("ann", "first", agents: [TokenAgent(agentName: "helper")])
            #expect(try await ann.wait() == .noWorker)
            let worker = try await TestWorker(node, capacity: 1, handler: Self.converse).registered()
            #expect(try await ann.agent() == ["agent.joined"])
            let bob = try await node.join("bob", "second", agents: [TokenAgent(agentName: "helper")])
            #expect(try await bob.wait() == .busy)
            let late = try await node.join("cid", "second")
            #expect(try await late.wait() == .busy, "who comes late is told, too")
            await ann.leave()
            #expect(try await bob.agent() == ["agent.joined"])
            let after = try await node.join("dan", "second")
            #expect(after.participants.contains { $0.kind == .agent })
            for user in [bob, late, after] { await user.leave() }
            try await worker.stop()
        }
    }

    @Test func jobThatEndsWhileItWaitsIsNotWaitedForAnyMore() async throws {
        try await WorkerGateway.run { node in
            let ann = try await node.join("ann")
            let job = try await node.administrator().dispatch("helper", to: "room")
            #expect(try await ann.wait() == .noWorker)
            try await node.administrator().endJob(job.id, in: "room")
            #expect(try await ann.wait() == .ended)
            await ann.leave()
        }
    }

    @Test("Sixteen short calls, two at a time, share a worker of two places")
    func placesAreFreeForTheNextCall() async throws {
        try await WorkerGateway.run { node in
            let worker = try await TestWorker(node, capacity: 2, handler: Self.converse).registered()
            try await withThrowingDiscardingTaskGroup { group in
                for line in 0..<2 {
                    group.addTask {
                        for call in 0..<8 {
                            let user = try await node.join("ann", "call \(line) \(call)", agents: [TokenAgent(agentName: "helper")])
                            let events = try await user.agent()
                            #expect(events == ["agent.joined"])
                            await user.leave()
                            // A place is free again before the line's next call.
                            let left = MediaClock.now
                            try await node.job(.succeeded, in: "call \(line) \(call)")
                            #expect(MediaClock.now - left < Self.departureMax)
                        }
                    }
                }
            }
            #expect(worker.jobs.count == 16)
            try await worker.stop()
        }
    }
}

extension RoomConnection {
    /// Waits until the gateway tells that an assistant cannot come yet, or does not come.
    fileprivate func wait() async throws -> AgentWaitReason {
        try await first { if case .gateway(.agentWaiting(_, let reason), _) = $0 { reason } else { nil } }
    }
}
