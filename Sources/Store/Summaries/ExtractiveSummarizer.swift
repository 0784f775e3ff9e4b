/// Summarizes without a network: the sentences that most of the conversation hangs on, told in their order.
///
/// The same turns always give the same summary. It knows English well, German, French and Spanish in outline, and makes of any other
/// language what frequencies tell.
package struct ExtractiveSummarizer: Summarizer {
    private static let sentencesRange = 2...4
    /// One sentence of the summary for so many of the conversation.
    private static let sentencesPerSentence = 5

    package init() {}

    package func summary(of session: Session, turns: [Turn]) async throws -> SummaryContent {
        content(of: turns)
    }

    func content(of turns: [Turn]) -> SummaryContent {
        let sentences = Sentence.all(of: turns)
        let vocabulary = Vocabulary.spoken(in: sentences)
        let phrases = vocabulary.phrases
        guard !sentences.isEmpty else {
            return SummaryContent(title: phrases.emptyTitle, summaryText: phrases.emptyText, actionItems: [], tags: [])
        }
        let ranking = SentenceRanking(sentences, in: vocabulary)
        let topics = Topics(sentences, ranking: ranking, in: vocabulary)
        return SummaryContent(
            title: topics.title ?? title(of: sentences, in: vocabulary),
            summaryText: text(of: sentences, ranking: ranking, in: vocabulary),
            actionItems: ActionItems(sentences, in: vocabulary).texts,
            tags: topics.tags)
    }

    private func title(of sentences: [Sentence], in vocabulary: Vocabulary) -> String {
        guard sentences.count == 1, sentences[0].words.count <= 4 else { return vocabulary.phrases.conversation }
        let said = sentences[0].text.drop { !$0.isLetter && !$0.isNumber }
        let end = said.lastIndex { $0.isLetter || $0.isNumber } ?? said.startIndex
        return String(said[...end]).capitalizedFirst.shortened(to: SummaryLimits.titleCharactersMax)
    }

    private func text(of sentences: [Sentence], ranking: SentenceRanking, in vocabulary: Vocabulary) -> String {
        let wanted = (sentences.count / Self.sentencesPerSentence).clamped(to: Self.sentencesRange)
        let chosen = Selection(sentences, ranking: ranking, in: vocabulary).best(wanted)
        let retelling = Retelling(vocabulary: vocabulary)
        var text = ""
        for place in chosen {
            let told = retelling.text(of: sentences[place]).shortened(to: SummaryLimits.textCharactersMax / 2)
            guard text.count + told.count < SummaryLimits.textCharactersMax else { break }
            text += text.isEmpty ? told : " " + told
        }
        return text
    }
}

extension Int {
    fileprivate func clamped(to range: ClosedRange<Int>) -> Int { Swift.min(Swift.max(self, range.lowerBound), range.upperBound) }
}
