import Logging
import Synchronization
import Testing
import Wire

@testable import PatchbayAgents

@Suite(.timeLimit(.minutes(5)))
struct GreetingPreparationTests {
    private static let definition = AssistantDefinition(
        id: "shop", greetings: ["Hello {name}, this is Robin. How can I help you?", "Welcome, {name}. How can I help you?", "Good day."])
    private static let texts = ["Hello, this is Robin.", "How can I help you?", "Welcome.", "Good day."]

    /// Notes the texts that it is asked for, and answers as a closure says.
    private final class ScriptedClips: SpeechClipSource {
        private let asked = Mutex<[String]>([])
        private let answer: @Sendable (String) async throws -> [SynthesizedSpeech]

        init(_ answer: @escaping @Sendable (String) async throws -> [SynthesizedSpeech]) {
            self.answer = answer
        }

        var texts: [String] { asked.withLock { $0 } }

        func clip(of text: String, voice: String) async throws -> [SynthesizedSpeech] {
            asked.withLock { $0.append(text) }
            return try await answer(text)
        }
    }

    private static let clip = [SynthesizedSpeech(samples: [1, 2, 3], sampleRate: 48_000)]
    private let tones = NotingSynthesizer()
    private let cache = SpeechCache()

    private func preparation(_ clips: ScriptedClips?, localAfter: Duration = .zero) -> GreetingPreparation {
        GreetingPreparation(
            synthesizer: CachedSynthesizer(synthesizer: tones, provider: nil, cache: cache), clips: clips, localAfter: localAfter,
            logger: Logger(label: "test"))
    }

    private func speech(of text: String) -> [SynthesizedSpeech]? {
        cache.speech(of: SpeechCache.Key(text: text, voice: "alloy", provider: nil))
    }

    @Test func eachSentenceOfTheGreetingsIsFetchedOnce() async {
        let clips = ScriptedClips { _ in Self.clip }
        await preparation(clips).prepare(Self.definition)
        #expect(clips.texts == Self.texts && tones.texts.isEmpty)
        #expect(Self.texts.allSatisfy { speech(of: $0) == Self.clip })
        await preparation(clips).prepare(Self.definition)
        #expect(clips.texts == Self.texts)
    }

    @Test func withoutClipsTheGreetingsAreSynthesizedHere() async {
        await preparation(nil).prepare(Self.definition)
        #expect(tones.texts == Self.texts && cache.count == 4)
    }

    @Test func aFailingClipServiceIsAskedNoFurther() async {
        let clips = ScriptedClips { text in
            if text == Self.texts[1] { throw ProviderError(.unavailable, "scripted") }
            return Self.clip
        }
        await preparation(clips).prepare(Self.definition)
        #expect(clips.texts == Array(Self.texts[...1]) && tones.texts == Array(Self.texts[1...]))
        #expect(cache.count == 4)
    }

    @Test func callsThatBeginTogetherPrepareTogether() async {
        let clips = ScriptedClips { _ in
            try await Task.sleep(for: .milliseconds(20))
            return Self.clip
        }
        let preparation = preparation(clips)
        async let first: Void = preparation.prepare(Self.definition)
        async let second: Void = preparation.prepare(Self.definition)
        _ = await (first, second)
        #expect(clips.texts.sorted() == Self.texts.sorted() && tones.texts.isEmpty && cache.count == 4)
    }

    @Test func theEndOfTheCallEndsThePreparation() async {
        let clips = ScriptedClips { _ in
            try await Task.sleep(for: .seconds(3_600))
            return Self.clip
        }
        let running = Task { await preparation(clips).prepare(Self.definition) }
        while clips.texts.isEmpty { await Task.yield() }
        running.cancel()
        await running.value
        #expect(cache.count == 0 && tones.texts.isEmpty)
        // The next call may prepare it.
        #expect(cache.claim(SpeechCache.Key(text: Self.texts[0], voice: "alloy", provider: nil)))
    }

    @Test func aDefinitionWithManyGreetingsIsPreparedInPart() {
        let definition = AssistantDefinition(id: "shop", greetings: (0..<64).map { "Greeting \($0). Sentence \($0)." })
        #expect(GreetingPreparation.texts(of: definition).count == GreetingPreparation.textsMax)
    }
}
