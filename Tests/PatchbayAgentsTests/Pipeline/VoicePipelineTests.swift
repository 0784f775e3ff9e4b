import Synchronization
import Testing
import Wire

@testable import PatchbayAgents

@Suite(.timeLimit(.minutes(5)))
struct VoicePipelineTests {
    private static func engines(
        hearing texts: [String], synthesizer: ToneSynthesizer = ToneSynthesizer(), tools: any ToolRunner = NoTools(),
        _ responder: ScriptedResponder
    ) -> AgentEngines {
        AgentEngines(
            detector: LevelDetectors(), recognizer: ScriptedRecognizer(texts), responder: responder, synthesizer: synthesizer, tools: tools)
    }

    @Test func aQuestionIsAnswered() async throws {
        let responder = ScriptedResponder { _ in [.text("It is three o'clock. "), .text("Time for tea.")] }
        let call = FakeCall(Self.engines(hearing: ["What time is it?"], responder))
        try await call.run {
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
            try await call.until { call.room.current.segments.last?.spoken == .completed }
        }
        let segments = call.room.current.segments
        #expect(segments.filter { $0.role == .user && $0.final }.map(\.text) == ["What time is it?"])
        let spoken = try #require(segments.last)
        #expect(spoken.text == "It is three o'clock. Time for tea." && spoken.final && spoken.spokenChars == 34)
        #expect(spoken.words?.map(\.text) == ["It", "is", "three", "o'clock.", "Time", "for", "tea."])
        let starts = spoken.words?.map(\.startTs) ?? []
        #expect(starts == starts.sorted() && starts.first == spoken.startTs)
        #expect(call.room.current.states == [.listening, .thinking, .speaking, .listening])
        #expect(responder.conversations.map(\.messages) == [[.user("What time is it?")]])
        let metrics = call.room.current.messages.compactMap { if case .turnMetrics(let metrics) = $0 { metrics } else { nil } }
        #expect(metrics.count == 1 && metrics[0].voiceToVoiceMs ?? 0 > 200)
    }

