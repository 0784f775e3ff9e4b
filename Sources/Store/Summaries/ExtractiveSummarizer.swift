internal import Glibc

/// Summarizes without a model, by quoting the conversation verbatim: the user's first request as title, the most central sentences, the user's
/// requests that were neither withdrawn nor done later (`RequestCues`), and the words with the most weight as tags. Deterministic.
package struct ExtractiveSummarizer: Summarizer {
    private static let sentencesRange = 2...4
    /// Conversation sentences per sentence of the summary.
    private static let sentencesPerQuote = 5
    /// A sentence that shares this part of its words with the sentences already quoted is redundant.
    private static let overlapMax = 0.6

    package init() {}

    package func summary(of session: Session, turns: [Turn]) async throws -> SummaryContent {
        content(of: turns, language: session.language)
    }

    /// - Parameter language: of what is not quoted, as a BCP 47 tag; nil is English.
    func content(of turns: [Turn], language: String?) -> SummaryContent {
        let sentences = Sentence.all(of: turns)
        let words = ExportWords(locale: language ?? "en")
        guard !sentences.isEmpty else {
            return SummaryContent(title: words.emptyConversation, summaryText: words.nothingSaid, actionItems: [], tags: [])
        }
        let weights = Self.weights(of: sentences)
        let request = Self.firstRequest(in: sentences)
        return SummaryContent(
            title: sentences[request].text.shortenedToTitle,
            summaryText: Self.quotes(from: sentences, weights: weights, firstRequest: request, words: words),
            actionItems: Self.openRequests(in: sentences), tags: Self.tags(of: sentences, weights: weights))
    }

    /// Words that connect the conversation weigh most: said in several sentences (term frequency), but not in all of them (inverse
    /// document frequency, with a sentence as the document).
    private static func weights(of sentences: [Sentence]) -> [String: Double] {
        let total = Double(sentences.count)
        let counts = Dictionary(sentences.flatMap(\.words).map { ($0, 1.0) }, uniquingKeysWith: +)
        return counts.mapValues { count in count * log(1 + total / count) }
    }

    /// The first user sentence that is long enough to be a request, or a question of the same turn.
    private static func firstRequest(in sentences: [Sentence]) -> Int {
        let candidates = sentences.indices.filter { sentences[$0].speaker == .user && sentences[$0].length >= 4 }
        guard let first = candidates.first else { return sentences.firstIndex { $0.speaker == .user } ?? 0 }
        return candidates.first { sentences[$0].turn == sentences[first].turn && sentences[$0].isQuestion } ?? first
    }

    private static func quotes(
        from sentences: [Sentence], weights: [String: Double], firstRequest: Int, words: ExportWords
    ) -> String {
        let lastTurn = Double(max(sentences[sentences.count - 1].turn, 1))
        var scores = sentences.indices.map { index in
            let sentence = sentences[index]
            let sum = sentence.words.reduce(0) { $0 + (weights[$1] ?? 0) }
            // The root keeps long sentences from winning by length alone.
            var score = sum / Double(max(sentence.words.count, 3)).squareRoot()
            if !(4...40).contains(sentence.length) { score *= 0.3 }
            // Requests come first, results last.
            if index == firstRequest { score *= 2 } else if sentence.isQuestion { score *= sentence.speaker == .user ? 0.7 : 0.3 }
            if sentence.speaker == .assistant, Double(sentence.turn) / lastTurn > 0.6 { score *= 1.25 }
            return score
        }
        let count = min(max(sentences.count / sentencesPerQuote, sentencesRange.lowerBound), sentencesRange.upperBound)
        var chosen: [Int] = []
        var covered: Set<String> = []
        while chosen.count < count, let best = scores.indices.max(by: { (scores[$0], $1) < (scores[$1], $0) }), scores[best] >= 0 {
            scores[best] = -1
            let shared = Double(sentences[best].words.intersection(covered).count)
            guard chosen.isEmpty || shared < overlapMax * Double(sentences[best].words.count) else { continue }
            chosen.append(best)
            covered.formUnion(sentences[best].words)
        }
        var text = ""
        var speaker: Turn.Speaker?
        for index in chosen.sorted() {
            let sentence = sentences[index]
            var quote = "“\(sentence.text.shortened(to: SummaryLimits.textCharactersMax / 2))”"
            if sentence.speaker != speaker { quote = words.name(of: sentence.speaker) + ": " + quote }
            guard text.count + quote.count < SummaryLimits.textCharactersMax else { break }
            text += text.isEmpty ? quote : " " + quote
            speaker = sentence.speaker
        }
        return text
    }

    private static func openRequests(in sentences: [Sentence]) -> [String] {
        var items: [String] = []
        var covered: [Set<String>] = []
        for (index, sentence) in sentences.enumerated() where items.count < SummaryLimits.actionItemsMax {
            guard sentence.speaker == .user, sentence.asks, !sentence.words.isEmpty else { continue }
            // Said twice, listed once.
            let isRepeated = covered.contains { sentence.overlap(with: $0) > overlapMax }
            guard !isRepeated, !isClosed(sentence, by: sentences[(index + 1)...]) else { continue }
            items.append(sentence.text.shortened(to: SummaryLimits.actionItemCharactersMax))
            covered.append(sentence.words)
        }
        return items
    }

    /// Whether a request was done or withdrawn in the sentences after it.
    private static func isClosed(_ request: Sentence, by later: ArraySlice<Sentence>) -> Bool {
        let reply = later.prefix { $0.turn <= request.turn + 1 }.filter { $0.speaker == .assistant }
        if !reply.contains(where: { $0.cues.contains(.promise) }) {
            // "Done." refers to what was said just before.
            if reply.contains(where: { $0.cues.contains(.completion) && ($0.words.count < 2 || $0.overlap(with: request.words) > 0) }) {
                return true
            }
            // A question is answered by a reply about the same thing.
            if request.cues.contains(.polite), reply.contains(where: { !$0.isQuestion && request.overlap(with: $0.words) >= 0.3 }) {
                return true
            }
        }
        return later.contains { sentence in
            guard !sentence.cues.isDisjoint(with: [.completion, .withdrawal]) else { return false }
            let isSame =
                request.overlap(with: sentence.words) >= 0.5 || sentence.words.count > 1 && sentence.overlap(with: request.words) >= 0.5
            if sentence.cues.contains(.withdrawal), sentence.speaker == .user {
                // "Never mind." refers to what was said just before, "Never mind the milk." to its subject.
                return isSame || sentence.turn <= request.turn + 2 && (sentence.length <= 3 || sentence.overlap(with: request.words) > 0)
            }
            return isSame && sentence.cues.contains(.completion) && !sentence.asks && !sentence.cues.contains(.promise)
        }
    }

    private static func tags(of sentences: [Sentence], weights: [String: Double]) -> [String] {
        let saidOnce = log(1 + Double(sentences.count))
        var candidates: [String: Double] = [:]
        for (word, factor) in sentences.flatMap(\.tagWords) {
            let weight = weights[word] ?? 0
            if factor >= 1 || weight > saidOnce { candidates[word] = max(weight * factor, candidates[word] ?? 0) }
        }
        return candidates.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(SummaryLimits.tagsMax)
            .map { $0.key.shortened(to: SummaryLimits.tagCharactersMax) }
    }
}
