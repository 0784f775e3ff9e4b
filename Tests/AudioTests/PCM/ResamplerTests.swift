import Audio
import Testing
import Wire

@Suite struct ResamplerTests {
    @Test(arguments: [
        (8_000, 48_000), (16_000, 48_000), (22_050, 48_000), (24_000, 48_000), (44_100, 48_000),
        (48_000, 8_000), (48_000, 16_000), (48_000, 44_100), (48_000, 48_000), (48_000, 24_000), (96_000, 48_000), (11_025, 16_000),
    ])
    func aToneKeepsItsPitchLengthAndVolume(from: Int, to: Int) throws {
        let tone = PCMBuffer(samples: Sound.sine(hertz: 1_000, peak: 0.5, samples: from, sampleRate: from), sampleRate: from)
        let resampled = try tone.resampled(to: to)
        #expect(resampled.frameCount == to)
        let middle = resampled.samples[(to / 10)..<(to * 9 / 10)]
        #expect(abs(Sound.frequency(of: middle, sampleRate: to) - 1_000) < 0.1)
        #expect(abs(Sound.rootMeanSquare(middle) / Sound.rootMeanSquare(tone.samples) - 1) < 0.01)
    }

    @Test(arguments: [(48_000, 16_000), (24_000, 48_000), (44_100, 48_000)])
    func outputIsAlignedWithTheInput(from: Int, to: Int) throws {
        let tone = PCMBuffer(samples: Sound.sine(hertz: 400, peak: 0.5, samples: from / 2, sampleRate: from), sampleRate: from)
        let direct = Sound.sine(hertz: 400, peak: 0.5, samples: to / 2, sampleRate: to)
        let resampled = try tone.resampled(to: to)
        let middle = (to / 10)..<(to * 4 / 10)
        #expect(Sound.signalToNoise(direct[middle], resampled.samples[middle]) > 60)
    }

    @Test func frequenciesAboveTheNewNyquistLimitAreRemoved() throws {
        let tone = PCMBuffer(samples: Sound.sine(hertz: 12_000, peak: 0.5, samples: 48_000))
        let resampled = try tone.resampled(to: 16_000)
        #expect(Sound.rootMeanSquare(resampled.samples[1_000..<15_000]) < 5)
    }

    @Test(arguments: 0..<6)
    func pieceLengthsDoNotChangeTheOutput(seed: Int) throws {
        let sound = try Sound.goForward()
        let whole = try sound.resampled(to: 44_100)
        var random = SplitMix64(seed: seed)
        var resampler = try Resampler(from: 48_000, to: 44_100)
        var pieces: [Int16] = []
        var start = 0
        while start < sound.samples.count {
            let end = min(start + random.below(5_000), sound.samples.count)
            pieces += try resampler.process(Array(sound.samples[start..<end]))
            start = end
        }
        pieces += try resampler.finish()
        #expect(pieces == whole.samples)
    }

    @Test(arguments: [0, 1, 2, 3, 959, 960, 961, 4_097])
    func theLengthIsTheRoundedRatio(count: Int) throws {
        for (from, to) in [(48_000, 44_100), (44_100, 48_000), (8_000, 48_000), (48_000, 8_000), (1_000, 768_000)] {
            let sound = PCMBuffer(samples: [Int16](repeating: 500, count: count), sampleRate: from)
            let expected = Int((Double(count) * Double(to) / Double(from)).rounded())
            #expect(try sound.resampled(to: to, quality: 3).frameCount == expected)
        }
    }

    @Test func channelsStayApart() throws {
        let tone = Sound.sine(hertz: 440, peak: 0.5, samples: 4_800)
        let resampled = try PCMBuffer(samples: tone.flatMap { [$0, 0] }, channels: 2).resampled(to: 16_000)
        #expect(resampled.frameCount == 1_600)
        #expect(stride(from: 1, to: resampled.samples.count, by: 2).allSatisfy { resampled.samples[$0] == 0 })
    }

    @Test func invalidRatesAreRejected() {
        #expect(throws: ResamplerError.sampleRate(0)) { _ = try Resampler(from: 0, to: 48_000) }
        #expect(throws: ResamplerError.sampleRate(1_000_000)) { _ = try Resampler(from: 48_000, to: 1_000_000) }
        #expect(throws: ResamplerError.setting(channels: 0, quality: 10)) { _ = try Resampler(from: 8_000, to: 48_000, channels: 0) }
    }
}
