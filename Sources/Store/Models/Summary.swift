/// The stored summary of a session.
package struct Summary: Sendable, Hashable {
    package var id: SummaryID
    package var sessionID: SessionID
    package var content: SummaryContent
    package var createdAt: WallTime
    /// Made without the configured model, which failed; replaced as soon as the model answers.
    package var isProvisional: Bool

    package init(id: SummaryID, sessionID: SessionID, content: SummaryContent, createdAt: WallTime, isProvisional: Bool = false) {
        self.id = id
        self.sessionID = sessionID
        self.content = content
        self.createdAt = createdAt
        self.isProvisional = isProvisional
    }
}

/// The output of a summarizer.
package struct SummaryContent: Sendable, Hashable, Codable {
    package var title: String
    package var summaryText: String
    package var actionItems: [String]
    package var tags: [String]

    package init(title: String, summaryText: String, actionItems: [String], tags: [String]) {
        self.title = title
        self.summaryText = summaryText
        self.actionItems = actionItems
        self.tags = tags
    }
}
