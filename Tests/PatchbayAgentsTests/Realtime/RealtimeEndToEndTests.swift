import Testing
import Wire

@testable import PatchbayAgents

/// A pipeline with `OpenAIRealtime` and the emulator of the contract tests.
@Suite(.timeLimit(.minutes(5)))
struct RealtimeEndToEndTests {
    private struct Weather: ToolRunner {
        func run(_ call: ToolCall, of tool: AssistantTool) async -> ToolOutcome { .result("21 degrees") }
    }

    private static func call(_ model: String, hearing texts: [String] = []) async throws -> FakeCall {
        let port = try await OpenAIEmulator.shared().port
        let settings = ProviderSettings(
            baseUrl: "ws://127.0.0.1:\(port)/v1", apiKeyEnv: "KEY", model: model,
            timeoutMs: model == "fault-hang" ? 3_000 : 15_000, retries: 0)
        let engines = AgentEngines(
            detector: LevelDetectors(), recognizer: ScriptedRecognizer(texts), responder: ScriptedResponder { _ in [] },
            synthesizer: ToneSynthesizer(), tools: Weather(), realtime: try OpenAIRealtime(settings, secrets: ["KEY": "key"]))
        let parameters = #"{"type":"object","properties":{"city":{"type":"string"}}}"#
        let tool = AssistantTool(name: "get_weather", description: "The weather.", parameters: parameters, url: "https://tools.test")
        return FakeCall(
            engines, definition: AssistantDefinition(id: "test", greetings: ["Welcome, {name}."], tools: [tool]), isRealTime: true)
    }

    private static func spoken(_ call: FakeCall) -> [String] {
        call.room.current.segments.filter { $0.role == .assistant && $0.spoken == .completed }.map(\.text)
    }

    @Test(arguments: ["ok", "beta"]) func aSpokenTurnATypedOneAndATool(_ model: String) async throws {
        let call = try await Self.call(model, hearing: ["What time is it?"])
        try await call.run {
            try await call.until { Self.spoken(call).count == 1 }
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
            try await call.until { Self.spoken(call).count == 2 }
            await call.pipeline.take(.text(FakeRoom.user, "the weather"))
            try await call.until { Self.spoken(call).count == 3 }
        }
        let spoken = Self.spoken(call)
        #expect(spoken[0] == "Welcome, Alice." && spoken[2] == "The tool says 21 degrees.")
        let heard = try #require(spoken[1].wholeMatch(of: /You said (\d+) ms\./).flatMap { Int($0.1) })
        #expect((900...2_500).contains(heard), "\(heard) ms")
        #expect(!call.room.current.states.contains(.error))
    }

    @Test func theServerForgetsWhatAnInterruptedUserDidNotHear() async throws {
        // The server repeats it: 8 s of audio, at half of real time.
        let request = Array(repeating: "Count to one hundred, slowly please.", count: 11).joined(separator: " ")
        let call = try await Self.call("slow")
        try await call.run {
            try await call.until { Self.spoken(call).count == 1 }
            await call.pipeline.take(.text(FakeRoom.user, request))
            try await call.until { call.room.current.segments.last?.text.hasPrefix("You said") == true && call.room.isPlaying }
            try await call.wait(.milliseconds(900))
            await call.pipeline.take(.text(FakeRoom.user, "What did I hear?"))
            try await call.until { Self.spoken(call).count == 2 }
        }
        let answer = Self.spoken(call)[1]
        let heard = try #require(answer.wholeMatch(of: /You heard (\d+) ms\./).flatMap { Int($0.1) }, "\(answer)")
        #expect((100...8_000).contains(heard), "\(heard) ms")
        let log = await call.pipeline.responding.log.messages
        guard log.count == 5, case .assistant(let text, _) = log[2] else {
            Issue.record("\(log)")
            return
        }
        #expect("You said \(request).".hasPrefix(text) && text.count < request.count, "remembered: \(text)")
        #expect(!call.room.current.states.contains(.error))
    }

    @Test(arguments: ["fault-truncated", "fault-malformed-json", "fault-failed-response", "fault-404", "fault-hang"])
    func whateverFailsEndsInAnApology(_ model: String) async throws {
        let call = try await Self.call(model)
        try await call.run {
            try await call.until { Self.spoken(call).count == 1 }
            await call.pipeline.take(.text(FakeRoom.user, "hello"))
            try await call.until { Self.spoken(call).count == 2 }
        }
        #expect(Self.spoken(call)[1] == AssistantPhrases().apology)
        #expect(call.room.current.states.contains(.error))
    }
}
