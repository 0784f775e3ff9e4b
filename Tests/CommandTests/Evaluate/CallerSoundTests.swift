import Audio
import Foundation
import Testing

@testable import patchbay

/// The sound of a caller's lines: tempo, pauses, noise, and where the voice is.
struct CallerSoundTests {
    private static func line(_ change: (inout CallerLine) -> Void = { _ in }) -> CallerLine {
        var line = CallerLine(source: .recording(path: "tone.wav"))
        change(&line)
        return line
    }

    /// 400 ms of silence, 1 s of a tone, 300 ms of silence.
    private static let tone = PCMBuffer(
        samples: [Int16](repeating: 0, count: 19_200) + (0..<48_000).map { Int16(sin(Double($0) * .pi * 2 * 150 / 48_000) * 9_000) }
            + [Int16](repeating: 0, count: 14_400))

    @Test func silenceAroundAVoiceIsNoVoice() throws {
        let sound = try CallerSound(Self.tone, of: Self.line(), seed: 1)
        #expect(sound.voiced == [Span(start: 400, end: 1_400)] && sound.samples == Self.tone.samples)
    }

    @Test func aPauseIsInsertedIntoTheVoice() throws {
        let line = Self.line { $0.pauses = [CallerLine.Pause(atMs: 900, ms: 500)] }
        let sound = try CallerSound(Self.tone, of: line, seed: 1)
        #expect(sound.voiced == [Span(start: 400, end: 900), Span(start: 1_400, end: 1_900)])
        #expect(sound.samples.count == Self.tone.samples.count + 24_000)
    }

    @Test func aPauseAfterTheEndIsAnError() throws {
        let line = Self.line { $0.pauses = [CallerLine.Pause(atMs: 5_000, ms: 500)] }
        let error = try #require(throws: UsageError.self) { try CallerSound(Self.tone, of: line, seed: 1) }
        #expect(error.description == "tone.wav: the pause at 5000 ms is after its end at 1700 ms; correct `at_ms`")
    }

    @Test func aSilentLineIsAnError() {
        #expect(throws: UsageError.self) { try CallerSound(PCMBuffer(samples: [0, 0, 0]), of: Self.line(), seed: 1) }
    }

    @Test(arguments: [0.5, 0.8, 1.25, 2]) func tempoChangesTheLengthAndNotThePitch(speed: Double) throws {
        let voice = try PCMBuffer(wavFile: Program.package.appending(path: "demo/ps-goforward.wav").path)
        let changed = Tempo.apply(speed, to: voice.samples)
        #expect(abs(Double(changed.count) * speed / Double(voice.samples.count) - 1) < 0.05)
        let tone = Array(Tempo.apply(speed, to: Self.tone.samples.filter { $0 != 0 }).dropFirst(2_400).prefix(19_200))
        let crossings = zip(tone, tone.dropFirst()).count { $0 < 0 && $1 >= 0 }
        #expect(57...63 ~= crossings, "150 Hz for 400 ms, \(crossings)")
    }

    @Test func noiseHasItsLevelAndIsTheSameForTheSameSeed() throws {
        let line = Self.line { $0.noiseDecibels = -40 }
        let sound = try CallerSound(Self.tone, of: line, seed: 7)
        #expect(AudioLevel(of: Array(sound.samples.prefix(19_200))).dBov.magnitude.distance(to: 40).magnitude <= 2)
        #expect(sound.voiced == [Span(start: 400, end: 1_400)], "the noise is no voice")
        #expect(try sound.samples == CallerSound(Self.tone, of: line, seed: 7).samples)
        #expect(try sound.samples != CallerSound(Self.tone, of: line, seed: 8).samples)
    }
}
