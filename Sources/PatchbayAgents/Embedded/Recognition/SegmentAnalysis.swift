internal import Glibc

/// What the loudness of a segment says: where it can be cut, and whether a recognizer's text may be invented.
enum SegmentAnalysis {
    /// 20 ms.
    private static let window = SpeechSegment.sampleRate / 50
    /// Pauses between words are looked for over 200 ms.
    private static let pauseWindows = 10
    /// Speech varies more than this between its loud and its soft parts; noise and tones vary less.
    private static let variationMin: Float = 6
    /// Speech that a microphone picked up is louder.
    private static let loudnessMin: Float = -50
    /// What the recognizer writes for silence, noise and tones.
    private static let inventions: Set<String> = [
        "", "you", "thank you", "thanks", "thank you very much", "thanks for watching", "bye", "the", "so", "oh", "okay", "i", "a", "and",
        "yeah", "uh", "um", "hmm", "mm", "mhm", "huh", "ah",
    ]

    /// Divides a segment into parts of at most `maximum` samples, cut in the middle of the quietest 200 ms of the last third of each part.
    ///
    /// Audio appended to a segment does not change the parts before the last one.
    static func parts(of samples: [Float], maximum: Int) -> [Range<Int>] {
        precondition(maximum >= 3 * pauseWindows * window, "a part is at least 600 ms long")
        var parts: [Range<Int>] = []
        var start = 0
        while samples.count - start > maximum {
            let cut = quietest(in: start + maximum * 2 / 3..<start + maximum, of: samples)
            parts.append(start..<cut)
            start = cut
        }
        parts.append(start..<samples.count)
        return parts
    }

    private static func quietest(in range: Range<Int>, of samples: [Float]) -> Int {
        let energies = energies(of: samples[range])
        var sum = energies.prefix(pauseWindows).reduce(0, +)
        var best = (sum: sum, index: 0)
        for index in stride(from: pauseWindows, to: energies.count, by: 1) {
            sum += energies[index] - energies[index - pauseWindows]
            if sum < best.sum { best = (sum, index - pauseWindows + 1) }
        }
        return range.lowerBound + (best.index + pauseWindows / 2) * window
    }

    /// Whether `text` is one of the words that a recognizer invents and `samples` do not sound like a person who said it.
    static func isInvented(_ text: String, for samples: [Float]) -> Bool {
        inventions.contains(UtteranceText.words(of: text).joined(separator: " ")) && !resemblesSpeech(samples)
    }

    private static func resemblesSpeech(_ samples: [Float]) -> Bool {
        let levels = energies(of: samples[...]).map(decibels).sorted()
        guard levels.count >= 5 else { return false }
        let loud = levels[levels.count * 95 / 100]
        return loud >= loudnessMin && loud - levels[levels.count / 10] >= variationMin
    }

    /// Mean squares of windows of 20 ms.
    private static func energies(of samples: ArraySlice<Float>) -> [Float] {
        stride(from: samples.startIndex, through: samples.endIndex - window, by: window).map { start in
            samples[start..<start + window].reduce(0) { $0 + $1 * $1 } / Float(window)
        }
    }

    /// Relative to the overload point.
    private static func decibels(_ energy: Float) -> Float { 10 * log10(max(energy, 1e-12)) }
}
