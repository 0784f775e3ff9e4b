import Audio
import Foundation
import PatchbayAgents
import Testing
import Wire

/// The providers with servers that run real models, for example llama-server and whisper-server. Each test runs if the environment names a
/// server:
///
///     PATCHBAY_CHAT_URL=http://127.0.0.1:8080/v1 PATCHBAY_TRANSCRIPTION_URL=http://127.0.0.1:8081/v1 \
///         swift test --filter RealServerTests
///
/// `PATCHBAY_CHAT_MODEL` and `PATCHBAY_TRANSCRIPTION_MODEL` name the models, `default` otherwise. Figures are printed.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct RealServerTests {
    @Test(.enabled(if: RealServer("CHAT") != nil)) func aLanguageModelAnswersInSeveralParts() async throws {
        let responder = try OpenAIResponder(try #require(RealServer("CHAT")).settings)
        for question in ["Say hello.", "Count from one to five.", "What is a gateway, in one sentence?"] {
            let conversation = Conversation(
                instructions: "You are on the phone. Answer in one short sentence.", messages: [.user(question)])
            let start = ContinuousClock.now
            var (first, count, text): (Duration?, Int, String) = (nil, 0, "")
            for try await case .text(let piece) in responder.respond(to: conversation) {
                first = first ?? .now - start
                count += 1
                text += piece
            }
            print(
                "chat: first part after \(first?.inMilliseconds ?? -1) ms, \(count) parts in \((.now - start).inMilliseconds) ms: \(text)")
            #expect(count > 1 && !text.isEmpty)
        }
    }

    @Test(.enabled(if: RealServer("CHAT") != nil)) func aLanguageModelThatIsInterruptedStops() async throws {
        let responder = try OpenAIResponder(try #require(RealServer("CHAT")).settings)
        let long = Conversation(messages: [.user("Tell me a very long story about a telephone exchange.")])
        for try await _ in responder.respond(to: long) { break }
        // With one slot the server answers this only after it has dropped the story.
        let start = ContinuousClock.now
        for try await _ in responder.respond(to: Conversation(messages: [.user("Say hello.")])) { break }
        print("chat: first part after an interruption \((.now - start).inMilliseconds) ms")
    }

    @Test(.enabled(if: RealServer("TRANSCRIPTION") != nil)) func aRecordingIsTranscribed() async throws {
        let recognizer = try OpenAIRecognizer(try #require(RealServer("TRANSCRIPTION")).settings)
        let file = OpenAIEmulator.package.appending(path: "Tests/Fixtures/ps-goforward.wav")
        let sound = try WAVFile.read(Array(try Data(contentsOf: file)), mono: true).resampled(to: SpeechSegment.sampleRate)
        let segment = SpeechSegment(
            samples: sound.samples.map { Float($0) / 32_768 }, start: Instant(nanoseconds: 0), language: "en")
        let start = ContinuousClock.now
        let (results, code) = await outcome(of: recognizer.recognize(segment))
        let text = try #require(results.last?.text, "the server failed: \(code ?? "")")
        print(
            "transcription: \(segment.duration.inMilliseconds) ms of speech in \((.now - start).inMilliseconds) ms, "
                + "\(results.last?.language ?? ""): \(text)")
        #expect(text.lowercased().contains("go forward"))
    }
}

/// A server that the environment names.
private struct RealServer {
    let settings: ProviderSettings

    init?(_ stage: String) {
        let environment = ProcessInfo.processInfo.environment
        guard let url = environment["PATCHBAY_\(stage)_URL"] else { return nil }
        settings = ProviderSettings(
            baseUrl: url, model: environment["PATCHBAY_\(stage)_MODEL"] ?? "default", timeoutMs: 60_000)
    }
}
