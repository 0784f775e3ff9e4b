internal import Foundation
internal import GRDB
internal import Identity

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
        telling webhooks: @escaping @Sendable (Summary) -> [OutgoingWebhook] = { _ in [] }, at now: WallTime
    ) async throws(StoreError) -> Summary {
        let (keychain, summary) = (
            keychain, Summary(id: SummaryID(), sessionID: session, content: content, createdAt: now, isProvisional: isProvisional)
        )
        return try await writing { db in
            let key = try keychain.userKey(of: user, in: db)
            try db.execute(
                sql: "UPDATE sessions SET summary_status = 'ready' WHERE id = ? AND user_id = ? AND is_logged",
                arguments: [session.text, user.text])
            guard db.changesCount == 1 else { throw StoreError.notFound }
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO summaries
                    SELECT user_id, started_at, id, ?, ?, ?, ?, ?, ?, ? FROM sessions WHERE id = ?
                    """,
                arguments: [
                    summary.id.text, now.milliseconds, key.seal(content.title, at: Self.summaryPlace("title", session)),
                    key.seal(content.summaryText, at: Self.summaryPlace("summary_text", session)),
                    try key.seal(content.actionItems, at: Self.summaryPlace("action_items", session)),
                    try key.seal(content.tags, at: Self.summaryPlace("tags", session)), isProvisional, session.text,
                ])
            if let job {
                guard try isProvisional ? Self.isLeased(job, in: db) : Self.finish(job, in: db) else { throw StoreError.notFound }
            }
            try Self.tell(webhooks(summary), keychain, in: db, at: now)
            return summary
        }
    }

    /// Says that no summary will come; one that is there stays, and so does its status.
    ///
    /// - Throws: `notFound`.
    package func markSummaryFailed(for session: SessionID, of user: UserID) async throws(StoreError) {
        try await writing { db in
            guard try Self.sessionRow(session, of: user, in: db) != nil else { throw StoreError.notFound }
            try Self.markSummaryFailed(session.text, in: db)
        }
    }
}

// MARK: - Rows

extension SessionStore {
    static func summaryPlace(_ column: String, _ session: SessionID) -> String { "summaries.\(column).\(session)" }

    static func summary(of session: SessionID, _ key: SealingKey, in db: Database) throws -> Summary? {
        let statement = try db.cachedStatement(sql: "SELECT * FROM summaries WHERE session_id = ?")
        guard let row = try Row.fetchOne(statement, arguments: [session.text]) else { return nil }
        guard let id = SummaryID(text: row["id"]) else { throw StoreError.damaged(place: "summaries.id.\(session)") }
        let content = SummaryContent(
            title: try key.openText(row["title"], at: summaryPlace("title", session)),
            summaryText: try key.openText(row["summary_text"], at: summaryPlace("summary_text", session)),
            actionItems: try key.open(row["action_items"], as: [String].self, at: summaryPlace("action_items", session)),
            tags: try key.open(row["tags"], as: [String].self, at: summaryPlace("tags", session)))
        return Summary(
            id: id, sessionID: session, content: content, createdAt: WallTime(milliseconds: row["created_at"]),
            isProvisional: row["is_provisional"])
    }

    static func markSummaryFailed(_ session: String, in db: Database) throws {
        try db.execute(
            sql: "UPDATE sessions SET summary_status = 'failed' WHERE id = ? AND summary_status = 'pending'", arguments: [session])
    }
}
