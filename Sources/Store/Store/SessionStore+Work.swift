internal import Foundation
internal import GRDB
internal import Identity
internal import Wire

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
                // Started this often without an outcome: it probably crashes the process.
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
        let keychain = keychain
        return try await writing { db in
            try db.execute(
                sql: "UPDATE jobs SET due_at = ?, reason = ?, is_leased = 0 WHERE id = ? AND attempts = ? AND failed_at IS NULL",
                arguments: [
                    due.milliseconds, keychain.shared.seal(reason, at: Self.jobLocation(job.id)), job.id, job.attempts,
                ])
            return db.changesCount == 1
        }
    }

    /// Fails a job for good. A session without a summary gets the status `failed`.
    package func fail(_ job: Job, reason: String, at now: WallTime) async throws(StoreError) {
        let keychain = keychain
        try await writing { db in
            let sealed = keychain.shared.seal(reason, at: Self.jobLocation(job.id))
            try db.execute(
                sql: "UPDATE jobs SET reason = ? WHERE id = ? AND attempts = ? AND failed_at IS NULL",
                arguments: [sealed, job.id, job.attempts])
            if db.changesCount == 1 { try Self.markFailed(job, in: db, at: now) }
        }
    }

    /// Failed jobs with their reasons, newest first.
    package func failedJobs(limit: Int = 100) async throws(StoreError) -> [(kind: JobKind, subject: String, reason: String?)] {
        let keychain = keychain
        return try await reading { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT * FROM jobs WHERE failed_at IS NOT NULL ORDER BY failed_at DESC, id DESC LIMIT ?", arguments: [limit])
            return try rows.map { row in
                let reason = try (row["reason"] as Data?).map { try keychain.shared.openText($0, at: Self.jobLocation(row["id"])) }
                return (JobKind(rawValue: row["kind"]), row["subject"], reason)
            }
        }
    }
}

// MARK: - Rows

extension SessionStore {
    static func jobLocation(_ id: Int64) -> String { "jobs.reason.\(id)" }

    @discardableResult
    static func enqueue(
        kind: JobKind, subject: String, of user: UserID?, session: SessionID?, due: WallTime, in db: Database
    ) throws -> Bool {
        // A failed job is replaced.
        try db.execute(
            sql: "DELETE FROM jobs WHERE kind = ? AND subject = ? AND failed_at IS NOT NULL", arguments: [kind.rawValue, subject])
        try db.execute(
            sql: "INSERT OR IGNORE INTO jobs (kind, subject, user_id, session_id, due_at) VALUES (?, ?, ?, ?, ?)",
            arguments: [kind.rawValue, subject, user?.text, session?.text, due.milliseconds])
        return db.changesCount == 1
    }

