import Logging
import Testing
import Wire

@testable import PatchbayAgents

/// What the assistant says on its own accord: greetings and the onboarding.
@Suite(.timeLimit(.minutes(5)))
struct OpeningStoryTests {
    private static let script = ["This is a shop.", "Ask me for a book.", "Say goodbye when you are done."]

    private static func engines(
        hearing texts: [String] = [], synthesizer: any SpeechSynthesizer = ToneSynthesizer(), cache: SpeechCache = SpeechCache(),
        _ responder: ScriptedResponder = ScriptedResponder { _ in [.text("Yes.")] }
    ) -> AgentEngines {
        AgentEngines(
            detector: LevelDetectors(), recognizer: ScriptedRecognizer(texts), responder: responder, synthesizer: synthesizer,
            announcer: CachedSynthesizer(synthesizer: synthesizer, provider: nil, cache: cache))
    }

    private static func askForOnboarding(in call: FakeCall) async throws {
        let message = try AssistantMessage.onboardingStart.payload()
        await call.pipeline.take(.data(FakeRoom.user, topic: AssistantMessage.topic, text: message))
    }

    /// What was spoken to its end, in order.
    private static func spoken(in call: FakeCall) -> [String] {
        call.room.current.segments.filter { $0.spoken == .completed }.map(\.text)
    }

    private static func answers(in call: FakeCall) -> [AssistantMessage] {
        call.room.current.messages.filter { if case .onboardingFinished = $0 { true } else { false } }
    }

    // MARK: Greetings

    @Test func aPreparedGreetingNeedsNoSynthesis() async throws {
        let cache = SpeechCache()
        let definition = AssistantDefinition(id: "test", greetings: ["Welcome to the shop."])
        let ready = CachedSynthesizer(synthesizer: ToneSynthesizer(), provider: nil, cache: cache)
        await GreetingPreparation(synthesizer: ready, localAfter: .zero, logger: Logger(label: "test")).prepare(definition)

        let synthesizer = NotingSynthesizer(fails: true)
        let call = FakeCall(Self.engines(synthesizer: synthesizer, cache: cache), definition: definition)
        try await call.run {
            try await call.until { Self.spoken(in: call) == ["Welcome to the shop."] }
        }
        #expect(synthesizer.texts.isEmpty)
        #expect(call.room.current.segments.last?.words?.map(\.text) == ["Welcome", "to", "the", "shop."])
    }

    @Test func aGreetingIsSynthesizedOnceForEachName() async throws {
        let synthesizer = NotingSynthesizer()
        let cache = SpeechCache()
        let definition = AssistantDefinition(id: "test", greetings: ["Hi {name}. Welcome."])
        for _ in 1...2 {
            let call = FakeCall(Self.engines(synthesizer: synthesizer, cache: cache), definition: definition)
            try await call.run {
                try await call.until { Self.spoken(in: call) == ["Hi Alice. Welcome."] }
            }
        }
        #expect(synthesizer.texts == ["Hi Alice.", "Welcome."])
    }

    @Test func aSlowPreparationDelaysNoGreeting() async throws {
        struct SlowClips: SpeechClipSource {
            func clip(of text: String, voice: String) async throws -> [SynthesizedSpeech] {
                try await Task.sleep(for: .seconds(3_600))
                return []
            }
        }
        let cache = SpeechCache()
        let definition = AssistantDefinition(id: "test", greetings: ["Welcome."])
        let synthesizer = CachedSynthesizer(synthesizer: ToneSynthesizer(), provider: nil, cache: cache)
        let preparing = Task {
            await GreetingPreparation(synthesizer: synthesizer, clips: SlowClips(), logger: Logger(label: "test")).prepare(definition)
        }
        let call = FakeCall(Self.engines(cache: cache), definition: definition)
        try await call.run {
            try await call.until { Self.spoken(in: call) == ["Welcome."] }
        }
        preparing.cancel()
        await preparing.value
    }

