/// Which sentences a summary is made of.
struct Selection {
    private let sentences: [Sentence]
    private let contents: [Set<String>]
    private let scores: [Double]

    /// Shorter ones say nothing by themselves, longer ones are hard to read in a summary.
    private static let wordsRange = 5...28
    /// A sentence with this part of its words told already is left out.
    private static let overlapMax = 0.6

    init(_ sentences: [Sentence], ranking: SentenceRanking, in vocabulary: Vocabulary) {
        self.sentences = sentences
        contents = sentences.map { Set($0.words.lazy.filter { vocabulary.isContent($0) }.map(\.stem)) }
        let turns = Double(max((sentences.last?.turn ?? 0), 1))
        let firstOfUser = sentences.firstIndex {
            $0.speaker == .user && Self.wordsRange.contains($0.words.count) && !Self.pointsBack($0, in: vocabulary)
        }
        var scores: [Double] = []
        for (index, sentence) in sentences.enumerated() {
            let length = Double(max(contents[index].count, 2)).squareRoot()
            var score = ranking.sentences[index] / length
            if !Self.wordsRange.contains(sentence.words.count) { score *= 0.35 }
            if contents[index].count < 2 { score *= 0.3 }
            // What somebody wants is said first, what comes of it last.
            if index == firstOfUser { score *= 2 }
            let place = Double(sentence.turn) / turns
            if place > 0.6, sentence.speaker == .assistant { score *= 1.25 }
            if sentence.isQuestion { score *= index == firstOfUser ? 1 : sentence.speaker == .user ? 0.6 : 0.3 }
            if sentence.words.contains(where: { $0.isNumber || vocabulary.timeWords.contains($0.lower) }) { score *= 1.25 }
            // What points at something said before cannot stand alone.
            if Self.pointsBack(sentence, in: vocabulary) { score *= 0.5 }
            if let first = sentence.words.first, Self.promises.contains(first.lower), sentence.speaker == .assistant { score *= 1.4 }
            scores.append(score)
        }
        self.scores = scores
    }

    private static func pointsBack(_ sentence: Sentence, in vocabulary: Vocabulary) -> Bool {
        let first = sentence.words.first { !vocabulary.openers.contains($0.lower) }
        return first.map { pointers.contains($0.lower) } ?? true || sentence.words.contains { objects.contains($0.text) }
    }

    /// What was done, or will be.
    private static let promises: Set<String> = ["i've", "i'll"]
    private static let objects: Set<String> = ["him", "her", "them", "ihn", "ihm", "ihnen", "sie", "lui", "leur", "ello"]
    private static let pointers: Set<String> = [
        "it", "it's", "that", "that's", "this", "they", "they're", "he", "she", "he's", "she's", "there", "those", "these", "es", "das",
        "dann", "er",
        "sie", "c'est", "eso", "esto",
    ]

    /// The places of the best sentences, in the conversation's order; no two that say the same.
    func best(_ count: Int) -> [Int] {
        let order = sentences.indices.sorted { (scores[$0], $1) > (scores[$1], $0) }
        var chosen: [Int] = []
        var told: Set<String> = []
        for index in order where chosen.count < count {
            let own = contents[index]
            let isKnown = !own.isEmpty && Double(own.intersection(told).count) > Self.overlapMax * Double(own.count)
            guard chosen.isEmpty || !isKnown && own.count > 1 else { continue }
            chosen.append(index)
            told.formUnion(own)
        }
        return chosen.sorted()
    }
}
