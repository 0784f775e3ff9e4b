import Audio
import Backend
import Foundation
import OggOpus
import PatchbayClient
import Store
import Synchronization
import Testing

/// A user's speech clips on a real gateway.
@Suite(.timeLimit(.minutes(2)))
struct SpeechTests {
    /// Speaks each text as a tone of one second, pauses at 50 % while held, and fails for texts about failures.
    private final class Tones: SpeechGenerator {
        let providers = [SpeechProvider.embedded, SpeechProvider(name: "cloud", voices: ["anna"])]
        private let state = Mutex((texts: [String](), isHeld: false, cancelled: 0))

        var texts: [String] { state.withLock { $0.texts } }
        var cancelledCount: Int { state.withLock { $0.cancelled } }

        func hold(_ isHeld: Bool) { state.withLock { $0.isHeld = isHeld } }

        func generate(
            _ text: String, voice: String, provider: String, progress: @escaping @Sendable (Int) -> Void
        ) async throws -> GeneratedSpeech {
            state.withLock { $0.texts.append(text) }
            if text.contains("fail") { throw SpeechGenerationError("the tone broke", isRetryable: false) }
            progress(50)
            do {
                while state.withLock({ $0.isHeld }) { try await Task.sleep(for: .milliseconds(5)) }
            } catch {
                state.withLock { $0.cancelled += 1 }
                throw error
            }
            progress(100)
            let samples = (0..<24_000).map { Int16($0 / 30 % 2 == 0 ? 5_000 : -5_000) }
            return GeneratedSpeech(samples: samples, sampleRate: 24_000, words: [SpokenWord("Good", startMs: 0, endMs: 500)])
        }
    }

    private static func run(_ body: @Sendable (Tones, CallGateway, Speech) async throws -> Void) async throws {
        let tones = Tones()
        try await CallGateway.run(speech: tones) { gateway in
            try await body(tones, gateway, try await speech(of: "ann", gateway))
        }
    }

    private static func speech(of name: String, _ gateway: CallGateway) async throws -> Speech {
        let user = try await gateway.user(name)
        return try Speech(url: gateway.url, trust: gateway.options.trust) { try user.token() }
    }

    @Test func aTextIsGeneratedOnceWithProgressAndFoundAgain() async throws {
        try await Self.run { tones, gateway, speech in
            #expect(try await speech.clip(for: "Good day <b>مرحبا</b>\n", voice: "nova") == nil)
            tones.hold(true)
            var percents: [Int] = []
            let clip = try await speech.generate("Good day <b>مرحبا</b>\n", voice: "nova") { percent in
                percents.append(percent)
                if percent >= 45 { tones.hold(false) }
            }
            #expect(percents == Set(percents).sorted() && percents.last == 100 && percents.contains(45))
            #expect(clip.status == .ready && clip.voiceName == "Nova" && clip.provider == "embedded")
            #expect(clip.text == "Good day <b>مرحبا</b>\n")
            #expect(clip.duration == .seconds(1) && clip.mimeType == "audio/ogg" && clip.words?.map(\.text) == ["Good"])
            #expect(abs(try #require(clip.createdAt).timeIntervalSinceNow) < 120)
            #expect(try await speech.clip(for: clip.text, voice: "nova") == clip)
            #expect(try await speech.clips() == [clip])
            #expect(try await speech.generate(clip.text, voice: "nova") == clip)
            #expect(tones.texts == [clip.text])
            #expect(try await OggOpusReader.decodePCM(speech.audio(of: clip.id)).samples.count == 48_000)

            let other = try await Self.speech(of: "bob", gateway)
            #expect(try await other.clip(for: clip.text, voice: "nova") == nil)
            #expect(try await other.clips().isEmpty)
            await Self.expectRefusal(404, "not_found") { _ = try await other.audio(of: clip.id) }
            await Self.expectRefusal(404, "not_found") { try await other.delete(clip.id) }
            try await speech.delete(clip.id)
            #expect(try await speech.clips().isEmpty)
        }
    }

    @Test func cancellingTheTaskCancelsTheGeneration() async throws {
        try await Self.run { tones, _, speech in
            tones.hold(true)
            let task = Task { try await speech.generate("a long text") }
            try await until { !tones.texts.isEmpty }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await until { tones.cancelledCount == 1 }
            #expect(try await speech.clips().isEmpty)
            tones.hold(false)
            #expect(try await speech.generate("a long text").status == .ready)
        }
    }

    @Test func refusalsAndFailuresAreErrors() async throws {
        try await Self.run { tones, gateway, speech in
            #expect(try await speech.providers().map(\.id) == ["embedded", "cloud"])
            #expect(try await speech.generate("hello", provider: "cloud").voice == "anna")
            await Self.expectRefusal(400, "unknown_provider") { _ = try await speech.generate("hello", provider: "nobody") }
            await Self.expectRefusal(400, "unknown_provider") { _ = try await speech.clip(for: "hello", provider: "nobody") }
            await Self.expectRefusal(400, "invalid_value") { _ = try await speech.generate("hello", voice: "anna") }
            await Self.expectRefusal(400, "invalid_value") { _ = try await speech.generate(String(repeating: "ü", count: 2_049)) }
            await Self.expectRefusal(404, "not_found") { _ = try await speech.clip(UUID()) }
            await #expect(throws: SpeechError.failed("the tone broke")) { try await speech.generate("this will fail") }
            struct Closed: Error {}
            let closed = try Speech(url: gateway.url, trust: gateway.options.trust) { throw Closed() }
            await #expect(throws: SpeechError.noToken("Closed()")) { try await closed.clips() }
            await #expect(throws: SpeechError.self) { try await Speech(url: "wss://127.0.0.1:9") { "t" }.clips() }
            #expect(throws: SpeechError.self) { try Speech(url: "nowhere at all") { "t" } }
        }
    }

    private static func expectRefusal(_ status: Int, _ code: String, _ body: () async throws -> Void) async {
        do {
            try await body()
            Issue.record("not refused")
        } catch {
            guard case .refused(status, code, _) = error as? SpeechError else {
                Issue.record("\(error)")
                return
            }
        }
    }
}
