import PatchbayAgents
import Testing

struct SileroDetectorTests {
    private func probabilities(_ samples: [Float], _ detector: any VoiceActivityDetector) throws -> [Float] {
        let size = detector.windowSize
        return try stride(from: 0, through: samples.count - size, by: size).map {
            try detector.probability(of: Array(samples[$0..<$0 + size]))
        }
    }

    private func detector() throws -> any VoiceActivityDetector { try SileroDetectorFactory(models: Embedded.models()).makeDetector() }

    @Test func speechScoresHigh() throws {
        let probabilities = try probabilities(Embedded.demoClip(), detector())
        #expect(probabilities.max() ?? 0 > 0.9)
        // The clip is half speech.
        #expect(probabilities.count { $0 > 0.5 } > probabilities.count / 3)
    }

    @Test(arguments: [
        Signal.silence(3), Signal.noise(3), Signal.noise(3, level: 0.8, seed: 2), Signal.tone(3), Signal.tone(3, frequency: 150),
    ])
    func silenceNoiseAndTonesScoreLow(_ samples: [Float]) throws {
        let probabilities = try probabilities(samples, detector())
        // The first windows of a tone that begins suddenly may score high.
        #expect(probabilities.count { $0 > 0.5 } * 20 <= probabilities.count)
    }

    @Test func aTrackDoesNotAffectAnother() throws {
        let factory = try SileroDetectorFactory(models: Embedded.models())
        let clip = try Embedded.demoClip()
        let alone = try probabilities(clip, factory.makeDetector())
        let (one, other) = (try factory.makeDetector(), try factory.makeDetector())
        let noise = Signal.noise(4)
        var together: [Float] = []
        for (index, start) in stride(from: 0, through: clip.count - 512, by: 512).enumerated() {
            _ = try other.probability(of: Array(noise[(index * 512) % 51_200..<(index * 512) % 51_200 + 512]))
            together.append(try one.probability(of: Array(clip[start..<start + 512])))
        }
        #expect(together == alone)
    }

    @Test func valuesThatAreNotNumbersDoNotSpoilTheStream() throws {
        let detector = try detector()
        #expect(try detector.probability(of: [Float](repeating: .nan, count: 512)).isFinite)
        #expect(try detector.probability(of: [Float](repeating: .infinity, count: 512)).isFinite)
        let probabilities = try probabilities(Embedded.demoClip(), detector)
        #expect(probabilities.max() ?? 0 > 0.9)
    }
}
