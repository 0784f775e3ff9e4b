internal import Foundation
internal import GRDB
internal import Identity

extension SessionStore {
    /// Notes something to be done from `due` on. Of one kind and subject there is one job at a time.
    ///
    /// - Returns: false if there is one already.
    @discardableResult
    package func enqueue(
        _ kind: JobKind, subject: String, of user: UserID? = nil, session: SessionID? = nil, due: WallTime
    ) async throws(StoreError) -> Bool {
        try await writing { db in try Self.enqueue(kind: kind, subject: subject, of: user, session: session, due: due, in: db) }
    }

    /// Takes the job that has been due the longest. It is nobody else's until `span` has passed; then, unless it was finished, it is given out again, but
    /// at most `StoreLimits.jobAttemptsMax` times in all.
    package func lease(_ kind: JobKind, for span: Duration, at now: WallTime) async throws(StoreError) -> Job? {
        let hasDue = try await reading { db in
            try Bool.fetchOne(
                db, sql: "SELECT 1 FROM jobs WHERE kind = ? AND failed_at IS NULL AND due_at <= ? LIMIT 1",
                arguments: [kind.rawValue, now.milliseconds]) != nil
        }
        guard hasDue else { return nil }
        return try await writing { db in
            while true {
                let row = try Row.fetchOne(
                    db, sql: "SELECT * FROM jobs WHERE kind = ? AND failed_at IS NULL AND due_at <= ? ORDER BY due_at, id LIMIT 1",
                    arguments: [kind.rawValue, now.milliseconds])
                guard let row else { return nil }
                let job = Job(
                    id: row["id"], kind: kind, subject: row["subject"], userID: (row["user_id"] as String?).flatMap(UserID.init(text:)),
                    sessionID: (row["session_id"] as String?).flatMap(SessionID.init(text:)), attempts: row["attempts"] + 1)
                // Begun so often and never told how it went: it takes the process with it.
                guard job.attempts <= StoreLimits.jobAttemptsMax else {
                    try Self.markFailed(job, in: db, at: now)
                    continue
                }
                try db.execute(
                    sql: "UPDATE jobs SET attempts = ?, due_at = ?, is_leased = 1 WHERE id = ?",
                    arguments: [job.attempts, (now + span).milliseconds, job.id])
                return job
            }
        }
    }

    /// - Returns: false if the lease ran out and somebody else has the job.
    @discardableResult
    package func finish(_ job: Job) async throws(StoreError) -> Bool {
        try await writing { db in try Self.finish(job, in: db) }
    }

    /// Gives a job back, to be tried again from `due` on; or, at its last attempt, for good.
    ///
    /// - Parameter reason: for an operator.
    /// - Returns: whether it will be tried again.
    @discardableResult
    package func retry(_ job: Job, due: WallTime, reason: String, at now: WallTime) async throws(StoreError) -> Bool {
        guard job.attempts < StoreLimits.jobAttemptsMax else {
            try await fail(job, reason: reason, at: now)
            return false
        }
        let keychain = keychain
        return try await writing { db in
            try db.execute(
                sql: "UPDATE jobs SET due_at = ?, reason = ?, is_leased = 0 WHERE id = ? AND attempts = ? AND failed_at IS NULL",
                arguments: [
                    due.milliseconds, keychain.shared.seal(reason, at: Self.jobPlace(job.id)), job.id, job.attempts,
                ])
            return db.changesCount == 1
        }
    }

    /// Gives a job up. The summary of its session, if it was to make one, has failed with it.
    package func fail(_ job: Job, reason: String, at now: WallTime) async throws(StoreError) {
        let keychain = keychain
        try await writing { db in
            let sealed = keychain.shared.seal(reason, at: Self.jobPlace(job.id))
            try db.execute(
                sql: "UPDATE jobs SET reason = ? WHERE id = ? AND attempts = ? AND failed_at IS NULL",
                arguments: [sealed, job.id, job.attempts])
            if db.changesCount == 1 { try Self.markFailed(job, in: db, at: now) }
        }
    }

    /// Jobs that were given up, with the reason where one was told, newest first.
    package func failedJobs(limit: Int = 100) async throws(StoreError) -> [(kind: JobKind, subject: String, reason: String?)] {
        let keychain = keychain
        return try await reading { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT * FROM jobs WHERE failed_at IS NOT NULL ORDER BY failed_at DESC, id DESC LIMIT ?", arguments: [limit])
            return try rows.map { row in
                let reason = try (row["reason"] as Data?).map { try keychain.shared.openText($0, at: Self.jobPlace(row["id"])) }
                return (JobKind(rawValue: row["kind"]), row["subject"], reason)
            }
        }
    }
}

// MARK: - Rows

extension SessionStore {
    static func jobPlace(_ id: Int64) -> String { "jobs.reason.\(id)" }

    @discardableResult
    static func enqueue(
        kind: JobKind, subject: String, of user: UserID?, session: SessionID?, due: WallTime, in db: Database
    ) throws -> Bool {
        // One that was given up makes room for another try.
        try db.execute(
            sql: "DELETE FROM jobs WHERE kind = ? AND subject = ? AND failed_at IS NOT NULL", arguments: [kind.rawValue, subject])
        try db.execute(
            sql: "INSERT OR IGNORE INTO jobs (kind, subject, user_id, session_id, due_at) VALUES (?, ?, ?, ?, ?)",
            arguments: [kind.rawValue, subject, user?.text, session?.text, due.milliseconds])
        return db.changesCount == 1
    }

    /// Makes the summary of an ended session anew: its conversation has changed. A worker that is making it loses its lease, for the job is another.
    static func resetSummary(of session: SessionID, user: UserID, due: WallTime, in db: Database) throws {
        try db.execute(sql: "DELETE FROM jobs WHERE kind = ? AND subject = ?", arguments: [JobKind.summary.rawValue, session.text])
        try enqueue(kind: .summary, subject: session.text, of: user, session: session, due: due, in: db)
        try db.execute(
            sql: "UPDATE sessions SET summary_status = 'pending' WHERE id = ? AND summary_status = 'failed'", arguments: [session.text])
    }

    static func isLeased(_ job: Job, in db: Database) throws -> Bool {
        try Bool.fetchOne(
            db, sql: "SELECT 1 FROM jobs WHERE id = ? AND attempts = ? AND failed_at IS NULL", arguments: [job.id, job.attempts]) != nil
    }

    static func finish(_ job: Job, in db: Database) throws -> Bool {
        try db.execute(sql: "DELETE FROM jobs WHERE id = ? AND attempts = ? AND failed_at IS NULL", arguments: [job.id, job.attempts])
        return db.changesCount == 1
    }

    private static func markFailed(_ job: Job, in db: Database, at now: WallTime) throws {
        try db.execute(sql: "UPDATE jobs SET failed_at = ? WHERE id = ?", arguments: [now.milliseconds, job.id])
        if job.kind == .summary { try markSummaryFailed(job.subject, in: db) }
    }
}
