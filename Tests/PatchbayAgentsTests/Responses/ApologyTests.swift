import Synchronization
import Testing
import Wire

@testable import PatchbayAgents

/// What goes wrong while the assistant speaks: it apologizes once, and the log tells why.
@Suite(.timeLimit(.minutes(5)))
struct ApologyTests {
    private static let apology = AssistantPhrases().apology

    /// Fails for texts that contain a word, and speaks the others.
    private struct ReluctantSynthesizer: SpeechSynthesizer {
        let error: any Error

        func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
            guard text.contains("unspeakable") else { return ToneSynthesizer().synthesize(text, voice: voice) }
            return AsyncThrowingStream { $0.finish(throwing: error) }
        }
    }

    /// Speaks at a rate that no audio has.
    private struct OddSynthesizer: SpeechSynthesizer {
        func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
            guard text.contains("unspeakable") else { return ToneSynthesizer().synthesize(text, voice: voice) }
            return AsyncThrowingStream { stream in
                stream.yield(SynthesizedSpeech(samples: [1, 2, 3], sampleRate: 1))
                stream.finish()
            }
        }
    }

    /// Writes one sentence, and goes on until it is cancelled.
    private final class EndlessResponder: Responder {
        let isCancelled = Mutex(false)

        func respond(to conversation: Conversation) -> AsyncThrowingStream<ResponsePart, any Error> {
            AsyncThrowingStream { stream in
                stream.yield(.text("This is unspeakable. "))
                stream.onTermination = { _ in self.isCancelled.withLock { $0 = true } }
            }
        }
    }

    private static func engines(_ responder: any Responder, _ synthesizer: any SpeechSynthesizer) -> AgentEngines {
        AgentEngines(detector: LevelDetectors(), recognizer: ScriptedRecognizer([]), responder: responder, synthesizer: synthesizer)
    }

    private func spoken(_ call: FakeCall) -> [String] {
        call.room.current.segments.filter { $0.role == .assistant && $0.spoken == .completed }.map(\.text)
    }

    @Test func failedSynthesisEndsAResponseThatIsStillBeingWritten() async throws {
        let log = NotedLog()
        let responder = EndlessResponder()
        let error = ProviderError(.unavailable, "scripted")
        let call = FakeCall(Self.engines(responder, ReluctantSynthesizer(error: error)), logger: log.logger)
        try await call.run {
            await call.pipeline.take(.text(FakeRoom.user, "Speak."))
            // Long before the response would time out.
            try await call.until(.seconds(15)) { responder.isCancelled.withLock { $0 } && spoken(call) == [Self.apology] }
        }
        #expect(log.lines == ["Response failed: unavailable: scripted"])
        #expect(spoken(call) == [Self.apology])
    }

    @Test func audioThatCannotBeEncodedIsLogged() async throws {
        let log = NotedLog()
        let call = FakeCall(Self.engines(ScriptedResponder { _ in [.text("unspeakable")] }, OddSynthesizer()), logger: log.logger)
        try await call.run {
            await call.pipeline.take(.text(FakeRoom.user, "Speak."))
            try await call.until { spoken(call) == [Self.apology] }
        }
        #expect(log.lines == ["Response failed: Cannot resample from or to 1 Hz; choose a rate from 1000 to 768000 Hz."])
    }

    @Test func responseOfWhichNothingIsHeardIsLogged() async throws {
        let log = NotedLog()
        let responder = ScriptedResponder { _ in [.text("unspeakable")] }
        struct Silent: SpeechSynthesizer {
            func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
                text.contains("unspeakable") ? AsyncThrowingStream { _ in } : ToneSynthesizer().synthesize(text, voice: voice)
            }
        }
        var settings = TurnSettings()
        settings.responseTimeout = .milliseconds(300)
        let call = FakeCall(Self.engines(responder, Silent()), settings: settings, logger: log.logger)
        try await call.run {
            await call.pipeline.take(.text(FakeRoom.user, "Speak."))
            try await call.until { log.lines.contains("Response failed: nothing was audible after 0.3 seconds") }
        }
    }

    @Test func greetingThatCannotBeSpokenIsLogged() async throws {
        let log = NotedLog()
        let error = ProviderError(.timeout, "scripted")
        let call = FakeCall(
            Self.engines(ScriptedResponder { _ in [] }, ReluctantSynthesizer(error: error)),
            definition: AssistantDefinition(id: "test", greetings: ["This is unspeakable."]), logger: log.logger)
        try await call.run { try await call.until { spoken(call) == [Self.apology] } }
        #expect(log.lines == ["Response failed: timeout: scripted"])
    }
}
