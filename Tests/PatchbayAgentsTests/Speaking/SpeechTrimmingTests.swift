import Testing

@testable import PatchbayAgents

struct SpeechTrimmingTests {
    /// Samples per millisecond.
    private static let rate = 24

    private static func speech(_ parts: (milliseconds: Int, level: Int16)...) -> [Int16] {
        parts.flatMap { [Int16](repeating: $0.level, count: $0.milliseconds * rate) }
    }

    private static func pass(_ pieces: [[Int16]], words: [TimedWord]? = nil, start: Bool, end: Bool) -> [SynthesizedSpeech] {
        var trimming = SpeechTrimming(start: start, end: end)
        return pieces.enumerated().map { index, samples in
            trimming.process(SynthesizedSpeech(samples: samples, sampleRate: rate * 1_000, words: index == 0 ? words : nil))
        }
    }

    private static func milliseconds(_ pieces: [SynthesizedSpeech]) -> Int { pieces.reduce(0) { $0 + $1.samples.count } / rate }

    @Test func silenceAtTheEdgesIsShortened() {
        let samples = Self.speech((100, 0), (300, 5_000), (250, 0))
        #expect(Self.milliseconds(Self.pass([samples], start: true, end: true)) == 20 + 300 + 20)
        #expect(Self.milliseconds(Self.pass([samples], start: true, end: false)) == 20 + 300 + 250)
        #expect(Self.pass([samples], start: false, end: false).map(\.samples) == [samples])
    }

    @Test func silenceWithinStreamedSpeechStays() {
        let pieces = [
            Self.speech((60, 0)), Self.speech((40, 0), (100, 5_000), (80, 0)), Self.speech((50, 0)), Self.speech((100, 5_000), (90, 0)),
            Self.speech((160, 0)),
        ]
        let passed = Self.pass(pieces, start: true, end: true)
        #expect(passed.flatMap(\.samples) == Self.speech((20, 0), (100, 5_000), (130, 0), (100, 5_000), (20, 0)))
    }

    @Test func wordTimesFollow() {
        let words = [
            TimedWord("One", start: .milliseconds(90), end: .milliseconds(250)),
            TimedWord("two", start: .milliseconds(250), end: .milliseconds(480)),
        ]
        let samples = Self.speech((100, 0), (300, 5_000), (250, 0))
        let passed = Self.pass([samples], words: words, start: true, end: true)
        #expect(
            passed[0].words == [
                TimedWord("One", start: .milliseconds(10), end: .milliseconds(170)),
                TimedWord("two", start: .milliseconds(170), end: .milliseconds(340)),
            ])
    }

    @Test func silenceAloneIsSilence() {
        let passed = Self.pass([Self.speech((200, 0)), Self.speech((100, 3))], start: true, end: true)
        #expect(Self.milliseconds(passed) <= 20)
        #expect(SpeechTrimming.firstAudible(in: Self.speech((50, 10), (10, -2_000))) == 50 * Self.rate)
    }
}
