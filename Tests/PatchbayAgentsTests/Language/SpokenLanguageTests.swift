import Foundation
import Testing
import Wire

@testable import PatchbayAgents

/// The speech of an assistant in a conversation whose language differs from its own.
@Suite(.timeLimit(.minutes(5)))
struct SpokenLanguageTests {
    private static let definition = AssistantDefinition(
        id: "test", greetings: ["Welcome."],
        tools: [AssistantTool(name: "find_book", url: "https://shop.example/find")])
    private static let german = AssistantPhrases(language: "de")

    private struct BrokenTools: ToolRunner {
        func run(_ call: ToolCall, of tool: AssistantTool) async -> ToolOutcome { .failed(message: "It is closed.", retry: true) }
    }

    private static func engines(
        _ responder: ScriptedResponder, languages: EngineLanguages = EngineLanguages(),
        recognizer: ScriptedRecognizer = ScriptedRecognizer([])
    ) -> AgentEngines {
        AgentEngines(
            detector: LevelDetectors(), recognizer: recognizer, responder: responder, synthesizer: ToneSynthesizer(), tools: BrokenTools(),
            languages: languages)
    }

    private static func call(_ engines: AgentEngines, language: String = "de-AT", log: NotedLog = NotedLog()) -> FakeCall {
        FakeCall(engines, definition: definition, preferences: SpeechPreferences(language: language), logger: log.logger)
    }

    private static func spoken(in call: FakeCall) -> [String] { segments(in: call).map(\.text) }

    private static func segments(in call: FakeCall) -> [TranscriptSegment] {
        call.room.current.segments.filter { $0.role == .assistant && $0.spoken == .completed }
    }

    @Test func greetingQuestionApologyAndFailedToolAreGerman() async throws {
        let responder = ScriptedResponder { conversation in
            switch conversation.messages.last {
            case .user("Suche Emma."): [.toolCall(ToolCall(id: "t1", name: "find_book", arguments: "{}"))]
            case .user: throw ProviderError(.unavailable, "scripted")
            default: []
            }
        }
        let call = Self.call(Self.engines(responder))
        let greeting = "Hallo, Alice. Wie kann ich helfen?"
        try await call.run {
            try await call.until { Self.spoken(in: call) == [greeting] }
            await call.pipeline.take(.text(FakeRoom.user, "Suche Emma."))
            try await call.until { Self.spoken(in: call) == [greeting, Self.german.toolFailed] }
            await call.pipeline.take(.text(FakeRoom.user, "Und jetzt?"))
            try await call.until { Self.spoken(in: call) == [greeting, Self.german.toolFailed, Self.german.apology] }
            try await call.until(.seconds(600)) { Self.spoken(in: call).contains(Self.german.question) }
        }
        #expect(Self.segments(in: call).allSatisfy { $0.language == "de-AT" })
        #expect(responder.conversations.allSatisfy { $0.language == "de-AT" })
        let cards = call.room.current.messages.compactMap { if case .card(let card) = $0 { card } else { nil } }
        #expect(cards.first?.actions.map(\.title) == ["Noch einmal versuchen"] && cards.first?.body == "It is closed.")
        #expect(!call.room.current.messages.contains { if case .languageLimited = $0 { true } else { false } })
    }

    @Test func whatWasNotUnderstoodIsAskedForInGerman() async throws {
        let recognizer = ScriptedRecognizer([], fails: true)
        let call = Self.call(Self.engines(ScriptedResponder { _ in [] }, recognizer: recognizer))
        try await call.run {
            try await call.until { !Self.spoken(in: call).isEmpty }
            let next = try await call.says(for: .zero, thenSilence: .milliseconds(900), from: 0)
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(900), from: next)
            try await call.until { Self.spoken(in: call).last == Self.german.notUnderstood }
        }
    }

    @Test func aResponderThatTellsOfTheFailureIsEnough() async throws {
        let responder = ScriptedResponder { conversation in
            if case .user = conversation.messages.last { return [.toolCall(ToolCall(id: "t1", name: "find_book", arguments: "{}"))] }
            return [.text("Der Laden ist zu.")]
        }
        let call = Self.call(Self.engines(responder))
        try await call.run {
            try await call.until { Self.spoken(in: call).count == 1 }
            await call.pipeline.take(.text(FakeRoom.user, "Suche Emma."))
            try await call.until { Self.spoken(in: call).last == "Der Laden ist zu." }
            try await call.wait(.milliseconds(500))
        }
        #expect(!Self.spoken(in: call).contains(Self.german.toolFailed))
    }

    @Test func embeddedEnginesSayAtTheStartThatTheySpeakEnglish() async throws {
        let log = NotedLog()
        let responder = ScriptedResponder { _ in [.text("Yes.")] }
        let call = Self.call(Self.engines(responder, languages: EngineLanguages(of: AssistantProviders())), log: log)
        try await call.run {
            try await call.until { Self.spoken(in: call) == ["Welcome. \(AssistantPhrases().speaksOnlyEnglish)"] }
            await call.pipeline.take(.userJoined(Identity(text: "bob"), name: "Bob"))
            await call.pipeline.take(.text(FakeRoom.user, "Hallo."))
            try await call.until { Self.spoken(in: call).last == "Yes." }
        }
        let limit = AssistantMessage.languageLimited(LanguageLimit(language: "de-AT", spoken: "en", understood: "en"))
        #expect(call.room.current.messages.filter { $0 == limit }.count == 2, "each user's client learns of it")
        #expect(log.lines == ["The chosen language is beyond the assistant's engines"])
        #expect(responder.conversations.map(\.language) == ["en"])
        #expect(Self.segments(in: call).allSatisfy { $0.language == "en" })
        #expect(Self.spoken(in: call).filter { $0.contains(AssistantPhrases().speaksOnlyEnglish) }.count == 1)
    }
}
