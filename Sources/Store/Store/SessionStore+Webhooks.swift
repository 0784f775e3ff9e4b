internal import Foundation
internal import GRDB
internal import Identity
internal import Wire

extension SessionStore {
    /// Notes webhooks to be sent, in this order.
    package func tell(_ webhooks: [OutgoingWebhook], at now: WallTime) async throws(StoreError) {
        guard !webhooks.isEmpty else { return }
        let keychain = keychain
        try await writing { db in try Self.tell(webhooks, keychain, in: db, at: now) }
    }

    /// Takes webhooks to be sent to `endpoint` now: of each lane (a room's to one endpoint) the first that waits, so that none overtakes another. A lane
    /// is nobody else's until `span` has passed or its webhook was delivered or given back. What has waited for longer than
    /// `StoreLimits.webhookPatience` is dead.
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
                guard let row = try Self.firstWaiting(in: lane, db) else {
                    try Self.forgetLane(lane, in: db)
                    return nil
                }
                try db.execute(sql: "UPDATE webhooks SET attempts = attempts + 1 WHERE number = ?", arguments: [row["number"] as Int64])
                try Self.setDue(now + span, ofLane: lane, isLeased: true, in: db)
                return try Self.webhook(from: row, attempts: row["attempts"] + 1, keychain)
            }
        }
    }

    /// - Returns: false if the lease ran out and somebody else has it, or it was deleted meanwhile.
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
            try Self.passOn(Self.lane(of: webhook.webhook, keychain), in: db, at: now)
            return true
        }
    }

    /// Sends a webhook no more, unless somebody replays it. The next of its lane has its turn.
    ///
    /// - Parameter reason: for an operator.
    package func giveUp(_ webhook: StoredWebhook, reason: String, at now: WallTime) async throws(StoreError) {
        let keychain = keychain
        try await writing { db in
            let lane = Self.lane(of: webhook.webhook, keychain)
            let sealed = keychain.shared.seal(reason, at: Self.place("reason", webhook.webhook.id.text, lane))
            try db.execute(
                sql: """
                    UPDATE webhooks SET closed_at = ?, status = 'dead', reason = ? WHERE number = ? AND attempts = ? AND closed_at IS NULL
                    """,
                arguments: [now.milliseconds, sealed, webhook.number, webhook.attempts])
            if db.changesCount == 1 { try Self.passOn(lane, in: db, at: now) }
        }
    }

    /// Gives a webhook back, and with it its lane, to be tried again from `due` on.
    ///
    /// - Parameter reason: for an operator.
    package func retry(_ webhook: StoredWebhook, due: WallTime, reason: String) async throws(StoreError) {
        let keychain = keychain
        try await writing { db in
            let lane = Self.lane(of: webhook.webhook, keychain)
            let sealed = keychain.shared.seal(reason, at: Self.place("reason", webhook.webhook.id.text, lane))
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

    /// Sends a webhook again to every endpoint that it was for, as if it had just been told but in its old place.
    ///
    /// - Throws: `notFound`.
    package func replay(_ id: WebhookID, at now: WallTime) async throws(StoreError) {
        let keychain = keychain
        try await writing { db in
            try db.execute(
                sql: "UPDATE webhooks SET status = 'waiting', closed_at = NULL, reason = NULL, expires_at = ? WHERE id = ?",
                arguments: [(now + StoreLimits.webhookPatience).milliseconds, id.text])
            guard db.changesCount > 0 else { throw StoreError.notFound }
            for row in try Row.fetchAll(db, sql: "SELECT * FROM webhooks WHERE id = ?", arguments: [id.text]) {
                try Self.openLane(of: try Self.webhook(from: row, attempts: 0, keychain).webhook, keychain, in: db, at: now)
            }
        }
    }

    /// Ends the wait of webhooks whose time is over, those for endpoints of which nobody asks any more too.
    static func expireWebhooks(in db: Database, at now: WallTime) throws {
        try db.execute(
            sql: "UPDATE webhooks SET closed_at = ?1, status = 'dead' WHERE closed_at IS NULL AND expires_at <= ?1",
            arguments: [now.milliseconds])
        try db.execute(
            sql: """
                DELETE FROM webhook_lanes
                WHERE NOT EXISTS (SELECT 1 FROM webhooks w WHERE w.lane = webhook_lanes.lane AND w.closed_at IS NULL)
                """)
    }
}

// MARK: - Rows

extension SessionStore {
    static func tell(_ webhooks: [OutgoingWebhook], _ keychain: Keychain, in db: Database, at now: WallTime) throws {
        for webhook in webhooks {
            // Told of somebody or something that was deleted in between: it would have been deleted too.
            guard try exists(webhook.userID?.text, in: "users", db), try exists(webhook.sessionID?.text, in: "sessions", db) else {
                continue
            }
            let (lane, key, id) = (lane(of: webhook, keychain), keychain.shared, webhook.id.text)
            try db.execute(
                sql: """
                    INSERT INTO webhooks (id, lane, event, endpoint, room, body, user_id, session_id, told_at, expires_at, status)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting')
                    """,
                arguments: [
                    id, lane, webhook.event, key.seal(webhook.endpoint, at: place("endpoint", id, lane)),
                    key.seal(webhook.room, at: place("room", id, lane)), key.seal(webhook.body, at: place("body", id, lane)),
                    webhook.userID?.text, webhook.sessionID?.text, now.milliseconds,
                    (now + StoreLimits.webhookPatience).milliseconds,
                ])
            try openLane(of: webhook, keychain, in: db, at: now)
        }
    }

    private static func lane(of webhook: OutgoingWebhook, _ keychain: Keychain) -> Data {
        Data(keychain.lookup(webhook.endpoint, webhook.room, purpose: "lane"))
    }

    /// A hash that stands for an endpoint.
    private static func receiver(_ endpoint: String, _ keychain: Keychain) -> Data {
        Data(keychain.lookup(endpoint, purpose: "endpoint"))
    }

    private static func place(_ column: String, _ id: String, _ lane: Data) -> String {
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

    /// A lane that is open already goes on at its own pace: something of it may be on its way.
    private static func openLane(of webhook: OutgoingWebhook, _ keychain: Keychain, in db: Database, at now: WallTime) throws {
        try db.execute(
            sql: "INSERT OR IGNORE INTO webhook_lanes (lane, endpoint, due_at) VALUES (?, ?, ?)",
            arguments: [lane(of: webhook, keychain), receiver(webhook.endpoint, keychain), now.milliseconds])
    }

    private static func setDue(_ due: WallTime, ofLane lane: Data, isLeased: Bool = false, in db: Database) throws {
        try db.execute(sql: "UPDATE webhook_lanes SET due_at = ?, is_leased = ? WHERE lane = ?", arguments: [due.milliseconds, isLeased, lane])
    }

    /// Gives a lane to its next webhook.
    private static func passOn(_ lane: Data, in db: Database, at now: WallTime) throws {
        if try firstWaiting(in: lane, db) == nil { try forgetLane(lane, in: db) } else { try setDue(now, ofLane: lane, in: db) }
    }

    private static func forgetLane(_ lane: Data, in db: Database) throws {
        try db.execute(sql: "DELETE FROM webhook_lanes WHERE lane = ?", arguments: [lane])
    }

    static func webhook(from row: Row, attempts: Int, _ keychain: Keychain) throws -> StoredWebhook {
        let (id, lane, key): (String, Data, SealingKey) = (row["id"], row["lane"], keychain.shared)
        guard let webhookID = WebhookID(text: id), let status = StoredWebhook.Status(rawValue: row["status"]) else {
            throw StoreError.damaged(place: "webhooks.id.\(id)")
        }
        let webhook = OutgoingWebhook(
            id: webhookID, event: row["event"], endpoint: try key.openText(row["endpoint"], at: place("endpoint", id, lane)),
            room: try key.openText(row["room"], at: place("room", id, lane)),
            body: try key.openText(row["body"], at: place("body", id, lane)),
            userID: (row["user_id"] as String?).flatMap(UserID.init(text:)),
            sessionID: (row["session_id"] as String?).flatMap(SessionID.init(text:)))
        return StoredWebhook(
            number: row["number"], webhook: webhook, toldAt: WallTime(milliseconds: row["told_at"]),
            expiresAt: WallTime(milliseconds: row["expires_at"]), status: status, attempts: attempts,
            reason: try (row["reason"] as Data?).map { try key.openText($0, at: place("reason", id, lane)) })
    }
}
