/// How much of the conversation hangs on each sentence and on each word.
///
/// TextRank on the graph of sentences and their words: a sentence counts if its words do, a word if the sentences that have it do. Going
/// by way of the words costs as much as there are words; comparing each sentence with each other, as the method is often written,
/// would make two hours of talk take a minute.
struct SentenceRanking {
    /// By the sentence's place.
    private(set) var sentences: [Double]
    /// By the word's stem. Words without meaning of their own are not in it.
    private(set) var stems: [String: Double] = [:]

    private static let rounds = 12
    private static let damping = 0.85

    init(_ all: [Sentence], in vocabulary: Vocabulary) {
        var places: [String: Int] = [:]
        var names: [String] = []
        var counts: [Double] = []
        let members = all.map { sentence in
            var own: [Int] = []
            for word in sentence.words where vocabulary.isContent(word) {
                let place: Int
                if let known = places[word.stem] {
                    place = known
                } else {
                    place = names.count
                    places[word.stem] = place
                    names.append(word.stem)
                    counts.append(0)
                }
                if !own.contains(place) {
                    own.append(place)
                    counts[place] += 1
                }
            }
            return own
        }
        let base = (1 - Self.damping) / Double(max(all.count, 1))
        var ranks = [Double](repeating: 1 / Double(max(all.count, 1)), count: all.count)
        var weights = [Double](repeating: 0, count: names.count)
        for _ in 0..<Self.rounds {
            for index in weights.indices { weights[index] = 0 }
            for (index, own) in members.enumerated() where !own.isEmpty {
                let share = ranks[index] / Double(own.count)
                for place in own { weights[place] += share }
            }
            for (index, own) in members.enumerated() {
                var sum = 0.0
                for place in own { sum += weights[place] / counts[place] }
                ranks[index] = base + Self.damping * sum
            }
        }
        sentences = ranks
        for (name, weight) in zip(names, weights) { stems[name] = weight * Double(max(all.count, 1)) }
    }
}
