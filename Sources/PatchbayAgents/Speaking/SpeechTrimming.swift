/// Shortens the silence at the edges of a text's audio, which arrives in pieces: before a response, and where two clauses of a sentence that
/// were synthesized separately meet. A pure value.
///
/// Silence at the end is withheld until more audio follows.
struct SpeechTrimming: Sendable {
    /// Louder samples are audible: -44 dBFS.
    private static let audibleMin = 200
    /// Silence kept at an edge, because sounds such as "f" and "s" begin and end quietly.
    static let kept = Duration.milliseconds(20)

    private let trimsStart: Bool
    private let trimsEnd: Bool
    private var hasBegun = false
    private var withheld: [Int16] = []
    /// Samples removed at the beginning, and those passed on.
    private var removed = 0
    private var passed = 0

    init(start: Bool, end: Bool) {
        trimsStart = start
        trimsEnd = end
    }

    /// The silence before the first audible sample.
    static func leadingSilence(of speech: SynthesizedSpeech) -> Duration {
        let count = firstAudible(in: speech.samples) ?? speech.samples.count
        return .nanoseconds(Int64(count) * 1_000_000_000 / Int64(max(speech.sampleRate, 1)))
    }

    /// The index of the first audible sample; nil if there is none.
    static func firstAudible(in samples: [Int16]) -> Int? { samples.firstIndex { isAudible($0) } }

    private static func isAudible(_ sample: Int16) -> Bool { abs(Int(sample)) > audibleMin }

    /// - Returns: the audio to be spoken now, which may be empty. The times of its words fit.
    mutating func process(_ speech: SynthesizedSpeech) -> SynthesizedSpeech {
        let kept = Self.kept.inTicks * speech.sampleRate / 48_000
        var samples = withheld + speech.samples
        withheld = []
        let first = Self.firstAudible(in: samples)
        if trimsStart, !hasBegun {
            let excess = max((first ?? samples.count) - kept, 0)
            samples.removeFirst(excess)
            removed += excess
        }
        hasBegun = hasBegun || first != nil
        var end = samples.count
        if trimsEnd || !hasBegun && trimsStart {
            end = samples.lastIndex { Self.isAudible($0) }.map { trimsEnd ? min($0 + 1 + kept, samples.count) : samples.count } ?? 0
        }
        withheld = Array(samples[end...])
        samples.removeLast(samples.count - end)
        passed += samples.count
        var trimmed = speech
        trimmed.samples = samples
        trimmed.words = speech.words?.map { word in
            let offset = Duration.seconds(Double(removed) / Double(speech.sampleRate))
            let end = Duration.seconds(Double(passed) / Double(speech.sampleRate))
            let start = min(max(word.start - offset, .zero), end)
            return TimedWord(
                word.text, start: start, end: trimsEnd ? min(max(word.end - offset, start), end) : max(word.end - offset, start))
        }
        return trimmed
    }
}
