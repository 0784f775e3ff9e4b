import Backend
import Engine
import PatchbayClient
import Testing
import Wire

@testable import PatchbayAgents

/// Assistants that the gateway does not define, and definitions that an agent does not accept.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct UnknownAssistantTests {
    private static let assistants = AssistantDirectory(configured: [AssistantDefinition(id: "helper"), AssistantDefinition(id: "robin")])

    private func run(_ body: @Sendable (WorkerGateway) async throws -> Void) async throws {
        try await WorkerGateway.run(
            definition: { Self.assistants.definition($0) }, definedAssistants: { Self.assistants.ids }, body)
    }

    @Test func dispatchOfAnUnknownAssistantNamesTheKnownOnes() async throws {
        try await run { node in
            let worker = try await TestWorker(node, "mine").registered()
            let message = """
                there is no assistant "robyn"; use one of default, helper, mine, robin, or define it in `assistants` of the configuration
                """
            await #expect(throws: AdministrationError.refused(status: 404, code: "assistant_not_found", message: message)) {
                try await node.administrator().dispatch("robyn", to: "room")
            }
            #expect(try await node.administrator().jobs(in: "room").isEmpty)
            try await worker.stop()
        }
    }

    @Test func assistantWithoutDefinitionIsKnownOnceItHadAWorker() async throws {
        try await run { node in
            let worker = try await TestWorker(node, "mine").registered()
            try await worker.stop()
            try await eventually("its end") { node.counters.sizes.workers == 0 }
            #expect(try await node.administrator().dispatch("mine", to: "room").status == .pending)
        }
    }

    @Test func workerThatNeedsADefinitionIsRefusedWithoutOne() async throws {
        try await run { node in
            let settings = AgentWorkerSettings(url: node.url, assistant: "robyn", options: WorkerGateway.options, needsDefinition: true)
            let worker = AgentWorker(settings: settings, tokens: { try WorkerGateway.assistantToken("robyn") }, handler: { _ in })
            async let isRegistered = worker.registered()
            let failure = await #expect(throws: RequestFailure.self) { try await worker.run() }
            #expect(failure?.description.contains("there is no assistant \"robyn\"; use one of default, helper, robin,") == true)
            #expect(await !isRegistered)
        }
    }

    @Test func workerIsRegisteredOnlyWhenTheGatewayHasAdmittedIt() async throws {
        try await run { node in
            let settings = AgentWorkerSettings(url: node.url, assistant: "robin", options: WorkerGateway.options, needsDefinition: true)
            let worker = AgentWorker(settings: settings, tokens: { try WorkerGateway.assistantToken("robin") }, handler: { _ in })
            let running = Task { try await worker.run() }
            #expect(await worker.registered())
            #expect(node.counters.sizes.workers == 1)
            running.cancel()
            _ = await running.result
            // The second caller is answered at once.
            #expect(await worker.registered())
        }
    }

    @Test(arguments: ["PATCHBAY_API_SECRET", "HOME", "LLM_KEY"])
    func definitionThatNamesASecretOfTheProcessFailsItsJobs(_ name: String) async throws {
        let foreign = ProviderSettings(baseUrl: "https://foreign.example/v1", apiKeyEnv: name, model: "m")
        let assistants = AssistantDirectory(configured: [
            AssistantDefinition(id: "greedy", providers: AssistantProviders(responder: foreign)), AssistantDefinition(id: "helper"),
        ])
        let engines = EmbeddedEngines(
            detector: LevelDetectors(), recognizer: ScriptedRecognizer([]), synthesizer: ToneSynthesizer(), secrets: ["OTHER": "secret"])
        try await WorkerGateway.run(definition: { assistants.definition($0) }) { node in
            let agent = VoiceAgent(engines: engines, tokens: { try WorkerGateway.assistantToken("greedy") })
            let worker = try await TestWorker(node, "greedy", handler: { try await agent.converse($0) }).registered()
            try await node.administrator().dispatch("greedy", to: "room")
            let job = try await node.job(.failed)
            #expect(job.error?.contains("api_key_env") == true && job.error?.contains(name) == true, "\(job.error ?? "")")
            // The process goes on.
            #expect(await worker.worker.isRegistered)
            try await worker.stop()
        }
    }
}
