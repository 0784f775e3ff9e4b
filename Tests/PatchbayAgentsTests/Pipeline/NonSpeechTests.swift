import Foundation
import PatchbayClient
import Testing
import Wire

@testable import PatchbayAgents

/// Sounds that are no speech, with the real detector and recognizer.
@Suite(.timeLimit(.minutes(5)))
struct NonSpeechTests {
    enum Sound: String, CaseIterable {
        case silence, whiteNoise, softNoise, tone, chord, clicks
    }

    private static func samples(of sound: Sound, seconds: Int) -> [Int16] {
        var state: UInt64 = 42
        func noise(_ amplitude: Double) -> Int16 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int16((Double(state >> 33) / Double(UInt32.max / 2) - 1) * amplitude)
        }
        func sine(_ frequency: Double, _ index: Int) -> Double { sin(2 * .pi * frequency * Double(index) / 48_000) }
        return (0..<seconds * 48_000).map { index in
            switch sound {
            case .silence: 0
            case .whiteNoise: noise(4_000)
            case .softNoise: noise(200)
            case .tone: Int16(8_000 * sine(1_000, index))
            case .chord: Int16(3_000 * (sine(220, index) + sine(277.2, index) + sine(329.6, index)))
            case .clicks: index % 24_000 < 240 ? noise(20_000) : 0
            }
        }
    }

    @Test("Sounds without speech begin no turn", arguments: Sound.allCases)
    func noTurn(_ sound: Sound) async throws {
        var settings = TurnSettings()
        // The machine may be slow, and the call's time passes fast.
        settings.recognitionTimeout = .seconds(3_600)
        let engines = AgentEngines(
            detector: try SileroDetectorFactory(models: Embedded.models()), recognizer: try await Embedded.recognizer(),
            responder: RulesResponder(), synthesizer: ToneSynthesizer())
        let call = FakeCall(engines, settings: settings)
        try await call.run {
            try await call.play([(FakeRoom.microphone, Self.samples(of: sound, seconds: 6), 0)])
            try await call.wait(.milliseconds(1_200))
        }
        let said = call.room.current.segments.filter { $0.role == .user && $0.final && !$0.text.isEmpty }
        #expect(said.isEmpty, "\(sound) was understood as \(said.map(\.text))")
        #expect(!call.room.current.states.contains(.thinking))
    }
}