    /// Enqueues the summary of an ended session whose conversation has changed. Its status is `pending` until then; the earlier summary remains.
    /// A worker that holds the old job loses its lease, because the new job has another id.
    static func resetSummary(of session: SessionID, user: UserID, due: WallTime, in db: Database) throws {
        try db.execute(sql: "DELETE FROM jobs WHERE kind = ? AND subject = ?", arguments: [JobKind.summary.rawValue, session.text])
        try enqueue(kind: .summary, subject: session.text, of: user, session: session, due: due, in: db)
        try db.execute(sql: "UPDATE sessions SET summary_status = 'pending' WHERE id = ?", arguments: [session.text])
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

extension SessionStore {
    /// Enqueues webhooks, to be sent in this order.
    package func enqueue(_ webhooks: [OutgoingWebhook], at now: WallTime) async throws(StoreError) {
        guard !webhooks.isEmpty else { return }
        let keychain = keychain
        try await writing { db in try Self.enqueue(webhooks, keychain, in: db, at: now) }
    }

    /// Leases webhooks for `endpoint`: the first of each lane (one room, one endpoint), so that none overtakes another. A lane is leased
    /// until `span` has passed or its webhook is delivered or returned. Webhooks older than `StoreLimits.webhookLifetime` become dead.
    package func leaseWebhooks(
        to endpoint: String, limit: Int, for span: Duration, at now: WallTime
    ) async throws(StoreError) -> [StoredWebhook] {
        let keychain = keychain
        let receiver = Self.receiver(endpoint, keychain)
        let hasDue = try await reading { db in
            try Bool.fetchOne(
                db, sql: "SELECT 1 FROM webhook_lanes WHERE endpoint = ? AND due_at <= ? LIMIT 1", arguments: [receiver, now.milliseconds])
                != nil
        }
        guard hasDue else { return [] }
        return try await writing { db in
            let lanes = try Data.fetchAll(
                db, sql: "SELECT lane FROM webhook_lanes WHERE endpoint = ? AND due_at <= ? ORDER BY due_at, lane LIMIT ?",
                arguments: [receiver, now.milliseconds, limit])
            return try lanes.compactMap { lane in
                try db.execute(
                    sql: "UPDATE webhooks SET closed_at = ?, status = 'dead' WHERE lane = ? AND closed_at IS NULL AND expires_at <= ?",
                    arguments: [now.milliseconds, lane, now.milliseconds])
                if db.changesCount > 0 { try Self.deleteClosedTransients(in: db) }
                guard let row = try Self.firstWaiting(in: lane, db) else {
                    try Self.deleteLane(lane, in: db)
                    return nil
                }
                try db.execute(sql: "UPDATE webhooks SET attempts = attempts + 1 WHERE number = ?", arguments: [row["number"] as Int64])
                try Self.setDue(now + span, ofLane: lane, isLeased: true, in: db)
                return try Self.webhook(from: row, attempts: row["attempts"] + 1, keychain)
            }
        }
    }

    /// - Returns: false if the lease expired, or the webhook was deleted.
    @discardableResult
    package func delivered(_ webhook: StoredWebhook, at now: WallTime) async throws(StoreError) -> Bool {
        let keychain = keychain
        return try await writing { db in
            try db.execute(
                sql: """
                    UPDATE webhooks SET closed_at = ?, status = 'delivered', reason = NULL
                    WHERE number = ? AND attempts = ? AND closed_at IS NULL
                    """,
                arguments: [now.milliseconds, webhook.number, webhook.attempts])
            guard db.changesCount == 1 else { return false }
            try Self.deleteClosedTransients(in: db)
            try Self.advance(Self.lane(of: webhook.webhook, keychain), in: db, at: now)
            return true
        }
    }

    /// Marks a webhook dead, unless it is replayed, and advances its lane.
    ///
    /// - Parameter reason: shown to operators.
    package func giveUp(_ webhook: StoredWebhook, reason: String, at now: WallTime) async throws(StoreError) {
        let keychain = keychain
        try await writing { db in
            let lane = Self.lane(of: webhook.webhook, keychain)
            let sealed = keychain.shared.seal(reason, at: Self.location("reason", webhook.webhook.id.text, lane))
            try db.execute(
                sql: """
                    UPDATE webhooks SET closed_at = ?, status = 'dead', reason = ? WHERE number = ? AND attempts = ? AND closed_at IS NULL
                    """,
                arguments: [now.milliseconds, sealed, webhook.number, webhook.attempts])
            if db.changesCount == 1 {
                try Self.deleteClosedTransients(in: db)
                try Self.advance(lane, in: db, at: now)
            }
        }
    }

    /// Returns a webhook and its lane to the queue, due at `due`.
    ///
    /// - Parameter reason: shown to operators.
    package func retry(_ webhook: StoredWebhook, due: WallTime, reason: String) async throws(StoreError) {
        let keychain = keychain
        try await writing { db in
            let lane = Self.lane(of: webhook.webhook, keychain)
            let sealed = keychain.shared.seal(reason, at: Self.location("reason", webhook.webhook.id.text, lane))
            try db.execute(
                sql: "UPDATE webhooks SET reason = ? WHERE number = ? AND attempts = ? AND closed_at IS NULL",
                arguments: [sealed, webhook.number, webhook.attempts])
            if db.changesCount == 1 { try Self.setDue(due, ofLane: lane, in: db) }
        }
    }

    /// The newest webhooks first.
    ///
    /// - Parameter status: nil for all.
    package func webhooks(_ status: StoredWebhook.Status? = nil, limit: Int = 100) async throws(StoreError) -> [StoredWebhook] {
        let keychain = keychain
        return try await reading { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT * FROM webhooks WHERE ?1 IS NULL OR status = ?1 ORDER BY number DESC LIMIT ?2",
                arguments: [status?.rawValue, limit])
            return try rows.map { try Self.webhook(from: $0, attempts: $0["attempts"], keychain) }
        }
    }

    /// Webhooks that wait for their delivery, and when the oldest of them was enqueued or replayed.
    package func waitingWebhooks() async throws(StoreError) -> (count: Int, oldest: WallTime?) {
        try await reading { db in
            // Both conditions have an index.
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM webhooks WHERE closed_at IS NULL") ?? 0
            let expiry = try Int64.fetchOne(
                db, sql: "SELECT expires_at FROM webhooks WHERE closed_at IS NULL AND is_transient = 0 ORDER BY expires_at LIMIT 1")
            return (count, expiry.map { WallTime(milliseconds: $0) - StoreLimits.webhookLifetime })
        }
    }

    /// Enqueues a webhook again for all its endpoints, at its old position.
    ///
    /// - Throws: `notFound`.
    package func replay(_ id: WebhookID, at now: WallTime) async throws(StoreError) {
        let keychain = keychain
        try await writing { db in
            try db.execute(
                sql: """
                    UPDATE webhooks SET status = 'waiting', closed_at = NULL, reason = NULL, expires_at = ? WHERE id = ? AND is_transient = 0
                    """,
                arguments: [(now + StoreLimits.webhookLifetime).milliseconds, id.text])
            guard db.changesCount > 0 else { throw StoreError.notFound }
            for row in try Row.fetchAll(db, sql: "SELECT * FROM webhooks WHERE id = ?", arguments: [id.text]) {
                try Self.openLane(of: try Self.webhook(from: row, attempts: 0, keychain).webhook, keychain, in: db, at: now)
            }
        }
    }

    /// Marks expired webhooks dead, including those for endpoints that are no longer configured.
    static func expireWebhooks(in db: Database, at now: WallTime) throws {
        try db.execute(
            sql: "UPDATE webhooks SET closed_at = ?1, status = 'dead' WHERE closed_at IS NULL AND expires_at <= ?1",
            arguments: [now.milliseconds])
        try deleteClosedTransients(in: db)
        try db.execute(
            sql: """
                DELETE FROM webhook_lanes
                WHERE NOT EXISTS (SELECT 1 FROM webhooks w WHERE w.lane = webhook_lanes.lane AND w.closed_at IS NULL)
                """)
    }
}

// MARK: - Rows

extension SessionStore {
    static func enqueue(_ webhooks: [OutgoingWebhook], _ keychain: Keychain, in db: Database, at now: WallTime) throws {
        for webhook in webhooks {
            // Its user or session was deleted in the meantime.
            guard try exists(webhook.userID?.text, in: "users", db), try exists(webhook.sessionID?.text, in: "sessions", db) else {
                continue
            }
            let (lane, key, id) = (lane(of: webhook, keychain), keychain.shared, webhook.id.text)
            try db.execute(
                sql: """
                    INSERT INTO webhooks (id, lane, event, endpoint, room, body, user_id, session_id, told_at, expires_at, request, status,
                        is_transient)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', ?)
                    """,
                arguments: [
                    id, lane, webhook.event, key.seal(webhook.endpoint, at: location("endpoint", id, lane)),
                    key.seal(webhook.room, at: location("room", id, lane)), key.seal(webhook.body, at: location("body", id, lane)),
                    webhook.userID?.text, webhook.sessionID?.text, now.milliseconds,
                    (now + (webhook.lifetime ?? StoreLimits.webhookLifetime)).milliseconds,
                    webhook.requestID.map { key.seal($0, at: location("request", id, lane)) }, webhook.lifetime != nil,
                ])
            try openLane(of: webhook, keychain, in: db, at: now)
        }
    }