    @Test func aSecondUserIsNotGreeted() async throws {
        let call = FakeCall(Self.engines(), definition: AssistantDefinition(id: "test", greetings: ["Hi {name}."]))
        try await call.run {
            await call.pipeline.take(.userJoined(Identity(text: "bob"), name: "Bob"))
            try await call.until { !Self.spoken(in: call).isEmpty }
            try await call.wait(.milliseconds(300))
        }
        #expect(Self.spoken(in: call) == ["Hi Alice."] && call.room.current.states.filter { $0 == .speaking }.count == 1)
    }

    // MARK: Onboarding

    @Test func theOnboardingFollowsTheGreetingOnce() async throws {
        let definition = AssistantDefinition(id: "test", greetings: ["Hi {name}."], onboarding: Self.script)
        let call = FakeCall(Self.engines(), definition: definition)
        try await call.run {
            for _ in 1...2 { try await Self.askForOnboarding(in: call) }
            try await call.until { Self.answers(in: call) == [.onboardingFinished(completed: true)] }
            try await Self.askForOnboarding(in: call)
            try await call.until { Self.answers(in: call).count == 2 }
            try await call.wait(.milliseconds(300))
        }
        #expect(Self.spoken(in: call) == ["Hi Alice.", Self.script.joined(separator: " ")])
        #expect(Self.answers(in: call).last == .onboardingFinished(completed: true))
    }

    @Test func anInterruptedOnboardingIsReportedAsIncomplete() async throws {
        let responder = ScriptedResponder { _ in [.text("Here is Emma.")] }
        let definition = AssistantDefinition(id: "test", onboarding: Self.script)
        let call = FakeCall(Self.engines(hearing: ["Give me Emma."], responder), definition: definition)
        try await call.run {
            try await Self.askForOnboarding(in: call)
            try await call.until { call.room.isPlaying }
            let next = try await call.says(for: .zero, thenSilence: .milliseconds(900), from: 0)
            _ = try await call.says(for: .milliseconds(800), thenSilence: .milliseconds(900), from: next)
            try await call.until { Self.spoken(in: call) == ["Here is Emma."] }
        }
        #expect(Self.answers(in: call) == [.onboardingFinished(completed: false)])
        // The responder knows what was heard of it.
        let remembered = try #require(responder.conversations.last?.messages)
        guard case .assistant(let heard, _)? = remembered.first else {
            Issue.record("remembered: \(remembered)")
            return
        }
        #expect(heard.hasPrefix("This is a") && !heard.contains("done") && remembered.last == .user("Give me Emma."))
    }

    @Test func aFalseStartDoesNotEndTheOnboarding() async throws {
        let call = FakeCall(Self.engines(hearing: [""]), definition: AssistantDefinition(id: "test", onboarding: Self.script))
        try await call.run {
            try await Self.askForOnboarding(in: call)
            try await call.until { call.room.isPlaying }
            let next = try await call.says(for: .zero, thenSilence: .milliseconds(900), from: 0)
            _ = try await call.says(for: .milliseconds(400), thenSilence: .milliseconds(600), from: next)
            try await call.until { !Self.answers(in: call).isEmpty }
        }
        #expect(call.room.current.clears == 1 && Self.answers(in: call) == [.onboardingFinished(completed: true)])
    }

    @Test func anOnboardingThatCannotBeSpokenIsReportedAsIncomplete() async throws {
        let definition = AssistantDefinition(id: "test", onboarding: Self.script)
        let call = FakeCall(Self.engines(synthesizer: ToneSynthesizer(fails: true)), definition: definition)
        try await call.run {
            try await Self.askForOnboarding(in: call)
            try await call.until { Self.answers(in: call) == [.onboardingFinished(completed: false)] }
        }
    }

    @Test func anAssistantWithoutOnboardingAnswersAtOnce() async throws {
        let call = FakeCall(Self.engines())
        try await call.run {
            try await Self.askForOnboarding(in: call)
            try await call.until { Self.answers(in: call) == [.onboardingFinished(completed: false)] }
        }
        #expect(!call.room.current.states.contains(.speaking))
    }
}
