internal import Foundation
internal import Identity

/// The stored summary of a session.
package struct Summary: Sendable, Hashable {
    package var id: SummaryID
    package var sessionID: SessionID
    package var content: SummaryContent
    package var createdAt: WallTime
    /// Made without the configured model, which failed; replaced as soon as the model answers.
    package var isProvisional = false
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

extension SessionStore {
    /// Stores the summary of a session in place of an earlier one, marks it ready, and finishes the job that made it.
    ///
    /// - Parameters:
    ///   - isProvisional: the configured model has yet to make the summary. The job must still be leased and stays.
    ///   - webhooks: enqueued in the same commit.
    /// - Throws: `notFound`, also when the job's lease has expired and another worker has it, or a later revision of a turn has reset it.
    @discardableResult
    package func saveSummary(
        _ content: SummaryContent, for session: SessionID, of user: UserID, isProvisional: Bool = false, finishing job: Job? = nil,
        webhooks: @escaping @Sendable (Summary) -> [OutgoingWebhook] = { _ in [] }, at now: WallTime
    ) async throws(StoreError) -> Summary {
        let summary = Summary(id: SummaryID(), sessionID: session, content: content, createdAt: now, isProvisional: isProvisional)
        return try await writing { db in
            let key = try db.key(of: user)
            let count = try db.execute(
                "UPDATE sessions SET summary_status = 'ready' WHERE id = ? AND user_id = ? AND is_logged", session, user)
            guard count == 1 else { throw StoreError.notFound }
            try db.execute(
                "INSERT OR REPLACE INTO summaries SELECT user_id, started_at, id, ?, ?, ?, ?, ?, ?, ? FROM sessions WHERE id = ?",
                summary.id, now, key.seal(content.title, at: Self.summaryLocation("title", session)),
                key.seal(content.summaryText, at: Self.summaryLocation("summary_text", session)),
                try key.seal(content.actionItems, at: Self.summaryLocation("action_items", session)),
                try key.seal(content.tags, at: Self.summaryLocation("tags", session)), isProvisional, session)
            if let job {
                guard try isProvisional ? Self.isLeased(job, in: db) : Self.finish(job, in: db) else { throw StoreError.notFound }
            }
            try Self.enqueue(webhooks(summary), in: db, at: now)
            return summary
        }
    }

    // MARK: - Rows

    static func summaryLocation(_ column: String, _ session: SessionID) -> String { "summaries.\(column).\(session)" }

    static func summary(of session: SessionID, _ key: SealingKey, in db: Transaction) throws -> Summary? {
        guard let row = try db.row("SELECT * FROM summaries WHERE session_id = ?", session) else { return nil }
        let content = try SummaryContent(
            title: key.openText(row["title"], at: summaryLocation("title", session)),
            summaryText: key.openText(row["summary_text"], at: summaryLocation("summary_text", session)),
            actionItems: key.open(row["action_items"], as: [String].self, at: summaryLocation("action_items", session)),
            tags: key.open(row["tags"], as: [String].self, at: summaryLocation("tags", session)))
        return try Summary(
            id: row["id"], sessionID: session, content: content, createdAt: row["created_at"], isProvisional: row["is_provisional"])
    }

    /// An earlier or provisional summary is kept.
    static func markSummaryFailed(_ session: String, in db: Transaction) throws {
        try db.execute(
            """
            UPDATE sessions SET summary_status = iif(EXISTS (SELECT 1 FROM summaries WHERE session_id = ?1), 'ready', 'failed')
            WHERE id = ?1 AND summary_status = 'pending'
            """, session)
    }
}
