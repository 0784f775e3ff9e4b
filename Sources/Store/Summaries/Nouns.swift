/// Which words are things, without a dictionary: by what stands before them and how they are written.
struct Nouns {
    private let vocabulary: Vocabulary
    private var counts: [String: (said: Int, asNoun: Int)] = [:]

    init(_ sentences: [Sentence], in vocabulary: Vocabulary) {
        self.vocabulary = vocabulary
        for sentence in sentences {
            for (index, word) in sentence.words.enumerated() where canBeNoun(word) {
                let old = counts[word.stem] ?? (0, 0)
                counts[word.stem] = (old.said + 1, old.asNoun + (isNoun(index, in: sentence) ? 1 : 0))
            }
        }
    }

    private func isNoun(_ index: Int, in sentence: Sentence) -> Bool {
        let word = sentence.words[index]
        if word.isCapitalized && !word.isFirst { return true }
        // Where nouns have capitals, what has none is no noun.
        if vocabulary.capitalizesNouns { return false }
        for distance in 1...2 where index >= distance && !sentence.words[index - distance + 1].followsBreak {
            if vocabulary.determiners.contains(sentence.words[index - distance].lower) { return true }
        }
        return false
    }

    /// 0…1.2; a word that never looks like a noun may still be one.
    func certainty(of word: Word) -> Double {
        guard let count = counts[word.stem] else { return 0 }
        let share = Double(count.asNoun) / Double(count.said)
        if vocabulary.capitalizesNouns { return share > 0.3 ? 1 : 0.05 }
        let ending = Self.verbalEndings.contains { word.lower.hasSuffix($0) } ? 0.4 : 1
        return (0.2 + share) * ending
    }

    private static let verbalEndings = ["ly", "ing", "ed"]

    private func canBeNoun(_ word: Word) -> Bool {
        vocabulary.isContent(word) && !vocabulary.notNouns.contains(word.lower) && !word.isNumber
            && (word.text.count > 2 || word.text.allSatisfy(\.isUppercase) || word.text.first?.isIdeographic == true)
    }

    /// Whether it is written with capitals where only names are.
    func isName(_ words: ArraySlice<Word>) -> Bool {
        !vocabulary.capitalizesNouns && words.allSatisfy { $0.isCapitalized && !$0.isFirst }
    }

    /// Neighbours that can be nouns, with nothing between them.
    func runs(in sentence: Sentence) -> [ArraySlice<Word>] {
        var runs: [ArraySlice<Word>] = []
        var start: Int?
        for (index, word) in sentence.words.enumerated() {
            let fits = canBeNoun(word) && certainty(of: word) > 0.1
            if let begun = start, !fits || word.followsBreak {
                runs.append(sentence.words[begun..<index])
                start = nil
            }
            if fits, start == nil { start = index }
        }
        if let start { runs.append(sentence.words[start...]) }
        return runs
    }
}
