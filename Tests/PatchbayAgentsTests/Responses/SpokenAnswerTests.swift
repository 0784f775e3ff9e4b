import Logging
import Testing
import Wire

@testable import PatchbayAgents

/// What the synthesizer, the transcript and the model get of an answer with digits and Markdown.
@Suite(.timeLimit(.minutes(5)))
struct SpokenAnswerTests {
    private static func engines(_ synthesizer: NotingSynthesizer, hearing texts: [String] = [], _ responder: ScriptedResponder)
        -> AgentEngines
    {
        AgentEngines(
            detector: LevelDetectors(), recognizer: ScriptedRecognizer(texts), responder: responder, synthesizer: synthesizer)
    }

    @Test func theSynthesizerGetsWordsAndTheTranscriptDigits() async throws {
        let synthesizer = NotingSynthesizer()
        let responder = ScriptedResponder { _ in
            [
                .text("It is **5:38"), .text("**. You owe $3.50, Dr. Smith"),
                .text(".\n\n```text\n- See [our page](https://example.com/x) 🎉\n"),
            ]
        }
        let call = FakeCall(Self.engines(synthesizer, responder))
        try await call.run {
            await call.pipeline.take(.text(FakeRoom.user, "What do I owe?"))
            try await call.until { call.room.current.segments.last?.spoken == .completed }
        }
        #expect(
            synthesizer.texts == [
                "It is five thirty eight.", "You owe three dollars and fifty cents, Doctor Smith.", "See our page.",
            ])
        let segment = try #require(call.room.current.segments.last)
        #expect(segment.text == "It is 5:38. You owe $3.50, Dr. Smith. See our page 🎉.")
        let words = try #require(segment.words)
        #expect(words.map(\.text) == segment.text.split(separator: " ").map(String.init))
        // Five words of 200 ms each.
        #expect(words[5].text == "$3.50," && words[5].endTs &- words[5].startTs == 5 * 9_600)
    }

    @Test func whatWasHeardOfAnAnswerWithNumbersIsExact() async throws {
        // Each number has three spoken words, so that positions in proportion to the written text would be wrong.
        let numbers = (101...115).map(String.init)
        let synthesizer = NotingSynthesizer()
        let responder = ScriptedResponder { conversation in
            [
                .text(
                    conversation.messages.count == 1 ? "Yes " + numbers.joined(separator: " ") + " and many more words follow." : "Stopped."
                )
            ]
        }
        let call = FakeCall(Self.engines(synthesizer, hearing: ["Count.", "Stop that now."], responder))
        try await call.run {
            let next = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(1_500), from: 0)
            _ = try await call.says(for: .milliseconds(800), thenSilence: .milliseconds(1_500), from: next)
            try await call.until { responder.conversations.count == 2 }
        }
        let last = try #require(responder.conversations.last)
        guard last.messages.count == 3, case .assistant(let heard, _) = last.messages[1] else {
            Issue.record("remembered: \(last.messages)")
            return
        }
        // About two seconds were played: "Yes", and three words of 200 ms for each number.
        let count = heard.split(separator: " ").count
        #expect(("Yes " + numbers.joined(separator: " ")).hasPrefix(heard) && 2...6 ~= count, "\(heard)")
        #expect(last.briefing.contains("The last words heard were: \"\(heard)\"."))
        #expect(last.briefing.contains("It is Friday, 27 November 2026, 15:05 (GMT, UTC+00:00)."))
    }

    @Test func aWordWithoutReportedTimeEndsWithTheOthers() async throws {
        /// Reports all words but the last one.
        struct Forgetful: SpeechSynthesizer {
            func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
                .filled { pieces in
                    for try await var piece in ToneSynthesizer().synthesize(text, voice: voice) {
                        piece.words?.removeLast()
                        pieces.yield(piece)
                    }
                }
            }
        }
        let responder = ScriptedResponder { _ in [.text("It is 5:38 now.")] }
        let engines = AgentEngines(
            detector: LevelDetectors(), recognizer: ScriptedRecognizer([]), responder: responder, synthesizer: Forgetful())
        let call = FakeCall(engines)
        try await call.run {
            await call.pipeline.take(.text(FakeRoom.user, "What time is it?"))
            try await call.until { call.room.current.segments.last?.spoken == .completed }
        }
        #expect(call.room.current.segments.last?.words?.map(\.text) == ["It", "is", "5:38", "now."])
    }

    @Test func ownTextsAreSpokenInTheAnnouncedLanguage() async throws {
        let synthesizer = NotingSynthesizer()
        let definition = AssistantDefinition(id: "test", greetings: ["Guten Tag, {name}. Sie haben 21 Nachrichten."], language: "de")
        let call = FakeCall(Self.engines(synthesizer, ScriptedResponder { _ in [.text("Ja.")] }), definition: definition)
        try await call.run {
            try await call.until { call.room.current.segments.last?.spoken == .completed }
        }
        #expect(synthesizer.texts == ["Guten Tag, Alice.", "Sie haben einundzwanzig Nachrichten."])
        #expect(call.room.current.segments.last?.text == "Guten Tag, Alice. Sie haben 21 Nachrichten.")
    }

    @Test func aPreparedGreetingWithDigitsComesFromTheCache() async throws {
        let tones = NotingSynthesizer()
        let definition = AssistantDefinition(id: "test", greetings: ["Open from 9-5 pm."])
        let announcer = CachedSynthesizer(synthesizer: tones, provider: nil, cache: SpeechCache())
        await GreetingPreparation(synthesizer: announcer, localAfter: .zero, logger: Logger(label: "test")).prepare(definition)
        #expect(tones.texts == ["Open from nine to five P M."])
        var engines = Self.engines(NotingSynthesizer(), ScriptedResponder { _ in [.text("Yes.")] })
        engines.announcer = announcer
        let call = FakeCall(engines, definition: definition)
        try await call.run {
            try await call.until { call.room.current.segments.last?.spoken == .completed }
        }
        #expect(tones.texts.count == 1 && call.room.current.segments.last?.text == "Open from 9-5 pm.")
    }
}
