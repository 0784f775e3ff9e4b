import Audio
import Foundation
import Testing

/// Sound that is made shorter or longer keeps its pitch, its loudness and its smoothness.
@Suite struct TimeStretchTests {
    private func tone(_ hertz: Double, channels: Int = 1) -> [Int16] {
        (0..<960 * channels).map { Int16(8_000 * sin(2 * .pi * hertz * Double($0 / channels) / 48_000)) }
    }

    /// The steepest step between two samples of a channel.
    private func steepest(_ pcm: [Int16], channels: Int = 1) -> Int {
        zip(pcm, pcm.dropFirst(channels)).map { abs(Int($0) - Int($1)) }.max() ?? 0
    }

    @Test(arguments: [90.0, 125, 180, 260, 400])
    func periodsAreRemovedWithoutAStep(hertz: Double) {
        var pcm = tone(hertz)
        let gone = TimeStretch.shorten(&pcm, from: 0, channels: 1)
        #expect((240...672).contains(gone))
        #expect(pcm.count == 960 - gone)
        #expect(steepest(pcm) <= steepest(tone(hertz)) * 5 / 4)
    }

    @Test(arguments: [90.0, 125, 180, 260, 400])
    func periodsAreRepeatedWithoutAStep(hertz: Double) {
        var pcm = tone(hertz)
        let new = TimeStretch.lengthen(&pcm, from: 0, channels: 1)
        #expect((240...672).contains(new))
        #expect(pcm.count == 960 + new)
        #expect(steepest(pcm) <= steepest(tone(hertz)) * 5 / 4)
    }

    @Test func existingContentIsKept() {
        let before = [Int16](repeating: 77, count: 500)
        var pcm = before + tone(150)
        _ = TimeStretch.lengthen(&pcm, from: 500, channels: 1)
        #expect(Array(pcm[..<500]) == before)
        _ = TimeStretch.shorten(&pcm, from: 500, channels: 1)
        #expect(Array(pcm[..<500]) == before)
    }

    @Test func channelsStayTogether() {
        var pcm = tone(200, channels: 2)
        let gone = TimeStretch.shorten(&pcm, from: 0, channels: 2)
        #expect(pcm.count == (960 - gone) * 2)
        #expect(stride(from: 0, to: pcm.count, by: 2).allSatisfy { pcm[$0] == pcm[$0 + 1] })
    }

    @Test func aBangIsNotRepeated() {
        var pcm = [Int16](repeating: 0, count: 960)
        for index in 0..<60 { pcm[100 + index] = Int16(20_000 - index * 300) }
        let original = pcm
        #expect(TimeStretch.lengthen(&pcm, from: 0, channels: 1) == 0)
        #expect(pcm == original)
    }

    @Test func shortAudioIsUnchanged() {
        var pcm = Array(tone(200)[..<400])
        #expect(TimeStretch.shorten(&pcm, from: 0, channels: 1) == 0)
        #expect(pcm.count == 400)
    }
}
