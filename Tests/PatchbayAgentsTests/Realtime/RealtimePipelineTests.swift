import Testing
import Wire

@testable import PatchbayAgents

/// Calls whose responses a realtime provider speaks.
@Suite(.timeLimit(.minutes(5)))
struct RealtimePipelineTests {
    private static func call(
        hearing texts: [String] = [], _ realtime: ScriptedRealtime, tools: any ToolRunner = NoTools(),
        definition: AssistantDefinition = AssistantDefinition(id: "test", instructions: "Be brief.", voice: "nova")
    ) -> FakeCall {
        let responder = ScriptedResponder { _ in
            Issue.record("the responder must not be asked")
            return []
        }
        return FakeCall(
            AgentEngines(
                detector: LevelDetectors(), recognizer: ScriptedRecognizer(texts), responder: responder, synthesizer: ToneSynthesizer(),
                tools: tools, realtime: realtime),
            definition: definition)
    }

    private static func spoken(_ call: FakeCall) -> [String] {
        call.room.current.segments.filter { $0.role == .assistant && $0.spoken == .completed }.map(\.text)
    }

    /// The lengths of the utterances that were committed.
    private static func speech(to realtime: ScriptedRealtime) -> [Int] {
        realtime.requests.compactMap { if case .speech(let milliseconds) = $0 { milliseconds } else { nil } }
    }

    private struct Truncation: Hashable {
        var item: String
        var milliseconds: Int
    }

    private static func truncations(of realtime: ScriptedRealtime) -> [Truncation] {
        realtime.requests.compactMap { request in
            guard case .truncate(let item, let played) = request else { return nil }
            return Truncation(item: item, milliseconds: Int(played.inMilliseconds))
        }
    }

    @Test func aQuestionIsHeardAndAnsweredByTheProvider() async throws {
        let realtime = ScriptedRealtime([.speaks(item: "a", "It is three o'clock."), .speaks(item: "b", "Time for tea.")])
        let call = Self.call(hearing: ["What time is it?"], realtime)
        try await call.run {
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
            try await call.until { !Self.spoken(call).isEmpty }
        }
        let room = call.room.current
        #expect(room.segments.filter { $0.role == .user && $0.final }.map(\.text) == ["What time is it?"])
        #expect(Self.spoken(call) == ["It is three o'clock. Time for tea."])
        #expect(room.states == [.listening, .thinking, .speaking, .listening])
        let heard = Self.speech(to: realtime)
        #expect(heard.count == 1 && (900...1_700).contains(heard[0]), "the provider heard \(heard) ms")
        #expect(realtime.requests.filter { if case .speech = $0 { false } else { true } } == [.open, .respond, .close])
        let configuration = try #require(realtime.configurations.first)
        #expect(configuration.instructions == "Be brief." && configuration.voice == "nova" && configuration.userName == "Alice")
        let metrics = room.messages.compactMap { if case .turnMetrics(let metrics) = $0 { metrics } else { nil } }
        #expect(metrics.first?.firstTokenMs != nil && metrics.first?.firstAudioMs != nil)
    }

