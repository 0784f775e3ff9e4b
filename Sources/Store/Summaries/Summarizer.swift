/// Makes the summary of a conversation.
package protocol Summarizer: Sendable {
    /// - Parameter turns: oldest first.
    func summary(of session: Session, turns: [Turn]) async throws -> SummaryContent
}

/// Upper limits of every summary: it is shown on a phone.
enum SummaryLimits {
    static let titleCharactersMax = 60
    static let textCharactersMax = 700
    static let actionItemsMax = 8
    static let actionItemCharactersMax = 140
    static let tagsMax = 6
    static let tagCharactersMax = 40
    /// Sentences beyond this are ignored: about ten hours of talk.
    static let sentencesMax = 12_000
}

extension String {
    /// The text itself if it fits, else its longest prefix of whole words, followed by an ellipsis.
    func shortened(to charactersMax: Int) -> String {
        guard count > charactersMax else { return self }
        var head = prefix(charactersMax - 1)
        // Scripts without spaces are cut between characters.
        if let space = head.lastIndex(of: " "), head.distance(from: head.startIndex, to: space) > charactersMax / 2 {
            head = head[..<space]
        }
        while let last = head.last, last == "," || last == ";" || last.isWhitespace { head.removeLast() }
        return head + "…"
    }
}
