import Backend
import Engine
import Identity
import PatchbayAgents
import PatchbayClient
import Store
import Testing
import Wire

/// Everything that sends an assistant to a room.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct DispatchTriggerTests {
    @Test func requestSendsAnAssistantToAnOpenRoom() async throws {
        let definition = AssistantDefinition(id: "helper", name: "Helping Hand", voice: "nova")
        try await WorkerGateway.run(definition: { $0 == "helper" ? definition : nil }) { node in
            let worker = try await TestWorker(node).registered()
            let ann = try await node.join("ann")
            let created = try await node.administrator().dispatch("helper", to: "room", metadata: "notes")
            #expect(created.assistant == "helper" && created.reason == .request)
            #expect(try await ann.agent() == ["agent.joined"])
            let agent = try #require(ann.participants.first)
            #expect(agent.kind == .agent && agent.name == "Helping Hand")
            let job = try #require(worker.jobs.first)
            #expect(job.id == created.id && job.metadata == "notes" && job.assistant == definition && job.attempt == 1)
            #expect(job.room == "room" && job.call == nil)
            try await node.job(.running)
            try await worker.stop()
        }
    }

    @Test func requestOpensARoomThatIsNotOpen() async throws {
        try await WorkerGateway.run { node in
            let worker = try await TestWorker(node).registered()
            try await node.administrator(of: nil).dispatch("helper", to: "room")
            try await node.job(.running)
            let ann = try await node.join("ann")
            #expect(ann.participants.map(\.identity.text) == ["assistant:helper"])
            try await worker.stop()
        }
    }

    @Test func agentsInATokenAreDispatchedWhenItsJoinOpensTheRoom() async throws {
        try await WorkerGateway.run { node in
            let worker = try await TestWorker(node).registered()
            let ann = try await node.join("ann", agents: [TokenAgent(agentName: "helper", metadata: "m")])
            #expect(try await ann.agent() == ["agent.joined"])
            #expect(worker.jobs.map(\.reason) == [.token] && worker.jobs.map(\.metadata) == ["m"])
            // The room is open: a second token changes nothing.
            let bob = try await node.join("bob", agents: [TokenAgent(agentName: "other")])
            #expect(try await node.administrator().jobs(in: "room").count == 1)
            await bob.leave()
            try await worker.stop()
        }
    }

    @Test func ruleSendsAnAssistantToRoomsWithMatchingNames() async throws {
        try await WorkerGateway.run(rules: [DispatchRule(room: "support-*", assistant: "helper")]) { node in
            let worker = try await TestWorker(node).registered()
            let other = try await node.join("ann", "lobby")
            let ann = try await node.join("ann", "support-1")
            #expect(try await ann.agent() == ["agent.joined"])
            #expect(worker.jobs.map(\.reason) == [.rule] && worker.jobs.map(\.room) == ["support-1"])
            await other.leave()
            try await worker.stop()
        }
    }

    @Test func replacedRulesApplyToRoomsThatOpenAfterwards() async throws {
        try await WorkerGateway.run(rules: [DispatchRule(room: "old-*", assistant: "helper")]) { node in
            let worker = try await TestWorker(node).registered()
            let before = try await node.join("ann", "old-1")
            #expect(try await before.agent() == ["agent.joined"])
            await node.use([DispatchRule(room: "new-*", assistant: "helper")])
            let unmatched = try await node.join("bob", "old-2")
            let after = try await node.join("cid", "new-1")
            #expect(try await after.agent() == ["agent.joined"])
            #expect(worker.jobs.map(\.room) == ["old-1", "new-1"])
            #expect(try await node.job(.running, in: "old-1").status == .running, "a job outlives its rule")
            await unmatched.leave()
            try await worker.stop()
        }
    }

    @Test func replacedDefinitionsAreThoseOfLaterJobs() async throws {
        let assistants = AssistantDirectory(configured: [AssistantDefinition(id: "helper", name: "Before")])
        try await WorkerGateway.run(definition: { assistants.definition($0) }) { node in
            let worker = try await TestWorker(node).registered()
            try await node.administrator(of: "first").dispatch("helper", to: "first")
            try await node.job(.running, in: "first")
            assistants.configure([AssistantDefinition(id: "helper", name: "After"), AssistantDefinition(id: "second")])
            try await node.administrator(of: "second").dispatch("helper", to: "second")
            try await node.job(.running, in: "second")
            #expect(worker.jobs.map(\.assistant?.name) == ["Before", "After"])
            let first = try await node.join("ann", "first")
            #expect(first.participants.map(\.name) == ["Before"])
            try await worker.stop()
        }
    }

    @Test func sessionWithAnAssistantDispatchesIt() async throws {
        try await WorkerGateway.run(withStore: true) { node in
            let worker = try await TestWorker(node).registered()
            let user = try await node.user("ann")
            let ticket = try await node.startSession(of: user, assistant: "helper")
            let room = try await RoomConnection.connect(url: node.url, token: ticket.token, options: WorkerGateway.options)
            try await eventually("the agent") { room.participants.contains { $0.identity.text == "assistant:helper" } }
            #expect(worker.jobs.map(\.reason) == [.session] && worker.jobs.map(\.room) == [ticket.room])
            try await worker.stop()
        }
    }

    @Test func jobIsListedAndDeletedWithItsAgent() async throws {
        try await WorkerGateway.run { node in
            let worker = try await TestWorker(node).registered()
            let ann = try await node.join("ann")
            let administrator = try node.administrator()
            let job = try await administrator.dispatch("helper", to: "room")
            #expect(try await ann.agent() == ["agent.joined"])
            #expect(try await administrator.dispatch("helper", to: "room").id == job.id)
            #expect(try await administrator.endJob(job.id, in: "room").status == .cancelled)
            try await eventually("an empty room") { ann.participants.isEmpty }
            try await eventually("the handler's end") { await worker.worker.jobCount == 0 }
            await #expect(throws: AdministrationError.refused(status: 404, code: "not_found", message: "the room has no such job")) {
                try await administrator.endJob(job.id, in: "room")
            }
            try await worker.stop()
        }
    }

    @Test func onlyAdministratorsDispatch() async throws {
        try await WorkerGateway.run { node in
            for administrator in [try node.administrator(of: "another room"), try node.administrator(of: "")] {
                await #expect(throws: AdministrationError.self) { try await administrator.dispatch("helper", to: "room") }
                await #expect(throws: AdministrationError.self) { try await administrator.jobs(in: "room") }
            }
            #expect(try await node.administrator(of: nil).jobs(in: "room").isEmpty)
        }
    }

    @Test func jobWithoutWorkerWaitsForOne() async throws {
        try await WorkerGateway.run { node in
            try await node.administrator().dispatch("helper", to: "room")
            try await node.job(.pending)
            let worker = try await TestWorker(node).registered()
            try await node.job(.running)
            try await worker.stop()
        }
    }
}

struct DispatchRuleTests {
    @Test(arguments: [
        ("support-*", "support-1", true), ("support-*", "support-", true), ("support-*", "my-support-1", false), ("*", "", true),
        ("*", "anything", true), ("a*b*c", "a-b-c", true), ("a*b*c", "a-c-b", false), ("a*a", "a", false), ("a*a", "aa", true),
        ("room", "room", true), ("room", "room1", false), ("*-de", "x-de", true), ("a**b", "ab", true),
    ])
    func starStandsForAnyText(_ pattern: String, _ name: String, matches: Bool) {
        #expect(DispatchRule(room: pattern, assistant: "a").matches(name) == matches)
    }
}
