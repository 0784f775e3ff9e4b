import Testing
import Wire

@testable import PatchbayAgents

/// What the metrics of a turn count.
@Suite(.timeLimit(.minutes(5)))
struct TurnStopwatchTests {
    private static let start = Instant(nanoseconds: 1_000_000_000)

    private static func time(_ milliseconds: Int) -> Instant { start + .milliseconds(milliseconds) }

    /// A turn whose user stopped speaking at 0 ms, decided after 300 ms.
    private static func stopwatch() -> TurnStopwatch {
        TurnStopwatch(TurnID(1), EndOfTurn(speechEnded: time(0), decided: time(300), recognition: .milliseconds(80)))
    }

    @Test func silenceBeforeTheFirstSoundCounts() {
        var stopwatch = Self.stopwatch()
        stopwatch.firstToken(at: Self.time(310))
        stopwatch.firstAudio(at: Self.time(350), after: .milliseconds(30))
        stopwatch.firstAudio(at: Self.time(900), after: .milliseconds(200))
        stopwatch.playoutStarted(at: Self.time(360))
        stopwatch.playoutStarted(at: Self.time(2_000))
        #expect(
            stopwatch.metrics
                == TurnMetrics(
                    turn: 1, endOfTurnMs: 300, recognitionMs: 80, firstTokenMs: 10, firstAudioMs: 50, voiceToVoiceMs: 360 + 30 + 23))
    }

    @Test func playoutWithoutAResponseIsNotCounted() {
        var stopwatch = Self.stopwatch()
        stopwatch.playoutStarted(at: Self.time(360))
        #expect(stopwatch.metrics.voiceToVoiceMs == nil)
    }

    @Test func aResponseAfterAFillerIsMeasuredToItself() {
        var stopwatch = Self.stopwatch()
        stopwatch.filled(for: .milliseconds(800))
        stopwatch.playoutStarted(at: Self.time(1_800))
        stopwatch.firstAudio(at: Self.time(4_000), after: .milliseconds(20))
        #expect(stopwatch.metrics.voiceToVoiceMs == nil)
        stopwatch.playoutStarted(at: Self.time(4_010))
        #expect(stopwatch.metrics.voiceToVoiceMs == 4_010 + 20 + 23)
    }

    @Test func aResponseDuringAFillerIsHeardAfterIt() {
        var stopwatch = Self.stopwatch()
        stopwatch.filled(for: .milliseconds(800))
        stopwatch.playoutStarted(at: Self.time(1_800))
        stopwatch.firstAudio(at: Self.time(2_000), after: .milliseconds(20))
        #expect(stopwatch.metrics.voiceToVoiceMs == 1_800 + 800 + 140 + 20 + 23)
    }

    @Test func aResponseMayArriveBeforeTheFillerIsHeard() {
        var stopwatch = Self.stopwatch()
        stopwatch.filled(for: .milliseconds(800))
        stopwatch.firstAudio(at: Self.time(1_795))
        stopwatch.playoutStarted(at: Self.time(1_800))
        #expect(stopwatch.metrics.voiceToVoiceMs == 1_800 + 800 + 140 + 23)
    }

    // MARK: The end of the user's voice

    private static func samples(_ parts: (milliseconds: Int, level: Float)...) -> [Float] {
        parts.flatMap { [Float](repeating: $0.level, count: $0.milliseconds * 16) }
    }

    @Test func theVoiceEndsBeforeTheDetectorNotices() {
        var levels = VoiceLevels()
        levels.append(Self.samples((480, 0.2), (96, 0.001)), from: Self.start)
        #expect(levels.last(before: Self.time(576)) == Self.time(480))
        #expect(levels.last(before: Self.time(400)) == Self.time(400), "speech goes on")
    }

    @Test func steadyNoiseLeavesItToTheDetector() {
        var levels = VoiceLevels()
        levels.append(Self.samples((480, 0.2), (320, 0.01)), from: Self.start)
        #expect(levels.last(before: Self.time(576)) == Self.time(576))
    }

    @Test func aVoiceLongBeforeIsAnotherOne() {
        var levels = VoiceLevels()
        levels.append(Self.samples((480, 0.2), (1_600, 0)), from: Self.start)
        #expect(levels.last(before: Self.time(2_000)) == Self.time(2_000))
    }

    @Test func voiceToVoiceIsThatOfTheRoom() async throws {
        let call = FakeCall(
            AgentEngines(
                detector: LevelDetectors(), recognizer: ScriptedRecognizer(["What time is it?"]),
                responder: ScriptedResponder { _ in [.text("It is three o'clock, I think, or a little later.")] },
                synthesizer: ToneSynthesizer()))
        let began = call.clock.now
        try await call.run {
            _ = try await call.says(for: .milliseconds(900), thenSilence: .milliseconds(800), from: 0)
            let playing = try #require(call.room.current.playing.first)
            try await call.until { call.room.current.segments.last?.spoken == .completed }
            let metrics = call.room.current.messages.compactMap { if case .turnMetrics(let metrics) = $0 { metrics } else { nil } }
            // The last frame with voice arrives 20 ms before its end.
            let expected = Int((playing.from - began - .milliseconds(880) + TurnStopwatch.unseenDelay).inMilliseconds)
            #expect(abs((metrics.first?.voiceToVoiceMs ?? 0) - expected) <= 20, "\(metrics), expected \(expected) ms")
        }
    }
}
