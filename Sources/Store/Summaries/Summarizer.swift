/// Makes of a conversation what is worth to remember of it.
package protocol Summarizer: Sendable {
    /// - Parameter turns: oldest first.
    func summary(of session: Session, turns: [Turn]) async throws -> SummaryContent
}

/// What a summary may be at most, whoever made it: it is shown on a phone.
enum SummaryLimits {
    static let titleCharactersMax = 60
    static let textCharactersMax = 700
    static let actionItemsMax = 8
    static let actionItemCharactersMax = 140
    static let tagsMax = 6
    static let tagCharactersMax = 40
    /// Of a conversation that is longer, the rest is not looked at: about ten hours of talk.
    static let sentencesMax = 12_000
}

extension String {
    /// The text itself, or as many whole words of it as fit, with an ellipsis.
    func shortened(to charactersMax: Int) -> String {
        guard count > charactersMax else { return self }
        let head = prefix(charactersMax - 1)
        let end = head.lastIndex(of: " ") ?? head.endIndex
        return head[..<end].trimmingSuffix { $0 == "," || $0 == " " || $0 == ";" } + "…"
    }

    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension Substring {
    fileprivate func trimmingSuffix(while predicate: (Character) -> Bool) -> String {
        var rest = self
        while let last = rest.last, predicate(last) { rest.removeLast() }
        return String(rest)
    }
}
