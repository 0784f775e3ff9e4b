import Testing

@testable import Audio

struct LossConcealmentTests {
    private var concealment = LossConcealment(sampleRate: 48_000, channels: 1)

    private mutating func concealed(_ samples: Int) -> [Int16] {
        var pcm: [Int16] = []
        concealment.conceal(samples: samples, appendingTo: &pcm)
        return pcm
    }

    @Test mutating func withoutAPastThereIsSilence() {
        #expect(concealed(960) == [Int16](repeating: 0, count: 960))
    }

    @Test mutating func aToneContinuesWithoutAJumpAndFadesOut() {
        let tone = Sound.sine(hertz: 440, peak: 0.5, samples: 960)
        concealment.heard(tone[...])
        let sound = Array(tone.suffix(1)) + concealed(2_880)
        let step = zip(tone, tone.dropFirst()).map { abs(Int($0) - Int($1)) }.max() ?? 0
        #expect(zip(sound, sound.dropFirst()).allSatisfy { abs(Int($0) - Int($1)) <= step + 1 })
        #expect(Sound.rootMeanSquare(sound[..<480]) > 2 * Sound.rootMeanSquare(sound.suffix(480)))
        #expect(concealed(960) == [Int16](repeating: 0, count: 960))
    }

    @Test mutating func severalLossesContinueOneAnother() {
        let tone = Sound.sine(hertz: 440, peak: 0.5, samples: 960)
        concealment.heard(tone[...])
        var other = LossConcealment(sampleRate: 48_000, channels: 1)
        other.heard(tone[...])
        var whole: [Int16] = []
        other.conceal(samples: 1_920, appendingTo: &whole)
        #expect(concealed(960) + concealed(960) == whole)
        // A decoded packet ends the loss.
        concealment.heard(tone[...])
        #expect(concealed(960) == Array(whole[..<960]))
    }

    @Test func channelsStayApart() {
        var concealment = LossConcealment(sampleRate: 48_000, channels: 2)
        concealment.heard((0..<1_920).map { $0.isMultiple(of: 2) ? 8_000 : 0 }[...])
        var pcm: [Int16] = []
        concealment.conceal(samples: 960, appendingTo: &pcm)
        #expect(pcm.count == 1_920 && pcm.indices.allSatisfy { $0.isMultiple(of: 2) || pcm[$0] == 0 })
        #expect(pcm[0] > 7_900)
    }
}