    @Test func anInterruptedAnswerIsRememberedAsHeard() async throws {
        let responder = ScriptedResponder { conversation in
            conversation.messages.count == 1
                ? [.text("One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen.")] : [.text("Stopped.")]
        }
        let call = FakeCall(Self.engines(hearing: ["Count to fifteen.", "Stop that now."], responder))
        try await call.run {
            let next = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(1_500), from: 0)
            _ = try await call.says(for: .milliseconds(800), thenSilence: .milliseconds(1_500), from: next)
            try await call.until { responder.conversations.count == 2 }
        }
        #expect(call.room.current.clears == 1)
        let remembered = try #require(responder.conversations.last?.messages)
        guard remembered.count == 3, case .assistant(let heard, _) = remembered[1] else {
            Issue.record("remembered: \(remembered)")
            return
        }
        #expect("One two three four five six seven eight nine ten eleven".hasPrefix(heard) && heard.hasPrefix("One two three"))
        #expect(remembered[2] == .user("Stop that now."))
    }

    @Test func bothHalvesOfASentenceCutAtAPauseAreRecognizedTogether() async throws {
        let responder = ScriptedResponder { _ in [.text("One two three four five six seven eight nine ten.")] }
        let recognizer = ScriptedRecognizer(["Ask not what your country can do.", "Ask not what your country can do for you."])
        let call = FakeCall(
            AgentEngines(detector: LevelDetectors(), recognizer: recognizer, responder: responder, synthesizer: ToneSynthesizer()))
        try await call.run {
            let next = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(450), from: 0)
            _ = try await call.says(for: .milliseconds(800), thenSilence: .milliseconds(1_000), from: next)
            try await call.until { responder.conversations.count == 2 }
        }
        // The halves, and a part of the pause.
        let length = try #require(recognizer.lengths.last)
        #expect(length >= .milliseconds(1_800), "recognized \(length)")
        #expect(responder.conversations.last?.messages.last == .user("Ask not what your country can do for you."))
        #expect(call.room.current.segments.filter { $0.role == .user }.map(\.id).allSatisfy { $0.hasPrefix("u1-") })
    }

    @Test func aReportOfEarlierFramesDoesNotEndTheAnswer() async throws {
        let responder = ScriptedResponder { _ in [.text("One two three four five six seven eight nine ten.")] }
        let call = FakeCall(Self.engines(hearing: [], responder))
        try await call.run {
            await call.pipeline.take(.text(FakeRoom.user, "Count."))
            try await call.until { call.room.isPlaying && call.room.current.states.last == .speaking }
            let start = try #require(call.room.current.playing.first?.time)
            await call.pipeline.take(.playoutFinished(start.advanced(by: 960)))
            try await call.wait(.milliseconds(200))
            #expect(call.room.current.states.last == .speaking)
            try await call.until { call.room.current.segments.last?.spoken == .completed }
            #expect(!call.room.isPlaying, "the answer ends with its last frame")
        }
    }

    @Test func afterAFalseStartTheAnswerContinuesWhereItStopped() async throws {
        let words = (1...20).map { "word\($0)" }
        let responder = ScriptedResponder { _ in [.text(words.joined(separator: " ") + ".")] }
        let call = FakeCall(Self.engines(hearing: ["Say many words.", ""], responder))
        try await call.run {
            let next = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(1_400), from: 0)
            _ = try await call.says(for: .milliseconds(400), thenSilence: .milliseconds(600), from: next)
            try await call.until { call.room.current.segments.last?.spoken == .completed }
        }
        let state = call.room.current
        #expect(state.clears == 1 && responder.conversations.count == 1)
        let played = state.played.reduce(0) { $0 + $1.ticks }
        #expect(abs(played - 20 * 9_600) <= 3 * 960, "played \(played / 48) ms of 4000 ms")
        let parts = state.segments.filter { $0.role == .assistant && $0.final }
        #expect(Set(parts.map(\.id)).count == 2)
        let rest = try #require(parts.last?.text.split(separator: " "))
        #expect(rest.last == "word20." && rest.count < 20 && rest.count > 3)
    }

    @Test func aFailingResponderIsApologizedFor() async throws {
        let responder = ScriptedResponder { _ in throw ProviderError(.overloaded, "scripted") }
        let call = FakeCall(Self.engines(hearing: ["Hello there."], responder))
        try await call.run {
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
            try await call.until { call.room.current.segments.last?.spoken == .completed }
        }
        #expect(call.room.current.segments.last?.text == AssistantPhrases().apology)
        #expect(call.room.current.states == [.listening, .thinking, .error, .speaking, .listening])
    }

    @Test func aFailingSynthesizerEndsInTheErrorState() async throws {
        let responder = ScriptedResponder { _ in [.text("Hello.")] }
        let call = FakeCall(Self.engines(hearing: ["Hello there."], synthesizer: ToneSynthesizer(fails: true), responder))
        try await call.run {
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(1_200), from: 0)
            try await call.until { call.room.current.states.last == .error }
        }
        #expect(call.room.current.states == [.listening, .thinking, .error])
    }

    @Test func toolsAreRunAndTheirResultIsSpoken() async throws {
        struct Weather: ToolRunner {
            func run(_ call: ToolCall, of tool: AssistantTool) async -> ToolOutcome { .result("sunny in \(call.arguments)") }
        }
        let responder = ScriptedResponder { conversation in
            guard case .toolResult(_, let result)? = conversation.messages.last else {
                return [.text("One moment."), .toolCall(ToolCall(id: "c1", name: "weather", arguments: "Oslo"))]
            }
            return [.text("It is \(result).")]
        }
        let definition = AssistantDefinition(id: "test", tools: [AssistantTool(name: "weather", url: "https://tools.example/weather")])
        let call = FakeCall(Self.engines(hearing: ["Weather in Oslo?"], tools: Weather(), responder), definition: definition)
        try await call.run {
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
            try await call.until { call.room.current.segments.last?.spoken == .completed }
        }
        #expect(call.room.current.segments.last?.text == "One moment. It is sunny in Oslo.")
        let tools = call.room.current.messages.filter { if case .turnMetrics = $0 { false } else { true } }
        #expect(tools == [.toolStarted(id: "c1", name: "weather"), .toolFinished(id: "c1", name: "weather")])
    }

    @Test func theAssistantGreetsByName() async throws {
        let responder = ScriptedResponder { _ in [.text("Hello.")] }
        let definition = AssistantDefinition(id: "test", greetings: ["Welcome, {name}."])
        let call = FakeCall(Self.engines(hearing: [], responder), definition: definition)
        try await call.run {
            try await call.until { call.room.current.segments.last?.spoken == .completed }
        }
        #expect(call.room.current.segments.last?.text == "Welcome, Alice.")
    }

    @Test func aFailedToolIsTriedAgainFromItsCard() async throws {
        final class Flaky: ToolRunner {
            let calls = Mutex(0)

            func run(_ call: ToolCall, of tool: AssistantTool) async -> ToolOutcome {
                calls.withLock { calls in
                    calls += 1
                    return calls
                } == 1 ? .failed(message: "no line", retry: true) : .result("sunny")
            }
        }
        let responder = ScriptedResponder { conversation in
            switch conversation.messages.last {
            case .toolResult(_, let result)?: [.text("It says \(result).")]
            default: [.toolCall(ToolCall(id: "c\(conversation.messages.count)", name: "get_weather", arguments: "{}"))]
            }
        }
        let definition = AssistantDefinition(id: "test", tools: [AssistantTool(name: "get_weather", url: "https://tools.example/weather")])
        let call = FakeCall(Self.engines(hearing: [], tools: Flaky(), responder), definition: definition)
        try await call.run {
            await call.pipeline.take(.text(FakeRoom.user, "What's the weather?"))
            try await call.until { call.room.current.segments.last?.spoken == .completed }
            let card = try #require(call.room.current.messages.compactMap { if case .card(let card) = $0 { card } else { nil } }.last)
            #expect(card.kind == .error && card.title == "get weather" && card.body == "no line")
            let choice = try AssistantMessage.cardAction(CardAction(card: card.id, action: "retry")).payload()
            await call.pipeline.take(.data(FakeRoom.user, topic: AssistantMessage.topic, text: choice))
            try await call.until { call.room.current.segments.last?.text == "It says sunny." }
        }
        #expect(responder.conversations.last?.messages.contains(.user("Try again: get weather")) == true)
    }
}
