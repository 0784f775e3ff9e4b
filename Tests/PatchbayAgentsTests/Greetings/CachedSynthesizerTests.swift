import Testing
import Wire

@testable import PatchbayAgents

@Suite(.timeLimit(.minutes(5)))
struct CachedSynthesizerTests {
    private let cache = SpeechCache()

    private func read(_ text: String, from synthesizer: some SpeechSynthesizer, voice: String = "alloy") async throws -> [SynthesizedSpeech]
    {
        var pieces: [SynthesizedSpeech] = []
        for try await piece in synthesizer.synthesize(text, voice: voice) { pieces.append(piece) }
        return pieces
    }

    @Test func aTextIsSynthesizedOnce() async throws {
        let tones = NotingSynthesizer()
        let synthesizer = CachedSynthesizer(synthesizer: tones, provider: nil, cache: cache)
        let first = try await read("Hello there.", from: synthesizer)
        #expect(try await read("Hello there.", from: synthesizer) == first && first[0].words?.count == 2)
        #expect(tones.texts == ["Hello there."])
    }

    @Test func anotherVoiceOrProviderIsAnotherSound() async throws {
        let tones = NotingSynthesizer()
        let synthesizer = CachedSynthesizer(synthesizer: tones, provider: nil, cache: cache)
        let other = CachedSynthesizer(
            synthesizer: tones, provider: ProviderSettings(baseUrl: "https://speech.example/v1", model: "small"), cache: cache)
        _ = try await read("Hello.", from: synthesizer)
        _ = try await read("Hello.", from: synthesizer, voice: "nova")
        _ = try await read("Hello.", from: other)
        #expect(tones.texts.count == 3 && cache.count == 3)
    }

    @Test func aFailureIsNotKept() async throws {
        let synthesizer = CachedSynthesizer(synthesizer: ToneSynthesizer(fails: true), provider: nil, cache: cache)
        await #expect(throws: ProviderError.self) { try await read("Hello.", from: synthesizer) }
        #expect(cache.count == 0)
    }

    @Test func aFallbackVoiceIsNotKept() async throws {
        struct Substitute: SpeechSynthesizer {
            func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
                AsyncThrowingStream { stream in
                    stream.yield(SynthesizedSpeech(samples: [1, 2], sampleRate: 8_000, isFallback: true))
                    stream.finish()
                }
            }
        }
        let speech = try await read("Hello.", from: CachedSynthesizer(synthesizer: Substitute(), provider: nil, cache: cache))
        #expect(speech.count == 1 && cache.count == 0)
    }

    @Test func anInterruptedSynthesisIsNotKept() async throws {
        /// Never finishes after its first piece.
        struct Endless: SpeechSynthesizer {
            func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
                AsyncThrowingStream { $0.yield(SynthesizedSpeech(samples: [1, 2], sampleRate: 8_000)) }
            }
        }
        let synthesizer = CachedSynthesizer(synthesizer: Endless(), provider: nil, cache: cache)
        let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
        let reading = Task {
            for try await _ in synthesizer.synthesize("Hello.", voice: "alloy") { hasBegun.yield() }
        }
        for await _ in begun { break }
        reading.cancel()
        _ = await reading.result
        // The synthesis ends after its reader.
        try await Task.sleep(for: .milliseconds(100))
        #expect(cache.count == 0)
    }
}
