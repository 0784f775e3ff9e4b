/// What a conversation is about: its things by weight, and a title of the best of them.
struct Topics {
    private struct Phrase {
        var text: String
        var stems: [String]
        var score: Double
        var first: Int
        /// In which it was said first.
        var turn: Int
        var isName: Bool
    }

    private let vocabulary: Vocabulary
    /// Best first.
    private let phrases: [Phrase]
    private let titles: [Phrase]

    private static let phraseWordsMax = 3
    /// A phrase said once has to be of this part of the best one's weight to be worth a tag.
    private static let tagShareMin = 0.22

    init(_ sentences: [Sentence], ranking: SentenceRanking, in vocabulary: Vocabulary) {
        self.vocabulary = vocabulary
        let nouns = Nouns(sentences, in: vocabulary)
        var found: [Phrase] = []
        var places: [String: Int] = [:]
        for sentence in sentences {
            for run in nouns.runs(in: sentence) {
                for length in 1...min(run.count, Self.phraseWordsMax) {
                    // Of a longer phrase the head, its end, is the thing.
                    for start in 0...(run.count - length) where length == 1 || start + length == run.count {
                        let words = run[(run.startIndex + start)..<(run.startIndex + start + length)]
                        let stems = words.map(\.stem)
                        let key = stems.joined(separator: " ")
                        let weight = words.reduce(0) { $0 + (ranking.stems[$1.stem] ?? 0) * nouns.certainty(of: $1) }
                        // A longer phrase says more, but its words count less each.
                        let value = weight / (1 + 0.45 * Double(length - 1))
                        if let place = places[key] {
                            found[place].score += value * 0.35
                        } else {
                            places[key] = found.count
                            let early = sentence.turn < 2 ? 1.3 : 1
                            found.append(
                                Phrase(
                                    text: Self.text(of: words), stems: stems, score: value * early, first: found.count,
                                    turn: sentence.turn, isName: nouns.isName(words)))
                        }
                    }
                }
            }
        }
        phrases = found.sorted { ($0.score, $1.first) > ($1.score, $0.first) }
        // A title says what, not who, and what somebody came with.
        titles = found.map { phrase in
            var phrase = phrase
            if phrase.isName { phrase.score *= 0.5 }
            if phrase.stems.count > 1 { phrase.score *= 1.35 }
            if phrase.turn == 0 { phrase.score *= 2.2 }
            return phrase
        }.sorted { ($0.score, $1.first) > ($1.score, $0.first) }
    }

    private static func text(of words: ArraySlice<Word>) -> String {
        words.map { $0.text.replacing("’", with: "'") }.joined(separator: " ").withoutPossessive
    }
}

extension Topics {
    /// The best phrase, with another one if it is a single word; nil if nothing was talked about.
    var title: String? {
        guard let first = titles.first else { return nil }
        var title = first.text
        if first.stems.count == 1 {
            let second = titles.dropFirst().first { phrase in
                phrase.score > first.score * 0.2 && !phrase.stems.contains(first.stems[0])
            }
            if let second { title += " \(vocabulary.phrases.and) \(second.text)" }
        }
        return title.capitalizedFirst.shortened(to: SummaryLimits.titleCharactersMax)
    }

    /// In small letters, heaviest first, no word twice.
    var tags: [String] {
        guard let best = phrases.first?.score else { return [] }
        var taken: Set<String> = []
        var tags: [String] = []
        for phrase in phrases where tags.count < SummaryLimits.tagsMax && phrase.score >= best * Self.tagShareMin {
            guard phrase.stems.count <= 2, taken.isDisjoint(with: phrase.stems) else { continue }
            taken.formUnion(phrase.stems)
            tags.append(phrase.text.lowercased().shortened(to: SummaryLimits.tagCharactersMax))
        }
        return tags
    }
}

extension String {
    fileprivate var withoutPossessive: String { hasSuffix("'s") ? String(dropLast(2)) : self }
}
