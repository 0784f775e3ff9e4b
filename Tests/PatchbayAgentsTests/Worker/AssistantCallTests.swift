import Backend
import Engine
import PatchbayAgents
import PatchbayClient
import Testing
import Wire

/// Calls to assistants that have registered workers.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct AssistantCallTests {
    private static let helper = CallParty.assistant("helper")

    /// Waits for an event of a call, by the assistant.
    private static func event(_ kind: CallEvent.Kind, on device: Channel) async throws -> CallEvent {
        for await event in device.events {
            switch event {
            case .changed(_, let event?) where event.kind == kind: return event
            default: continue
            }
        }
        throw DidNotHappen(what: kind.rawValue)
    }

    @Test func callBecomesAJobAndTheAgentsJoinAnswersIt() async throws {
        try await WorkerGateway.run(withStore: true) { node in
            let worker = try await TestWorker(node).registered()
            let device = try await node.device(of: node.user("ann"))
            let (call, room) = try await device.call([Self.helper], metadata: "about")
            try await eventually("the answer") { device.calls[call.id]?.info.member(Self.helper)?.status == .answered }
            try await eventually("the agent") { room.participants.map(\.identity.text) == ["assistant:helper"] }
            let job = try #require(worker.jobs.first)
            #expect(job.reason == .call && job.call == call.id && job.metadata == "about")
            try await call.hangUp()
            try await eventually("the handler's end") { await worker.worker.jobCount == 0 }
            try await worker.stop()
        }
    }

    @Test func callGoesOnWhileItsAssistantIsReplaced() async throws {
        try await WorkerGateway.run(withStore: true, patience: 1) { node in
            let first = try await HandWorker(node)
            let device = try await node.device(of: node.user("ann"))
            let (call, room) = try await device.call([Self.helper])
            let (_, agent) = try await first.takeJob()
            #expect(try await room.agent() == ["agent.joined"])
            let second = try await TestWorker(node).registered()
            first.die(in: agent)
            #expect(try await room.agent() == ["agent.lost", "agent.joined"])
            #expect(device.calls[call.id]?.info.member(Self.helper)?.status == .answered)
            #expect(second.jobs.map(\.call) == [call.id])
            try await second.stop()
        }
    }

    @Test func agentThatLeavesEndsTheCall() async throws {
        try await WorkerGateway.run(withStore: true) { node in
            let worker = try await HandWorker(node)
            let device = try await node.device(of: node.user("ann"))
            let (call, room) = try await device.call([Self.helper])
            let (_, agent) = try await worker.takeJob()
            #expect(try await room.agent() == ["agent.joined"])
            await agent.leave()
            try await eventually("the end") { device.calls[call.id]?.info.status.isOver ?? true }
            // The service that ends the job is another one than that of the calls.
            try await eventually("the job's success") { node.counters.jobs[.succeeded] == 1 }
        }
    }

    @Test func callFailsWithTheReasonOfItsJob() async throws {
        try await WorkerGateway.run(withStore: true) { node in
            let worker = try await HandWorker(node)
            let device = try await node.device(of: node.user("ann"))
            let (call, room) = try await device.call([Self.helper])
            let job = try await worker.channel.offer()
            #expect(job.call == call.id)
            try await node.administrator(of: job.room).endJob(job.id, in: job.room)
            let failure = try await Self.event(.failed, on: device)
            #expect(failure.by == Self.helper && failure.reason == "ended by a request")
            await room.leave()
        }
    }

    @Test func cancelledCallCancelsItsJob() async throws {
        try await WorkerGateway.run(withStore: true) { node in
            let worker = try await HandWorker(node)
            let device = try await node.device(of: node.user("ann"))
            let (call, room) = try await device.call([Self.helper])
            let job = try await worker.channel.offer()
            try await call.hangUp()
            guard case .cancelled(job.id, _) = try await worker.channel.job() else {
                Issue.record("the worker must learn that the call is over")
                return
            }
            #expect(await worker.channel.refusal(of: .accept(job.id)) == .conflict)
            await room.leave()
        }
    }

    @Test func processThatDidNotRegisterIsCalledAsBefore() async throws {
        try await WorkerGateway.run(withStore: true) { node in
            let process = try await node.channel("helper")
            let device = try await node.device(of: node.user("ann"))
            let (call, room) = try await device.call([Self.helper])
            var incoming: Call?
            for await event in process.events {
                guard case .incoming(let ringing) = event else { continue }
                incoming = ringing
                break
            }
            #expect(incoming?.id == call.id)
            let answered = try await incoming?.answer()
            try await eventually("the answer") { device.calls[call.id]?.info.member(Self.helper)?.status == .answered }
            #expect(node.counters.offers.isEmpty)
            await answered?.leave()
            await room.leave()
        }
    }

    @Test func ringingCallBecomesAJobWhenItsProcessRegisters() async throws {
        try await WorkerGateway.run(withStore: true) { node in
            let process = try await node.channel("helper")
            let device = try await node.device(of: node.user("ann"))
            let (call, room) = try await device.call([Self.helper])
            try await process.request(.register(WorkerRegistration(assistantID: "helper", capacity: 1)))
            #expect(try await process.offer().call == call.id)
            await room.leave()
        }
    }
}
