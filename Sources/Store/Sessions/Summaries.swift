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

/// A unit of work that is done at least once, across restarts.
package struct Job: Sendable, Hashable {
    package let id: Int64
    package let kind: JobKind
    /// An identifier, never user text.
    package let subject: String
    package let userID: UserID?
    package let sessionID: SessionID?
    /// Attempts, including this one; identifies the lease.
    package let attempts: Int
}

package struct JobKind: Sendable, Hashable, RawRepresentable, SQLValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// Summarize the session that is the subject.
    package static let summary = JobKind(rawValue: "summary")
}

extension Sessions {
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
        return try await database.write { db in
            let key = try db.key(of: user)
            let count = try db.execute(
                "UPDATE sessions SET summary_status = 'ready' WHERE id = ? AND user_id = ? AND is_logged = 1", session, user)
            guard count == 1 else { throw StoreError.notFound }
            try db.execute(
                """
                INSERT INTO summaries SELECT user_id, started_at, id, ?, ?, ?, ?, ?, ?, ? FROM sessions WHERE id = ?
                ON CONFLICT (session_id) DO UPDATE SET id = excluded.id, created_at = excluded.created_at, title = excluded.title,
                    summary_text = excluded.summary_text, action_items = excluded.action_items, tags = excluded.tags,
                    is_provisional = excluded.is_provisional
                """,
                summary.id, now, key.seal(content.title, at: Self.summaryLocation("title", session)),
                key.seal(content.summaryText, at: Self.summaryLocation("summary_text", session)),
                try key.seal(content.actionItems, at: Self.summaryLocation("action_items", session)),
                try key.seal(content.tags, at: Self.summaryLocation("tags", session)), isProvisional, session)
            if let job {
                guard try isProvisional ? Self.isLeased(job, in: db) : Self.finish(job, in: db) else { throw StoreError.notFound }
            }
            try Webhooks.enqueue(webhooks(summary), in: db, at: now)
            return summary
        }
    }

    // MARK: - Rows

    static func summaryLocation(_ column: String, _ session: SessionID) -> String { "summaries.\(column).\(session)" }

    static func summary(of session: SessionID, _ key: SealingKey, in db: Transaction) throws -> Summary? {
        guard let row = try db.one("SELECT * FROM summaries WHERE session_id = ?", session) else { return nil }
        let content = try SummaryContent(
            title: key.openText(row["title"], at: summaryLocation("title", session)),
            summaryText: key.openText(row["summary_text"], at: summaryLocation("summary_text", session)),
            actionItems: key.open(row["action_items"], as: [String].self, at: summaryLocation("action_items", session)),
            tags: key.open(row["tags"], as: [String].self, at: summaryLocation("tags", session)))
        return try Summary(
            id: row["id"], sessionID: session, content: content, createdAt: row["created_at"], isProvisional: row["is_provisional"])
    }
}

/// Jobs.
extension Sessions {
    /// Leases the job that has been due the longest for `span`. An unfinished job can be leased again when its lease expires, at most
    /// `StoreLimits.jobAttemptsMax` times in all.
    package func lease(_ kind: JobKind, for span: Duration, at now: WallTime) async throws(StoreError) -> Job? {
        let due = "SELECT * FROM jobs WHERE kind = ? AND failed_at IS NULL AND due_at <= ? ORDER BY due_at, id LIMIT 1"
        guard try await database.read({ db in try db.has(due, kind, now) }) else { return nil }
        let node = database.node
        return try await database.write { db in
            while let row = try db.one(due, kind, now) {
                let job = try Job(
                    id: row["id"], kind: kind, subject: row["subject"], userID: row["user_id"], sessionID: row["session_id"],
                    attempts: row["attempts"] + 1)
                guard job.attempts > StoreLimits.jobAttemptsMax else {
                    try db.execute(
                        "UPDATE jobs SET attempts = ?, due_at = ?, node = ? WHERE id = ?", job.attempts, now + span, node, job.id)
                    return job
                }
                // Started this often without an outcome: it probably crashes the process.
                try Self.markFailed(job, in: db, at: now)
            }
            return nil
        }
    }

