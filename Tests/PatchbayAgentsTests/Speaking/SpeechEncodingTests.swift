import Audio
import PatchbayClient
import Testing
import Wire

@testable import PatchbayAgents

struct SpeechEncodingTests {
    /// 600 ms of a tone of 400 Hz.
    private static func tone(at rate: Int) -> SynthesizedSpeech {
        SynthesizedSpeech(samples: (0..<rate * 3 / 5).map { $0 * 800 / rate % 2 == 0 ? 6_000 : -6_000 }, sampleRate: rate)
    }

    @Test(arguments: [
        [48_000], [24_000], [48_000, 24_000], [24_000, 48_000], [16_000, 48_000, 24_000, 24_000, 8_000, 48_000],
        [22_050, 44_100, 48_000, 16_000],
    ])
    func piecesOfAnyRatesFollowOneAnotherWithoutGaps(_ rates: [Int]) throws {
        let encoding = try SpeechEncoding()
        var frames: [SpokenFrame] = []
        for rate in rates { frames += try encoding.encode(Self.tone(at: rate)) }
        #expect(abs(encoding.position - rates.count * 28_800) <= rates.count)
        frames += try encoding.finish()
        // The last frame is filled up with silence.
        let length = frames.reduce(0) { $0 + $1.ticks + $1.silenceBefore }
        #expect((rates.count * 28_800)..<(rates.count * 28_800 + 1_920) ~= length, "\(length)")
        var decoder = try OpusDecoder()
        let sound = try frames.flatMap { try decoder.decode($0.packet) }
        // The codec delays the sound by its look-ahead.
        for start in stride(from: 960, to: rates.count * 28_800 - 960, by: 480) {
            let level = AudioLevel(of: Array(sound[start..<start + 480])).value
            #expect(level < 25, "−\(level) dBov at \(start / 48) ms")
        }
    }

    @Test func pauseBetweenSentencesIsKeptWhenTheRateChanges() throws {
        let encoding = try SpeechEncoding()
        var frames = try encoding.encode(Self.tone(at: 48_000))
        encoding.appendSilence(9_600)
        frames += try encoding.encode(Self.tone(at: 24_000))
        #expect(encoding.position == 2 * 28_800 + 9_600)
        frames += try encoding.finish()
        var decoder = try OpusDecoder()
        let sound = try frames.flatMap { frame in
            try [Int16](repeating: 0, count: frame.silenceBefore) + decoder.decode(frame.packet)
        }
        let middle = 28_800 + 4_800
        #expect(AudioLevel(of: Array(sound[middle - 960..<middle + 960])).value > 50, "silence between the sentences")
        #expect(AudioLevel(of: Array(sound[middle + 9_600..<middle + 10_560])).value < 25, "the second sentence")
    }

    @Test func rateThatNoAudioHasIsRefused() throws {
        let encoding = try SpeechEncoding()
        #expect(throws: ResamplerError.self) { try encoding.encode(SynthesizedSpeech(samples: [1, 2, 3], sampleRate: 10)) }
    }
}
