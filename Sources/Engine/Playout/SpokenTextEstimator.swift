internal import Wire

/// Estimates how much of a text was played, from word times. All counts are Unicode scalars.
struct SpokenTextEstimator {
    private let text: [Unicode.Scalar]

    init(_ text: String) {
        self.text = Array(text.unicodeScalars)
    }

    var count: Int { text.count }

    /// Scalars up to the end of the last word that had been played.
    ///
    /// Words may be written differently from the text ("twenty" for "20"). A word that is not found is skipped; if the one after
    /// the cut is found, everything before it was played.
    func count(of words: [TranscriptWord], playedUpTo time: MediaTime) -> Int {
        var from = 0
        var effort = Self.effortMax
        for word in words {
            let index = find(word.text, from: from, &effort)
            guard time.distance(from: MediaTime(ticks: word.endTs)) >= 0 else {
                return index.map { beforeGap($0.lowerBound, atLeast: from) } ?? from
            }
            from = index?.upperBound ?? from
        }
        return count
    }

    /// The same share of the text, at most all of it.
    func count(ofPlayed played: Int, of whole: Int) -> Int {
        guard played > 0 else { return 0 }
        return played >= whole ? count : count * played / whole
    }

    /// Range of a word, as written or without enclosing punctuation, as close behind `start` as possible.
    private func find(_ word: String, from start: Int, _ effort: inout Int) -> Range<Int>? {
        let whole = Array(word.unicodeScalars)
        if let index = find(whole[...], from: start, &effort) { return index }
        let bare = whole.drop { !$0.isOfWord }.reversed().drop { !$0.isOfWord }.reversed()
        return bare.count < whole.count ? find(Array(bare)[...], from: start, &effort) : nil
    }

    private func find(_ word: ArraySlice<Unicode.Scalar>, from start: Int, _ effort: inout Int) -> Range<Int>? {
        guard !word.isEmpty, start + word.count <= text.count else { return nil }
        // A match further away is another occurrence.
        for index in start...min(text.count - word.count, start + Self.searchMax) {
            guard effort > 0 else { return nil }
            effort -= 1
            let end = index + word.count
            guard isBoundary(index), isBoundary(end) else { continue }
            if zip(word, text[index..<end]).allSatisfy({ $0.isSameLetter(as: $1) }) { return index..<end }
        }
        return nil
    }

    /// Moves back over spaces and opening marks, so that a cut is at the end of a word.
    private func beforeGap(_ index: Int, atLeast least: Int) -> Int {
        var index = index
        while index > least, !text[index - 1].isOfWord { index -= 1 }
        return index
    }

    /// Whether a word may begin or end here.
    private func isBoundary(_ index: Int) -> Bool {
        guard index > 0, index < text.count else { return true }
        if text[index].properties.isGraphemeExtend { return false }
        return !(text[index - 1].isOfSpacedWord && text[index].isOfSpacedWord)
    }

    private static let searchMax = 200
    /// Positions compared for all words of a text: enough for 4,096 words that match, and a limit for as many that do not.
    private static let effortMax = 50_000
}

extension Unicode.Scalar {
    fileprivate var isOfWord: Bool { properties.isAlphabetic || properties.numericType != nil || properties.isGraphemeExtend }

    /// Scripts that separate words by spaces, unlike Chinese, Japanese, Thai, Lao, Burmese and Khmer.
    fileprivate var isOfSpacedWord: Bool {
        switch value {
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3040...0x30FF, 0x3400...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFF: false
        default: isOfWord
        }
    }

    fileprivate func isSameLetter(as other: Unicode.Scalar) -> Bool {
        self == other || properties.lowercaseMapping == other.properties.lowercaseMapping
    }
}
