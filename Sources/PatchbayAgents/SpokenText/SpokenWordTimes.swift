/// Turns the times of the words that a synthesizer spoke into times of the words as written. A pure value for one text.
///
/// Each written word gets a time: those of a token share the time of its spoken words in proportion to their lengths, and silent ones take no
/// time. A synthesizer may report words without punctuation, in several parts, or not at all.
package struct SpokenWordTimes: Sendable {
    /// How many words a synthesizer may leave out in a row.
    private static let skippedMax = 4

    /// A spoken word: its letters and digits, and its token.
    private struct Expected {
        let key: String
        let token: Int
        let isLast: Bool
    }

    private let written: [[String]]
    private let expected: [Expected]
    /// The next expected word, and the part of it that was spoken.
    private var next = 0
    private var part = ""
    /// The first token without a time.
    private var token = 0
    /// The time of the token in progress.
    private var open: (start: Duration, end: Duration)?
    private var end = Duration.zero
    private var sampleRate = 0

    package init(_ text: SpokenText) {
        written = text.tokens.map { $0.written.split(separator: " ").map(String.init) }
        var expected: [Expected] = []
        for (index, token) in text.tokens.enumerated() {
            let keys = token.spoken.split(separator: " ").map { Self.key(String($0)) }.filter { !$0.isEmpty }
            for (number, key) in keys.enumerated() {
                expected.append(Expected(key: key, token: index, isLast: number == keys.count - 1))
            }
        }
        self.expected = expected
    }

    /// The next piece of the text's audio, with the times of the written words that are complete with it.
    package mutating func written(_ piece: SynthesizedSpeech) -> SynthesizedSpeech {
        sampleRate = piece.sampleRate
        var piece = piece
        piece.words = piece.words.map { take($0) }
        return piece
    }

    /// A piece without audio, with the written words whose end the synthesizer has not reported; nil if there are none.
    package var rest: SynthesizedSpeech? {
        var times = self
        let words = times.finish()
        return words.isEmpty ? nil : SynthesizedSpeech(samples: [], sampleRate: sampleRate, words: words)
    }

    /// - Parameter words: the next words of the synthesizer.
    /// - Returns: the written words that are complete with them.
    package mutating func take(_ words: [TimedWord]) -> [TimedWord] {
        var result: [TimedWord] = []
        for word in words {
            let key = Self.key(word.text)
            guard !key.isEmpty else { continue }
            let match = match(key)
            if let match, match > next {
                if expected[match].token > token { close(before: expected[match].token, into: &result, at: word.start) }
                next = match
                part = ""
            }
            if next < expected.count, open == nil, expected[next].token > token {
                // Silent tokens before this one.
                close(before: expected[next].token, into: &result, at: word.start)
            }
            open = (open?.start ?? word.start, word.end)
            guard match != nil else { continue }
            part += key
            guard part.count >= expected[next].key.count else { continue }
            part = ""
            let isLast = expected[next].isLast
            next += 1
            if isLast { close(before: next < expected.count ? expected[next].token : written.count, into: &result, at: word.end) }
        }
        return result
    }

    /// - Returns: the rest of the written words, if the synthesizer has reported any.
    package mutating func finish() -> [TimedWord] {
        guard next > 0 || open != nil else { return [] }
        var result: [TimedWord] = []
        close(before: written.count, into: &result, at: end)
        return result
    }

    /// The index of the expected word that `key` is, or is a part of; nil if it is unexpected.
    private func match(_ key: String) -> Int? {
        guard next < expected.count else { return nil }
        if expected[next].key.hasPrefix(part + key) { return next }
        return (next..<min(next + Self.skippedMax, expected.count)).first { expected[$0].key == key }
    }

    /// Gives times to the tokens before `last`: the first one has the open time, the others have none.
    private mutating func close(before last: Int, into result: inout [TimedWord], at time: Duration) {
        while token < last {
            let range = open ?? (max(time, end), max(time, end))
            open = nil
            let words = written[token]
            let total = max(words.reduce(0) { $0 + $1.count }, 1)
            var done = 0
            for word in words {
                let start = range.start + (range.end - range.start) * done / total
                done += word.count
                end = range.start + (range.end - range.start) * done / total
                result.append(TimedWord(word, start: start, end: end))
            }
            token += 1
        }
    }

    private static func key(_ word: String) -> String { word.lowercased().filter { $0.isLetter || $0.isNumber } }
}