    @Test func theProviderForgetsWhatAnInterruptedUserDidNotHear() async throws {
        let words = (1...15).map { "word\($0)" }
        let realtime = ScriptedRealtime([.speaks(item: "a", words.joined(separator: " ") + ".")], [.speaks(item: "b", "Stopped.")])
        let call = Self.call(hearing: ["Count to fifteen.", "Stop that now."], realtime)
        try await call.run {
            let next = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(1_500), from: 0)
            _ = try await call.says(for: .milliseconds(800), thenSilence: .milliseconds(1_500), from: next)
            try await call.until { Self.spoken(call) == ["Stopped."] }
        }
        let truncations = Self.truncations(of: realtime)
        let truncated = try #require(truncations.first)
        let played = try #require(call.room.current.played.first).ticks / 48
        #expect(truncations.count == 1 && truncated.item == "a")
        #expect((played - 20...played).contains(truncated.milliseconds), "\(truncated.milliseconds) ms of \(played) ms played")
        let heard = truncated.milliseconds / 200
        let interrupted = try #require(call.room.current.segments.last { $0.id.hasPrefix("a1-") })
        #expect(interrupted.final && interrupted.text.hasPrefix("word1 word2"))
        let log = await call.pipeline.responding.log.messages
        guard log.count == 4, case .assistant(let text, _) = log[1] else {
            Issue.record("\(log)")
            return
        }
        let count = text.split(separator: " ").count
        #expect(words.joined(separator: " ").hasPrefix(text) && abs(count - heard) <= 1, "\(text), of which \(heard) words were played")
        // The response had ended: there is nothing to cancel.
        #expect(realtime.count(of: .cancel) == 0 && Self.speech(to: realtime).count == 2)
    }

    @Test func aResponseThatIsInterruptedWhileItArrivesIsCancelled() async throws {
        let realtime = ScriptedRealtime(
            [.speaks(item: "a", "One two three four five six seven eight nine ten."), .pauses], [.speaks(item: "b", "Stopped.")])
        let call = Self.call(hearing: [], realtime)
        try await call.run {
            await call.pipeline.take(.text(FakeRoom.user, "Count."))
            try await call.until { call.room.isPlaying }
            try await call.wait(.milliseconds(500))
            await call.pipeline.take(.text(FakeRoom.user, "Stop."))
            try await call.until { Self.spoken(call) == ["Stopped."] }
        }
        let truncations = Self.truncations(of: realtime)
        let truncated = try #require(truncations.first)
        let played = try #require(call.room.current.played.first).ticks / 48
        #expect(truncations.count == 1 && truncated.item == "a" && truncated.milliseconds >= 400)
        #expect((played - 20...played).contains(truncated.milliseconds), "\(truncated.milliseconds) ms of \(played) ms played")
        let requests = realtime.requests.filter { if case .truncate = $0 { false } else { true } }
        #expect(requests == [.open, .user("Count."), .respond, .cancel, .user("Stop."), .respond, .close])
    }

    @Test func afterAFalseStartTheResponseContinuesWhereItStopped() async throws {
        let words = (1...20).map { "word\($0)" }
        let realtime = ScriptedRealtime([.speaks(item: "a", words.joined(separator: " ") + ".")])
        let call = Self.call(hearing: ["Say many words.", ""], realtime)
        try await call.run {
            let next = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(1_400), from: 0)
            _ = try await call.says(for: .milliseconds(400), thenSilence: .milliseconds(600), from: next)
            try await call.until { !Self.spoken(call).isEmpty }
        }
        let room = call.room.current
        let played = room.played.reduce(0) { $0 + $1.ticks }
        #expect(room.clears == 1 && abs(played - 20 * 9_600) <= 3 * 960, "played \(played / 48) ms of 4000 ms")
        #expect(realtime.count(of: .respond) == 1 && Self.truncations(of: realtime).isEmpty && Self.speech(to: realtime).count == 1)
        #expect(Self.spoken(call)[0].hasSuffix("word20."))
    }

    @Test func twoUtterancesOfOneTurnReachTheProviderOnceEach() async throws {
        let realtime = ScriptedRealtime([.pauses], [.speaks(item: "b", "Both understood.")])
        let call = Self.call(hearing: ["First this.", "Then that."], realtime)
        try await call.run {
            let next = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(700), from: 0)
            try await call.until { realtime.count(of: .respond) == 1 }
            _ = try await call.says(for: .milliseconds(1_500), thenSilence: .milliseconds(800), from: next)
            try await call.until { !Self.spoken(call).isEmpty }
        }
        let heard = Self.speech(to: realtime)
        #expect(heard.count == 2 && heard[1] > heard[0], "the provider heard \(heard) ms")
        let requests = realtime.requests.filter { if case .speech = $0 { false } else { true } }
        #expect(requests == [.open, .respond, .cancel, .respond, .close])
        #expect(await call.pipeline.responding.log.messages == [.user("First this.\nThen that."), .assistant("Both understood.")])
    }

    @Test func toolsAreRunAndTheirResultGoesBack() async throws {
        struct Weather: ToolRunner {
            func run(_ call: ToolCall, of tool: AssistantTool) async -> ToolOutcome { .result("sunny in \(call.arguments)") }
        }
        let question = ToolCall(id: "c1", name: "weather", arguments: "Oslo")
        let realtime = ScriptedRealtime(
            [.speaks(item: "a", "One moment."), .event(.toolCall(question))], [.speaks(item: "b", "It is sunny."), .event(.endCall)])
        let definition = AssistantDefinition(id: "test", tools: [AssistantTool(name: "weather", url: "https://tools.example/weather")])
        let call = Self.call(realtime, tools: Weather(), definition: definition)
        try await call.run {
            await call.pipeline.take(.text(FakeRoom.user, "Weather in Oslo?"))
            try await call.until { !Self.spoken(call).isEmpty }
        }
        #expect(Self.spoken(call) == ["One moment. It is sunny."])
        #expect(realtime.configurations.first?.tools.map(\.name) == ["weather"])
        let expected: [ScriptedRealtime.Request] = [
            .open, .user("Weather in Oslo?"), .respond, .result("sunny in Oslo", call: "c1"), .respond, .close,
        ]
        #expect(realtime.requests == expected)
        let messages = call.room.current.messages.filter { if case .turnMetrics = $0 { false } else { true } }
        #expect(messages == [.toolStarted(id: "c1", name: "weather"), .toolFinished(id: "c1", name: "weather")])
    }

    @Test func aSessionLostInMidSpeechIsApologizedForAndTheNextTurnHasTheConversation() async throws {
        let realtime = ScriptedRealtime(
            [.speaks(item: "a", "Hello, how are you?")], [.speaks(item: "b", "One two three four five."), .breaks],
            [.speaks(item: "c", "I am back.")])
        let call = Self.call(realtime)
        try await call.run {
            await call.pipeline.take(.text(FakeRoom.user, "Hello."))
            try await call.until { Self.spoken(call).count == 1 }
            await call.pipeline.take(.text(FakeRoom.user, "Count."))
            try await call.until { Self.spoken(call).count == 2 }
            await call.pipeline.take(.text(FakeRoom.user, "Are you there?"))
            try await call.until { Self.spoken(call).count == 3 }
        }
        #expect(Self.spoken(call) == ["Hello, how are you?", AssistantPhrases().apology, "I am back."])
        #expect(call.room.current.states.contains(.error) && call.room.current.states.last == .listening)
        let second = Array(realtime.requests.drop { $0 != .close }.dropFirst())
        #expect(second.prefix(3) == [.open, .user("Hello."), .assistant("Hello, how are you?")])
        #expect(second.suffix(4) == [.assistant(AssistantPhrases().apology), .user("Are you there?"), .respond, .close])
        #expect(Self.truncations(of: realtime).isEmpty, "the items went with the session")
    }

    @Test func aSessionLostBeforeAnythingWasAudibleIsReplacedUnnoticed() async throws {
        let realtime = ScriptedRealtime([.event(.transcriptDelta(item: "a", "Hel")), .breaks], [.speaks(item: "b", "Hello.")])
        let call = Self.call(hearing: ["Hello there."], realtime)
        try await call.run {
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
            try await call.until { !Self.spoken(call).isEmpty }
        }
        #expect(Self.spoken(call) == ["Hello."] && realtime.count(of: .open) == 2)
        #expect(Self.speech(to: realtime).count == 2, "the new session hears the user, too")
        #expect(!call.room.current.states.contains(.error))
    }

    @Test func aSessionThatCannotBeOpenedIsApologizedForAndTheNextTurnTriesAgain() async throws {
        let realtime = ScriptedRealtime(failures: 2, [.speaks(item: "a", "Hello.")])
        let definition = AssistantDefinition(id: "test", greetings: ["Welcome, {name}."])
        let call = Self.call(realtime, definition: definition)
        try await call.run {
            try await call.until { Self.spoken(call).count == 1 }
            await call.pipeline.take(.text(FakeRoom.user, "Hi."))
            try await call.until { Self.spoken(call).count == 2 }
            await call.pipeline.take(.text(FakeRoom.user, "Hi again."))
            try await call.until { Self.spoken(call).count == 3 }
        }
        #expect(Self.spoken(call) == ["Welcome, Alice.", AssistantPhrases().apology, "Hello."])
        #expect(call.room.current.states.contains(.error))
        let expected: [ScriptedRealtime.Request] = [
            .open, .open, .open, .assistant("Welcome, Alice."), .assistant(AssistantPhrases().apology), .user("Hi again."), .respond,
            .close,
        ]
        #expect(realtime.requests == expected)
    }

    @Test func aProviderThatFailsIsApologizedFor() async throws {
        let failure = ProviderError(.overloaded, "scripted")
        let realtime = ScriptedRealtime([.event(.responseDone(id: "r", .failed(failure)))], [.speaks(item: "b", "Better now.")])
        let call = Self.call(realtime)
        try await call.run {
            await call.pipeline.take(.text(FakeRoom.user, "Hi."))
            try await call.until { Self.spoken(call).count == 1 }
            await call.pipeline.take(.digits(FakeRoom.user, "1"))
            try await call.until { Self.spoken(call).count == 2 }
        }
        #expect(Self.spoken(call) == [AssistantPhrases().apology, "Better now."])
        #expect(realtime.requests.contains(.user("(The user pressed 1 on the keypad.)")))
    }
}
