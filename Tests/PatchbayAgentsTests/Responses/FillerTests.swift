import Synchronization
import Testing
import Wire

@testable import PatchbayAgents

/// What the assistant says while a response takes long.
@Suite(.timeLimit(.minutes(5)))
struct FillerTests {
    /// Answers after a time of the call, or while the filler is heard.
    private final class SlowResponder: Responder {
        let call = Mutex<FakeCall?>(nil)
        let conversations = Mutex<[Conversation]>([])
        let isWorthPreparing = false
        private let delay: Duration?

        /// - Parameter delay: nil is until the filler is heard.
        init(after delay: Duration?) {
            self.delay = delay
        }

        func respond(to conversation: Conversation) -> AsyncThrowingStream<ResponsePart, any Error> {
            conversations.withLock { $0.append(conversation) }
            let call = call.withLock { $0 }
            return .filled { [delay] parts in
                if let delay { try await call?.clock.sleep(delay) }
                while delay == nil, call?.room.isPlaying == false { try await call?.clock.sleep(.milliseconds(10)) }
                parts.yield(.text("It is three."))
            }
        }
    }

    /// Speaks the filler for 2 s.
    private struct SlowFiller: SpeechSynthesizer {
        func synthesize(_ text: String, voice: String) -> AsyncThrowingStream<SynthesizedSpeech, any Error> {
            ToneSynthesizer().synthesize(text == FillerTests.filler ? "a b c d e f g h i j" : text, voice: voice)
        }
    }

    fileprivate static let filler = AssistantPhrases().filler

    private static func call(
        _ responder: SlowResponder, hearing texts: [String] = ["What time is it?"], fillerAfterMs: Int = 1_500,
        settings: TurnSettings = TurnSettings(), synthesizer: any SpeechSynthesizer = ToneSynthesizer()
    ) -> FakeCall {
        var definition = AssistantDefinition(id: "test")
        definition.fillerAfterMs = fillerAfterMs
        let call = FakeCall(
            AgentEngines(
                detector: LevelDetectors(), recognizer: ScriptedRecognizer(texts), responder: responder, synthesizer: synthesizer),
            definition: definition, settings: settings)
        responder.call.withLock { $0 = call }
        return call
    }

    private static func metrics(_ call: FakeCall) -> [TurnMetrics] {
        call.room.current.messages.compactMap { if case .turnMetrics(let metrics) = $0 { metrics } else { nil } }
    }

    @Test func aSlowResponseIsAnnounced() async throws {
        let responder = SlowResponder(after: .seconds(4))
        let call = Self.call(responder)
        try await call.run {
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
            try await call.until { call.room.current.segments.last?.spoken == .completed }
        }
        #expect(call.room.current.segments.last?.text == "\(Self.filler) It is three.")
        let log = await call.pipeline.update { $0.log.messages }
        #expect(log == [.user("What time is it?"), .assistant("It is three.")], "the model does not see the filler")
        let metrics = try #require(Self.metrics(call).first)
        #expect(metrics.firstAudioMs ?? 0 >= 4_000)
        #expect(metrics.voiceToVoiceMs ?? 0 > metrics.firstAudioMs ?? 0, "of the response")
    }

    @Test func aResponseDuringTheFillerFollowsIt() async throws {
        let call = Self.call(SlowResponder(after: nil), synthesizer: SlowFiller())
        let began = call.clock.now
        let filler = Mutex<Instant?>(nil)
        try await call.run {
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
            try await call.until {
                filler.withLock { $0 = $0 ?? call.room.current.playing.first?.from }
                return call.room.current.segments.last?.spoken == .completed
            }
        }
        let spoken = try #require(call.room.current.segments.last)
        #expect(spoken.text == "\(Self.filler) It is three.")
        let words = try #require(spoken.words)
        try #require(words.count == 13)
        // The last frame with the user's voice arrives after 880 ms.
        let start = try #require(filler.withLock { $0 }) - began - .milliseconds(880) + TurnStopwatch.unseenDelay
        let expected = Int(start.inMilliseconds) + Int(words[10].startTs &- words[0].startTs) / 48
        #expect(abs((Self.metrics(call).first?.voiceToVoiceMs ?? 0) - expected) <= 30)
    }

    @Test(arguments: [(200, 1_500), (4_000, 0)])
    func aResponseInTimeIsNotAnnounced(delay: Int, fillerAfterMs: Int) async throws {
        let call = Self.call(SlowResponder(after: .milliseconds(delay)), fillerAfterMs: fillerAfterMs)
        try await call.run {
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
            try await call.until { call.room.current.segments.last?.spoken == .completed }
        }
        #expect(call.room.current.segments.last?.text == "It is three.")
    }

    @Test func aFillerCanBeInterrupted() async throws {
        let responder = SlowResponder(after: .seconds(60))
        let call = Self.call(responder, hearing: ["What time is it?", "No, tell me the date."], synthesizer: SlowFiller())
        try await call.run {
            let next = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
            try await call.until { call.room.isPlaying }
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: next)
            try await call.until { responder.conversations.withLock { $0.count == 2 } }
        }
        #expect(call.room.current.clears == 1)
        let messages = responder.conversations.withLock { $0[1].messages }
        #expect(messages == [.user("What time is it?\nNo, tell me the date.")])
    }

    @Test func afterAFillerAMissingResponseIsApologizedFor() async throws {
        var settings = TurnSettings()
        settings.responseTimeout = .seconds(4)
        let call = Self.call(SlowResponder(after: .seconds(60)), settings: settings)
        try await call.run {
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
            try await call.until(.seconds(10)) { call.room.current.segments.last?.text == AssistantPhrases().apology }
        }
    }
}