    private static func deleteClosedTransients(in db: Database) throws {
        try db.execute(sql: "DELETE FROM webhooks WHERE is_transient = 1 AND closed_at IS NOT NULL")
    }

    private static func lane(of webhook: OutgoingWebhook, _ keychain: Keychain) -> Data {
        Data(keychain.lookup(webhook.endpoint, webhook.room, purpose: "lane"))
    }

    /// A keyed hash of an endpoint.
    private static func receiver(_ endpoint: String, _ keychain: Keychain) -> Data {
        Data(keychain.lookup(endpoint, purpose: "endpoint"))
    }

    private static func location(_ column: String, _ id: String, _ lane: Data) -> String {
        "webhooks.\(column).\(id) \(Base64.urlSafe.encode(lane))"
    }

    private static func exists(_ id: String?, in table: String, _ db: Database) throws -> Bool {
        guard let id else { return true }
        return try Bool.fetchOne(try db.cachedStatement(sql: "SELECT 1 FROM \(table) WHERE id = ?"), arguments: [id]) != nil
    }

    private static func firstWaiting(in lane: Data, _ db: Database) throws -> Row? {
        try Row.fetchOne(
            db, sql: "SELECT * FROM webhooks WHERE lane = ? AND closed_at IS NULL ORDER BY number LIMIT 1", arguments: [lane])
    }

