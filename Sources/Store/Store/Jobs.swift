internal import Foundation
internal import Identity

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

package struct JobKind: Sendable, Hashable, RawRepresentable, ColumnValue {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Summarize the session that is the subject.
    package static let summary = JobKind(rawValue: "summary")
}

extension SessionStore {
    /// Adds a job that is due at `due`. There is at most one job per kind and subject.
    ///
    /// - Returns: false if the job exists.
    @discardableResult
    package func enqueue(
        _ kind: JobKind, subject: String, of user: UserID? = nil, session: SessionID? = nil, due: WallTime
    ) async throws(StoreError) -> Bool {
        try await writing { db in try Self.enqueue(kind: kind, subject: subject, of: user, session: session, due: due, in: db) }
    }

    /// Leases the job that has been due the longest for `span`. An unfinished job can be leased again when its lease expires, at most
    /// `StoreLimits.jobAttemptsMax` times in all.
    package func lease(_ kind: JobKind, for span: Duration, at now: WallTime) async throws(StoreError) -> Job? {
        let due = "SELECT * FROM jobs WHERE kind = ? AND failed_at IS NULL AND due_at <= ? ORDER BY due_at, id LIMIT 1"
        guard try await reading({ db in try db.has(due, kind, now) }) else { return nil }
        return try await writing { db in
            while let row = try db.row(due, kind, now) {
                let job = try Job(
                    id: row["id"], kind: kind, subject: row["subject"], userID: row["user_id"], sessionID: row["session_id"],
                    attempts: row["attempts"] + 1)
                guard job.attempts > StoreLimits.jobAttemptsMax else {
                    try db.execute("UPDATE jobs SET attempts = ?, due_at = ?, is_leased = 1 WHERE id = ?", job.attempts, now + span, job.id)
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
        try await writing { db in try Self.finish(job, in: db) }
    }

    /// Returns a job to the queue, due at `due`; fails it if that was the last attempt.
    ///
    /// - Parameter reason: shown to operators.
    /// - Returns: whether the job will be retried.
    @discardableResult
    package func retry(_ job: Job, due: WallTime, reason: String, at now: WallTime) async throws(StoreError) -> Bool {
        guard job.attempts < StoreLimits.jobAttemptsMax else {
            try await fail(job, reason: reason, at: now)
            return false
        }
        return try await writing { db in
            try db.execute(
                "UPDATE jobs SET due_at = ?, reason = ?, is_leased = 0 WHERE \(Self.isLeased)",
                due, db.shared.seal(reason, at: Self.jobLocation(job.id)), job.id, job.attempts) == 1
        }
    }

    /// Fails a job for good. A session without a summary gets the status `failed`.
    package func fail(_ job: Job, reason: String, at now: WallTime) async throws(StoreError) {
        try await writing { db in
            let sealed = db.shared.seal(reason, at: Self.jobLocation(job.id))
            guard try db.execute("UPDATE jobs SET reason = ? WHERE \(Self.isLeased)", sealed, job.id, job.attempts) == 1 else { return }
            try Self.markFailed(job, in: db, at: now)
        }
    }

    /// Failed jobs with their reasons, newest first.
    package func failedJobs(limit: Int = 100) async throws(StoreError) -> [(kind: JobKind, subject: String, reason: String?)] {
        try await reading { db in
            try db.rows("SELECT * FROM jobs WHERE failed_at IS NOT NULL ORDER BY failed_at DESC, id DESC LIMIT ?", limit).map { row in
                try (row["kind"], row["subject"], db.shared.openText(ifPresent: row["reason"], at: Self.jobLocation(row["id"])))
            }
        }
    }

    // MARK: - Rows

    static func jobLocation(_ id: Int64) -> String { "jobs.reason.\(id)" }

    /// The condition that a job's lease, identified by `id` and `attempts`, has not expired.
    private static let isLeased = "id = ? AND attempts = ? AND failed_at IS NULL"

    @discardableResult
    static func enqueue(
        kind: JobKind, subject: String, of user: UserID?, session: SessionID?, due: WallTime, in db: Transaction
    ) throws -> Bool {
        // A failed job is replaced.
        try db.execute("DELETE FROM jobs WHERE kind = ? AND subject = ? AND failed_at IS NOT NULL", kind, subject)
        return try db.execute(
            "INSERT OR IGNORE INTO jobs (kind, subject, user_id, session_id, due_at) VALUES (?, ?, ?, ?, ?)",
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
        if job.kind == .summary { try markSummaryFailed(job.subject, in: db) }
    }
}
