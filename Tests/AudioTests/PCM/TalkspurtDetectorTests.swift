import Audio
import Testing
import Wire

@Suite struct TalkspurtDetectorTests {
    private let loud = Sound.sine(hertz: 300, peak: 0.2, samples: 960)
    private let quiet = Sound.sine(hertz: 300, peak: 0.0005, samples: 960)

    private func classify(_ frames: [[Int16]]) -> [VoiceActivity] {
        var detector = TalkspurtDetector()
        return frames.map { detector.classify($0) }
    }

    @Test func aTalkspurtHasOneStartAndOneEndAfterItsHangover() {
        let frames = Array(repeating: quiet, count: 10) + Array(repeating: loud, count: 20) + Array(repeating: quiet, count: 30)
        let heard = classify(frames)
        #expect(heard.indices.filter { heard[$0].startsTalkspurt } == [10])
        // 200 ms are ten frames: the last of them is the end.
        #expect(heard.indices.filter { heard[$0].endsTalkspurt } == [39])
        #expect(heard.indices.filter { heard[$0].isVoice } == Array(10..<40))
    }

    @Test func aShortPauseBelongsToTheTalkspurt() {
        let frames = [loud, loud] + Array(repeating: quiet, count: 9) + [loud] + Array(repeating: quiet, count: 20)
        let heard = classify(frames)
        #expect(heard.filter(\.startsTalkspurt).count == 1)
        #expect(heard.filter(\.endsTalkspurt).count == 1)
    }

    @Test func steadyNoiseStopsBeingSpeechWithinSeconds() {
        var random = SplitMix64(seed: 1)
        let heard = classify((0..<500).map { _ in (0..<960).map { _ in Int16(random.below(600) - 300) } })
        #expect(heard[0].isVoice)
        #expect(heard.suffix(250).allSatisfy { !$0.isVoice })
    }

    @Test func speechAboveNoiseIsStillFound() {
        var random = SplitMix64(seed: 2)
        let noise = (0..<500).map { _ in (0..<960).map { _ in Int16(random.below(600) - 300) } }
        let heard = classify(noise + Array(repeating: loud, count: 10))
        #expect(heard[500].startsTalkspurt)
    }

    @Test func digitalSilenceIsNeverSpeech() {
        let heard = classify(Array(repeating: [Int16](repeating: 0, count: 960), count: 50))
        #expect(heard.allSatisfy { !$0.isVoice && $0.level == .silence })
    }

    @Test func speechIsDetectedAndSilenceAroundItIsNot() throws {
        let frames = try Sound.goForward().frames(milliseconds: 20)
        let heard = classify(frames + Array(repeating: [Int16](repeating: 0, count: 960), count: 20))
        #expect(heard.filter(\.startsTalkspurt).count == heard.filter(\.endsTalkspurt).count)
        #expect((1...4).contains(heard.filter(\.startsTalkspurt).count))
        let spoken = heard.filter(\.isVoice).count
        #expect(spoken > frames.count / 3)
        #expect(!heard[heard.count - 1].isVoice)
    }
}
