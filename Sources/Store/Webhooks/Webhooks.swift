internal import Foundation
internal import Identity
internal import Wire

/// The repository of webhooks, and of rooms and calls whose start they announced. A lane is the ordered queue of one room's webhooks for
/// one endpoint.
package struct Webhooks: Sendable {
    let database: any Database

    /// Enqueues webhooks, to be sent in this order.
    package func enqueue(_ webhooks: [OutgoingWebhook], at now: WallTime) async throws(StoreError) {
        guard !webhooks.isEmpty else { return }
        try await database.write { db in try Self.enqueue(webhooks, in: db, at: now) }
    }

    /// Leases webhooks for `endpoint`: the first of each lane, so that none overtakes another. A lane is leased until `span` has passed or
    /// its webhook is delivered or returned. Webhooks older than `StoreLimits.webhookLifetime` become dead.
    package func lease(to endpoint: String, limit: Int, for span: Duration, at now: WallTime) async throws(StoreError) -> [StoredWebhook] {
        let due = "SELECT lane FROM webhook_lanes WHERE endpoint = ? AND due_at <= ? ORDER BY due_at, lane LIMIT ?"
        guard try await database.read({ db in try db.has(due, Self.receiver(endpoint, in: db), now, 1) }) else { return [] }
        let node = database.node
        return try await database.write { db in
            try db.values(Data.self, due, Self.receiver(endpoint, in: db), now, limit).compactMap { lane in
                let expired = try db.execute(
                    "UPDATE webhooks SET closed_at = ?1, status = 'dead' WHERE lane = ?2 AND closed_at IS NULL AND expires_at <= ?1",
                    now, lane)
                if expired > 0 { try Self.deleteClosedTransients(in: db) }
                guard let row = try Self.firstWaiting(in: lane, db) else {
                    try Self.deleteLane(lane, in: db)
                    return nil
                }
                try db.execute("UPDATE webhooks SET attempts = attempts + 1 WHERE number = ?", row["number"] as Int64)
                try Self.setDue(now + span, ofLane: lane, leasedBy: node, in: db)
                return try Self.webhook(from: row, attempts: row["attempts"] + 1, in: db)
            }
        }
    }

    /// - Returns: false if the lease expired, or the webhook was deleted.
    @discardableResult
    package func delivered(_ webhook: StoredWebhook, at now: WallTime) async throws(StoreError) -> Bool {
        try await database.write { db in try Self.close(webhook, .delivered, reason: nil, in: db, at: now) }
    }

    /// Marks a webhook dead, unless it is replayed, and advances its lane.
    ///
    /// - Parameter reason: shown to operators.
    package func giveUp(_ webhook: StoredWebhook, reason: String, at now: WallTime) async throws(StoreError) {
        try await database.write { db in try Self.close(webhook, .dead, reason: reason, in: db, at: now) }
    }

    /// Returns a webhook and its lane to the queue, due at `due`.
    ///
    /// - Parameter reason: shown to operators.
    package func retry(_ webhook: StoredWebhook, due: WallTime, reason: String) async throws(StoreError) {
        try await database.write { db in
            let lane = Self.lane(of: webhook.webhook, in: db)
            let isLeased =
                try db.execute(
                    "UPDATE webhooks SET reason = ? WHERE number = ? AND attempts = ? AND closed_at IS NULL",
                    db.shared.seal(reason, at: Self.location("reason", webhook.webhook.id, lane)), webhook.number, webhook.attempts) == 1
            if isLeased { try Self.setDue(due, ofLane: lane, in: db) }
        }
    }

    /// The newest webhooks first.
    ///
    /// - Parameter status: nil for all.
    package func list(_ status: StoredWebhook.Status? = nil, limit: Int = 100) async throws(StoreError) -> [StoredWebhook] {
        try await database.read { db in
            try db.all("SELECT * FROM webhooks WHERE ?1 IS NULL OR status = ?1 ORDER BY number DESC LIMIT ?2", status, limit)
                .map { try Self.webhook(from: $0, attempts: $0["attempts"], in: db) }
        }
    }

    /// Webhooks that wait for their delivery, and when the oldest of them was enqueued or replayed.
    package func waiting() async throws(StoreError) -> (count: Int, oldest: WallTime?) {
        try await database.read { db in
            // Both conditions have an index.
            let count = try db.value(Int.self, "SELECT count(*) FROM webhooks WHERE closed_at IS NULL") ?? 0
            let expiry = try db.value(
                Int64.self, "SELECT expires_at FROM webhooks WHERE closed_at IS NULL AND is_transient = 0 ORDER BY expires_at LIMIT 1")
            return (count, expiry.map { WallTime(milliseconds: $0) - StoreLimits.webhookLifetime })
        }
    }

    /// Enqueues a webhook again for all its endpoints, at its old position.
    package func replay(_ id: WebhookID, at now: WallTime) async throws(StoreError) {
        try await database.write { db in
            let count = try db.execute(
                """
                UPDATE webhooks SET status = 'waiting', closed_at = NULL, reason = NULL, expires_at = ? WHERE id = ? AND is_transient = 0
                """, now + StoreLimits.webhookLifetime, id)
            guard count > 0 else { throw StoreError.notFound }
            for row in try db.all("SELECT * FROM webhooks WHERE id = ?", id) {
                try Self.openLane(of: try Self.webhook(from: row, attempts: 0, in: db).webhook, in: db, at: now)
            }
        }
    }

    /// Marks expired webhooks dead, including those for endpoints that are no longer configured, and deletes those closed long ago.
    static func expire(in db: Transaction, at now: WallTime) throws {
        try db.execute("UPDATE webhooks SET closed_at = ?1, status = 'dead' WHERE closed_at IS NULL AND expires_at <= ?1", now)
        try deleteClosedTransients(in: db)
        try db.execute(
            """
            DELETE FROM webhook_lanes
            WHERE NOT EXISTS (SELECT 1 FROM webhooks w WHERE w.lane = webhook_lanes.lane AND w.closed_at IS NULL)
            """)
        try db.execute("DELETE FROM webhooks WHERE closed_at <= ?", now - StoreLimits.webhooksKept)
    }

    static func verify(_ v: Verification) throws {
        try v.each("webhooks", "SELECT * FROM webhooks") { row in
            v.report.webhooks += 1
            _ = try webhook(from: row, attempts: 0, in: v.db)
        }
        try v.count(
            "webhooks wait in no lane",
            """
            SELECT count(*) FROM webhooks w WHERE closed_at IS NULL
            AND NOT EXISTS (SELECT 1 FROM webhook_lanes l WHERE l.lane = w.lane)
            """)
    }

    // MARK: - Rows

    static func enqueue(_ webhooks: [OutgoingWebhook], in db: Transaction, at now: WallTime) throws {
        for webhook in webhooks {
            let (lane, id) = (lane(of: webhook, in: db), webhook.id)
            func sealed(_ column: String, _ text: String) -> Data { db.shared.seal(text, at: location(column, id, lane)) }
            // The lane's row is locked before the webhook gets its number, so that numbers are committed in order.
            try openLane(of: webhook, in: db, at: now)
            // Nothing is kept of a user or session that was deleted in the meantime, and nothing is enqueued twice.
            try db.execute(
                """
                INSERT INTO webhooks (id, lane, event, endpoint, room, body, user_id, session_id, told_at, expires_at, request, status,
                    is_transient)
                SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 'waiting', ?12
                WHERE (?7 IS NULL OR EXISTS (SELECT 1 FROM users WHERE id = ?7))
                AND (?8 IS NULL OR EXISTS (SELECT 1 FROM sessions WHERE id = ?8))
                ON CONFLICT DO NOTHING
                """,
                id, lane, webhook.event, sealed("endpoint", webhook.endpoint), sealed("room", webhook.room), sealed("body", webhook.body),
                webhook.userID, webhook.sessionID, now, now + (webhook.lifetime ?? StoreLimits.webhookLifetime),
                cause(of: webhook).map { sealed("request", $0) }, webhook.lifetime != nil)
        }
    }

    /// Closes a webhook and advances its lane to the next one.
    ///
    /// - Returns: false if the lease expired, or the webhook was deleted.
    private static func close(
        _ webhook: StoredWebhook, _ status: StoredWebhook.Status, reason: String?, in db: Transaction, at now: WallTime
    ) throws -> Bool {
        let lane = lane(of: webhook.webhook, in: db)
        let count = try db.execute(
            "UPDATE webhooks SET closed_at = ?, status = ?, reason = ? WHERE number = ? AND attempts = ? AND closed_at IS NULL",
            now, status, reason.map { db.shared.seal($0, at: location("reason", webhook.webhook.id, lane)) }, webhook.number,
            webhook.attempts)
        guard count == 1 else { return false }
        try deleteClosedTransients(in: db)
        if try firstWaiting(in: lane, db) == nil { try deleteLane(lane, in: db) } else { try setDue(now, ofLane: lane, in: db) }
        return true
    }

    private static func deleteClosedTransients(in db: Transaction) throws {
        try db.execute("DELETE FROM webhooks WHERE is_transient = 1 AND closed_at IS NOT NULL")
    }

    private static func lane(of webhook: OutgoingWebhook, in db: Transaction) -> Data {
        db.keychain.lookup(webhook.endpoint, webhook.room, purpose: "lane")
    }

    /// A keyed hash of an endpoint.
    private static func receiver(_ endpoint: String, in db: Transaction) -> Data { db.keychain.lookup(endpoint, purpose: "endpoint") }

    private static func location(_ column: String, _ id: WebhookID, _ lane: Data) -> String {
        "webhooks.\(column).\(id) \(Base64.urlSafe.encode(lane))"
    }

    /// The column `request`: the request's id, and a blank with the trace if there is one. Ids contain no blanks.
    private static func cause(of webhook: OutgoingWebhook) -> String? {
        guard let trace = webhook.trace else { return webhook.requestID }
        return "\(webhook.requestID ?? "") \(trace.traceparent)"
    }

    private static func cause(_ text: String?) -> (requestID: String?, trace: TraceContext?) {
        let parts = (text ?? "").split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return (parts[0].isEmpty ? nil : parts[0], TraceContext(traceparent: parts.count > 1 ? parts[1] : nil))
    }

    private static func firstWaiting(in lane: Data, _ db: Transaction) throws -> Row? {
        try db.one("SELECT * FROM webhooks WHERE lane = ? AND closed_at IS NULL ORDER BY number LIMIT 1", lane)
    }

    /// Opens a lane, or locks an open one. That keeps its due time: one of its webhooks may be in flight. A lane without webhooks is
    /// deleted by `lease`.
    private static func openLane(of webhook: OutgoingWebhook, in db: Transaction, at now: WallTime) throws {
        try db.execute(
            """
            INSERT INTO webhook_lanes (lane, endpoint, due_at) VALUES (?, ?, ?)
            ON CONFLICT (lane) DO UPDATE SET endpoint = excluded.endpoint
            """, lane(of: webhook, in: db), receiver(webhook.endpoint, in: db), now)
    }

    private static func setDue(_ due: WallTime, ofLane lane: Data, leasedBy node: NodeID? = nil, in db: Transaction) throws {
        try db.execute("UPDATE webhook_lanes SET due_at = ?, node = ? WHERE lane = ?", due, node, lane)
    }

    private static func deleteLane(_ lane: Data, in db: Transaction) throws {
        try db.execute("DELETE FROM webhook_lanes WHERE lane = ?", lane)
    }

    private static func webhook(from row: Row, attempts: Int, in db: Transaction) throws -> StoredWebhook {
        let (id, lane): (WebhookID, Data) = try (row["id"], row["lane"])
        func opened(_ column: String) throws -> String? {
            try db.shared.openText(ifPresent: row[column], at: location(column, id, lane))
        }
        func text(_ column: String) throws -> String { try db.shared.openText(row[column], at: location(column, id, lane)) }
        let (enqueuedAt, expiresAt): (WallTime, WallTime) = try (row["told_at"], row["expires_at"])
        let (requestID, trace) = cause(try opened("request"))
        let webhook = try OutgoingWebhook(
            id: id, event: row["event"], endpoint: text("endpoint"), room: text("room"), body: text("body"), userID: row["user_id"],
            sessionID: row["session_id"], requestID: requestID, trace: trace,
            lifetime: row["is_transient"] ? .milliseconds(expiresAt.milliseconds - enqueuedAt.milliseconds) : nil)
        return try StoredWebhook(
            number: row["number"], webhook: webhook, enqueuedAt: enqueuedAt, expiresAt: expiresAt, status: row["status"],
            attempts: attempts,
            reason: opened("reason"))
    }
}
