import Audio
import Testing

@Suite struct AudioLevelTests {
    // A sine wave lies 3.01 dB below a square wave of the same peak.
    @Test(arguments: [(1.0, 3), (0.5, 9), (0.1, 23), (0.01, 43), (0.001, 63)])
    func aSineWaveHasTheLevelOfItsPeakLessThreeDecibels(peak: Double, level: UInt8) {
        #expect(AudioLevel(of: Sound.sine(hertz: 1_000, peak: peak, samples: 4_800)).value == level)
    }

    @Test func fullScaleSquareWaveIsLevelZero() {
        let square = (0..<960).map { Int16($0 % 96 < 48 ? 32_767 : -32_767) }
        #expect(AudioLevel(of: square).value == 0)
        #expect(AudioLevel(of: [Int16](repeating: .min, count: 960)).value == 0)
    }

    @Test func silenceAndNothingAre127() {
        #expect(AudioLevel(of: [Int16](repeating: 0, count: 960)) == .silence)
        #expect(AudioLevel(of: []) == .silence)
        #expect(AudioLevel(200) == .silence)
    }

    @Test func theFaintestSoundIsNotSilence() {
        #expect(AudioLevel(of: [Int16](repeating: 1, count: 960)).value == 90)
    }

    @Test func aLevelIsANumberOfDecibelsBelowZero() {
        #expect(AudioLevel(30).dBov == -30)
        #expect("\(AudioLevel(30))" == "-30 dBov")
    }
}
