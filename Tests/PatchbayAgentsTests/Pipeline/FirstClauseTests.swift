import Synchronization
import Testing
import Wire

@testable import PatchbayAgents

/// The first clause of a response is spoken by itself, and the transcript does not show it.
@Suite(.timeLimit(.minutes(5)))
struct FirstClauseTests {
    private static let answer = "I looked it up, and the shop closes at six. Bye."

    private static func call(_ synthesizer: any SpeechSynthesizer, saying parts: [String]) -> FakeCall {
        FakeCall(
            AgentEngines(
                detector: LevelDetectors(), recognizer: ScriptedRecognizer(["When does it close?", "Stop that now."]),
                responder: ScriptedResponder { _ in parts.map { .text($0) } }, synthesizer: synthesizer))
    }

    /// Speaks 200 ms for each word, between silences as synthesizers add them.
    private struct PausingSynthesizer: SpeechSynthesizer {
        func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
            let lead = Duration.milliseconds(100)
            let silence = [Int16](repeating: 0, count: 2_400)
            return .filled { pieces in
                for try await speech in ToneSynthesizer().synthesize(text, voice: voice) {
                    var speech = speech
                    speech.samples = silence + speech.samples + silence + silence
                    speech.words = speech.words?.map { TimedWord($0.text, start: $0.start + lead, end: $0.end + lead) }
                    pieces.yield(speech)
                }
            }
        }
    }

    @Test func clausesAreSynthesizedApartAndReadAsOneSentence() async throws {
        let synthesizer = NotingSynthesizer()
        let call = Self.call(synthesizer, saying: [Self.answer])
        try await call.run {
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
            try await call.until { call.room.current.segments.last?.spoken == .completed }
        }
        #expect(synthesizer.texts.prefix(3) == ["I looked it up,", "and the shop closes at six.", "Bye."])
        #expect(call.room.current.segments.last?.text == Self.answer)
        let log = await call.pipeline.update { $0.log.messages }
        #expect(log.last == .assistant(Self.answer))
    }

    @Test func thePauseBetweenClausesIsThatOfAComma() async throws {
        let call = Self.call(PausingSynthesizer(), saying: [Self.answer])
        try await call.run {
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
            try await call.until { call.room.current.segments.last?.spoken == .completed }
        }
        let spoken = try #require(call.room.current.segments.last)
        let words = try #require(spoken.words)
        #expect(words.map(\.text) == Self.answer.split(separator: " ").map(String.init))
        func milliseconds(from: UInt32, to: UInt32) -> Int { Int(to &- from) / 48 }
        #expect(milliseconds(from: spoken.startTs ?? 0, to: words[0].startTs) == 20, "leading silence")
        #expect(milliseconds(from: words[3].endTs, to: words[4].startTs) == 20 + 50 + 20, "between the clauses")
        #expect(milliseconds(from: words[9].endTs, to: words[10].startTs) == 200 + 140 + 100, "between the sentences")
    }

    @Test func anInterruptionWithinTheFirstSentenceIsRememberedAsHeard() async throws {
        let call = Self.call(ToneSynthesizer(), saying: ["I looked it up, and the shop that you have in mind closes at six every day."])
        try await call.run {
            let next = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(1_400), from: 0)
            _ = try await call.says(for: .milliseconds(800), thenSilence: .milliseconds(1_500), from: next)
            try await call.until { call.room.current.segments.last?.spoken == .completed }
        }
        let log = await call.pipeline.update { $0.log.messages }
        guard log.count > 2, case .assistant(let heard, _) = log[1] else {
            Issue.record("remembered: \(log)")
            return
        }
        #expect("I looked it up, and the shop that you have in mind".hasPrefix(heard) && heard.hasPrefix("I looked it up, and"))
    }

    // MARK: Slow models

    /// Writes a few words, then one now and then in the call's time, and ends the sentence only after something was spoken.
    private final class SlowResponder: Responder {
        let call = Mutex<FakeCall?>(nil)
        private let synthesizer: NotingSynthesizer

        init(_ synthesizer: NotingSynthesizer) {
            self.synthesizer = synthesizer
        }

        func respond(to conversation: Conversation) -> AsyncThrowingStream<ResponsePart, any Error> {
            let call = call.withLock { $0 }
            return .filled { [synthesizer] parts in
                for word in "The museum closes today at".split(separator: " ") { parts.yield(.text(word + " ")) }
                while !synthesizer.texts.contains(where: { $0.hasPrefix("The museum") }) {
                    try await call?.clock.sleep(.milliseconds(200))
                    parts.yield(.text("or "))
                }
                parts.yield(.text("six. "))
            }
        }
    }

    @Test func aSlowResponseIsSpokenFromItsFirstPhraseOn() async throws {
        let synthesizer = NotingSynthesizer()
        let responder = SlowResponder(synthesizer)
        let call = FakeCall(
            AgentEngines(
                detector: LevelDetectors(), recognizer: ScriptedRecognizer(["When does it close?"]), responder: responder,
                synthesizer: synthesizer))
        responder.call.withLock { $0 = call }
        try await call.run {
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
            try await call.until { call.room.current.segments.last?.spoken == .completed }
        }
        #expect(synthesizer.texts.contains("The museum closes today"))
        #expect(call.room.current.segments.last?.text.hasSuffix("or six.") == true)
    }

    /// Incomplete texts, and the phrase that may be spoken already.
    private static let phrases: [(String, String?)] = [
        ("It is three o'clock in the", "It is three o'clock"), ("It is three o'clock in", nil), ("It is in the", nil),
        ("The office is at the corner", nil), ("I would like to go there", nil), ("You may sit down where you like", "You may sit down"),
        ("We met at 5 in the afternoon", nil), ("Das Geschäft hat offen und heute", "Das Geschäft hat offen"), ("", nil), (" \n", nil),
    ]

    @Test("The first phrase ends where a speaker might take breath", arguments: phrases)
    func phrase(_ text: String, _ phrase: String?) {
        var splitter = SentenceSplitter(startsEarly: true)
        #expect(splitter.pieces(appending: text).isEmpty)
        #expect(splitter.openingPhrase()?.text == phrase)
        // Once at most.
        if phrase != nil { #expect(splitter.openingPhrase() == nil) }
    }
}