    /// - Returns: false if the lease expired and another worker has the job.
    @discardableResult
    package func finish(_ job: Job) async throws(StoreError) -> Bool {
        try await database.write { db in try Self.finish(job, in: db) }
    }

    /// Returns a job to the queue, due at `due`; fails it if that was the last attempt. A session without a summary gets the status `failed`.
    ///
    /// - Parameter reason: shown to operators.
    /// - Returns: whether the job will be retried.
    @discardableResult
    package func retry(_ job: Job, due: WallTime, reason: String, at now: WallTime) async throws(StoreError) -> Bool {
        try await database.write { db in
            let count = try db.execute(
                "UPDATE jobs SET due_at = ?, reason = ?, node = NULL WHERE \(Self.isLeased)",
                due, db.shared.seal(reason, at: Self.jobLocation(job.id)), job.id, job.attempts)
            guard count == 1, job.attempts >= StoreLimits.jobAttemptsMax else { return count == 1 }
            try Self.markFailed(job, in: db, at: now)
            return false
        }
    }

    /// Failed jobs with their reasons, newest first.
    package func failedJobs(limit: Int = 100) async throws(StoreError) -> [(kind: JobKind, subject: String, reason: String?)] {
        try await database.read { db in
            try db.all("SELECT * FROM jobs WHERE failed_at IS NOT NULL ORDER BY failed_at DESC, id DESC LIMIT ?", limit).map { row in
                try (row["kind"], row["subject"], db.shared.openText(ifPresent: row["reason"], at: Self.jobLocation(row["id"])))
            }
        }
    }

    // MARK: - Rows

    static func jobLocation(_ id: Int64) -> String { "jobs.reason.\(id)" }

    /// The condition that a job's lease, identified by `id` and `attempts`, has not expired.
    private static let isLeased = "id = ? AND attempts = ? AND failed_at IS NULL"

    /// Adds a job that is due at `due`. There is at most one job per kind and subject.
    ///
    /// - Returns: false if the job exists.
    @discardableResult
    static func enqueue(
        kind: JobKind, subject: String, of user: UserID? = nil, session: SessionID? = nil, due: WallTime, in db: Transaction
    ) throws -> Bool {
        // A failed job is replaced.
        try db.execute("DELETE FROM jobs WHERE kind = ? AND subject = ? AND failed_at IS NOT NULL", kind, subject)
        return try db.execute(
            "INSERT INTO jobs (kind, subject, user_id, session_id, due_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            kind, subject, user, session, due) == 1
    }

    /// Enqueues the summary of an ended session whose conversation has changed. Its status is `pending` until then; the earlier summary
    /// remains. A worker that holds the old job loses its lease, because the new job has another id.
    static func resetSummary(of session: SessionID, user: UserID, due: WallTime, in db: Transaction) throws {
        try db.execute("DELETE FROM jobs WHERE kind = ? AND subject = ?", JobKind.summary, session)
        try enqueue(kind: .summary, subject: session.text, of: user, session: session, due: due, in: db)
        try db.execute("UPDATE sessions SET summary_status = 'pending' WHERE id = ?", session)
    }

    static func isLeased(_ job: Job, in db: Transaction) throws -> Bool {
        try db.has("SELECT 1 FROM jobs WHERE \(isLeased)", job.id, job.attempts)
    }

    static func finish(_ job: Job, in db: Transaction) throws -> Bool {
        try db.execute("DELETE FROM jobs WHERE \(isLeased)", job.id, job.attempts) == 1
    }

    private static func markFailed(_ job: Job, in db: Transaction, at now: WallTime) throws {
        try db.execute("UPDATE jobs SET failed_at = ? WHERE id = ?", now, job.id)
        guard job.kind == .summary else { return }
        // An earlier or provisional summary is kept.
        try db.execute(
            """
            UPDATE sessions SET summary_status =
                CASE WHEN EXISTS (SELECT 1 FROM summaries WHERE session_id = ?1) THEN 'ready' ELSE 'failed' END
            WHERE id = ?1 AND summary_status = 'pending'
            """, job.subject)
    }
}