    /// An open lane keeps its due time: one of its webhooks may be in flight.
    private static func openLane(of webhook: OutgoingWebhook, _ keychain: Keychain, in db: Database, at now: WallTime) throws {
        try db.execute(
            sql: "INSERT OR IGNORE INTO webhook_lanes (lane, endpoint, due_at) VALUES (?, ?, ?)",
            arguments: [lane(of: webhook, keychain), receiver(webhook.endpoint, keychain), now.milliseconds])
    }

    private static func setDue(_ due: WallTime, ofLane lane: Data, isLeased: Bool = false, in db: Database) throws {
        try db.execute(
            sql: "UPDATE webhook_lanes SET due_at = ?, is_leased = ? WHERE lane = ?", arguments: [due.milliseconds, isLeased, lane])
    }

    /// Advances a lane to its next webhook.
    private static func advance(_ lane: Data, in db: Database, at now: WallTime) throws {
        if try firstWaiting(in: lane, db) == nil { try deleteLane(lane, in: db) } else { try setDue(now, ofLane: lane, in: db) }
    }

    private static func deleteLane(_ lane: Data, in db: Database) throws {
        try db.execute(sql: "DELETE FROM webhook_lanes WHERE lane = ?", arguments: [lane])
    }

    static func webhook(from row: Row, attempts: Int, _ keychain: Keychain) throws -> StoredWebhook {
        let (id, lane, key): (String, Data, SealingKey) = (row["id"], row["lane"], keychain.shared)
        guard let webhookID = WebhookID(text: id), let status = StoredWebhook.Status(rawValue: row["status"]) else {
            throw StoreError.damaged(location: "webhooks.id.\(id)")
        }
        let webhook = OutgoingWebhook(
            id: webhookID, event: row["event"], endpoint: try key.openText(row["endpoint"], at: location("endpoint", id, lane)),
            room: try key.openText(row["room"], at: location("room", id, lane)),
            body: try key.openText(row["body"], at: location("body", id, lane)),
            userID: (row["user_id"] as String?).flatMap(UserID.init(text:)),
            sessionID: (row["session_id"] as String?).flatMap(SessionID.init(text:)),
            requestID: try (row["request"] as Data?).map { try key.openText($0, at: location("request", id, lane)) },
            lifetime: row["is_transient"] ? .milliseconds((row["expires_at"] as Int64) - row["told_at"]) : nil)
        return StoredWebhook(
            number: row["number"], webhook: webhook, enqueuedAt: WallTime(milliseconds: row["told_at"]),
            expiresAt: WallTime(milliseconds: row["expires_at"]), status: status, attempts: attempts,
            reason: try (row["reason"] as Data?).map { try key.openText($0, at: location("reason", id, lane)) })
    }
}
