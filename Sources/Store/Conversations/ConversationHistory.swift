internal import Foundation
internal import Identity

/// The history of a conversation: its events, and the news of them.
extension Conversations {
    /// Adds a text to a conversation.
    ///
    /// - Throws: `notFound`, also for a user that has not joined; `refused` for more than `StoreLimits.conversationTextMax` bytes.
    package func say(
        _ text: String, in id: ConversationID, by user: UserID, telling outlet: ConversationOutlet = .none, at now: WallTime
    ) async throws(StoreError) -> ConversationEvent {
        guard text.utf8.count <= StoreLimits.conversationTextMax else {
            throw .refused("A text has at most \(StoreLimits.conversationTextMax) bytes.")
        }
        return try await changing(outlet) { db in
            guard try Self.state(of: user, in: id, db) == .joined else { throw StoreError.notFound }
            let key = try db.key(of: user)
            let number = try Self.append(.text, of: user, to: id, in: db, at: now) { key.seal(text, at: Self.textLocation(id.text, $0)) }
            let event = ConversationEvent(number: number, kind: .text, user: user, at: now, text: text)
            return (event, try Self.news(event, of: id, outlet, in: db, at: now))
        }
    }

    /// A page of a conversation's events, in their order.
    ///
    /// - Parameter number: events after this one.
    /// - Returns: the events, and whether there are more.
    /// - Throws: `notFound`, also for a user that has not joined.
    package func events(
        of id: ConversationID, for user: UserID, after number: Int64 = 0, limit: Int = 50
    ) async throws(StoreError) -> (events: [ConversationEvent], hasMore: Bool) {
        try await database.read { db in
            guard try Self.state(of: user, in: id, db) == .joined else { throw StoreError.notFound }
            // Events of users that are being deleted cannot be decrypted any more.
            let rows = try db.all(
                """
                SELECT * FROM conversation_events e WHERE conversation_id = ? AND number > ?
                AND EXISTS (SELECT 1 FROM user_keys k WHERE k.user_id = e.user_id) ORDER BY number LIMIT ?
                """, id, number, limit + 1)
            var keys: [UserID: SealingKey] = [:]
            let events = try rows.prefix(limit).map { row in
                let writer: UserID = try row["user_id"]
                let key = try keys[writer] ?? db.key(of: writer)
                keys[writer] = key
                return try Self.event(from: row, of: writer, key)
            }
            return (events, rows.count > limit)
        }
    }

    /// The latest texts that a user has written in any conversation, also in those that it has left; for its export.
    package func texts(
        of user: UserID, limit: Int = StoreLimits.eventsPerConversationMax
    ) async throws(StoreError) -> [(conversation: ConversationID, event: ConversationEvent)] {
        try await database.read { db in
            let key = try db.key(of: user)
            return try db.all(
                """
                SELECT * FROM conversation_events WHERE user_id = ? AND text IS NOT NULL
                ORDER BY at DESC, conversation_id, number DESC LIMIT ?
                """, user, limit
            ).map { row in try (row["conversation_id"], Self.event(from: row, of: user, key)) }
        }
    }

    /// Deletes what a user has done in conversations.
    func deleteEvents(of user: UserID) async throws(StoreError) {
        try await database.deleteInSteps(
            of: StoreLimits.linesPerPageMax,
            """
            DELETE FROM conversation_events WHERE (conversation_id, number) IN (
                SELECT conversation_id, number FROM conversation_events WHERE user_id = ? LIMIT ?)
            """, user)
    }

    /// Deletes events past their user's retention.
    func expire(at now: WallTime) async throws(StoreError) {
        _ = try await Accounts.deleteExpired(
            from: "conversation_events", "conversation_id", "number", time: "at", limit: StoreLimits.linesPerPageMax, in: database, at: now)
    }

    static func verify(_ user: UserID, _ key: SealingKey, _ v: Verification) throws {
        try v.each("texts of user \(user)", "SELECT * FROM conversation_events WHERE user_id = ?", user) { row in
            _ = try event(from: row, of: user, key)
        }
    }

    // MARK: - News

    /// Changes a conversation and notifies `outlet` afterwards.
    func changing<Result: Sendable>(
        _ outlet: ConversationOutlet, _ body: @escaping @Sendable (Transaction) throws -> (Result, ConversationNews?)
    ) async throws(StoreError) -> Result {
        let (result, news) = try await database.write { db in try body(db) }
        if let news { outlet.tell(news) }
        return result
    }

    /// Enqueues the webhooks of an event and returns the news.
    static func news(
        _ event: ConversationEvent, of id: ConversationID, _ outlet: ConversationOutlet, in db: Transaction, at now: WallTime
    ) throws -> ConversationNews {
        let joined = try db.all(
            "SELECT user_id FROM conversation_members WHERE conversation_id = ? AND state = ? ORDER BY position", id,
            ConversationMember.State.joined
        ).map { try $0["user_id"] as UserID }
        let news = ConversationNews(conversation: id, event: event, joined: joined)
        try Webhooks.enqueue(outlet.webhooks(news), in: db, at: now)
        return news
    }

    /// Adds changes of a call to the history of its conversation, except those of users who are no longer members.
    static func append(
        _ changes: [ConversationAudioChange], telling outlet: ConversationOutlet, in db: Transaction, at now: WallTime
    ) throws -> [ConversationNews] {
        try changes.compactMap { change in
            let id = change.conversation
            guard try state(of: change.user, in: id, db) == .joined else { return nil }
            let kind: ConversationEvent.Kind = change.isTalking ? .audioStarted : .audioEnded
            let number = try append(kind, of: change.user, to: id, in: db, at: now)
            return try news(ConversationEvent(number: number, kind: kind, user: change.user, at: now), of: id, outlet, in: db, at: now)
        }
    }

    // MARK: - Rows

    private static func textLocation(_ conversation: String, _ number: Int64) -> String {
        "conversation_events.text.\(conversation) \(number)"
    }

    private static func event(from row: Row, of user: UserID, _ key: SealingKey) throws -> ConversationEvent {
        let (id, number): (String, Int64) = try (row["conversation_id"], row["number"])
        return try ConversationEvent(
            number: number, kind: row["kind"], user: user, at: row["at"],
            text: key.openText(ifPresent: row["text"], at: textLocation(id, number)))
    }

    /// Adds an event, and drops one if there are more than `StoreLimits.eventsPerConversationMax`.
    ///
    /// - Parameter text: seals the text of the event with this number.
    /// - Returns: the event's number.
    static func append(
        _ kind: ConversationEvent.Kind, of user: UserID, to id: ConversationID, in db: Transaction, at now: WallTime,
        text: (Int64) -> Data? = { _ in nil }
    ) throws -> Int64 {
        let number = try db.value(Int64.self, "UPDATE conversations SET last_event = last_event + 1 WHERE id = ? RETURNING last_event", id)
        guard let number else { throw StoreError.notFound }
        try db.execute(
            "INSERT INTO conversation_events (conversation_id, number, user_id, kind, at, text) VALUES (?, ?, ?, ?, ?, ?)",
            id, number, user, kind, now, text(number))
        if number > StoreLimits.eventsPerConversationMax { try dropSurplusEvent(of: id, in: db) }
        return number
    }

    /// Drops the oldest event of the user with the most events, so that nobody can displace the events of a user that has written less.
    private static func dropSurplusEvent(of id: ConversationID, in db: Transaction) throws {
        let row = try db.one(
            """
            SELECT min(number) AS oldest, CAST(sum(count(*)) OVER () AS BIGINT) AS total FROM conversation_events
            WHERE conversation_id = ? GROUP BY user_id ORDER BY count(*) DESC, oldest LIMIT 1
            """, id)
        guard let row, let total = try row["total"] as Int?, total > StoreLimits.eventsPerConversationMax else { return }
        try db.execute("DELETE FROM conversation_events WHERE conversation_id = ? AND number = ?", id, row["oldest"] as Int64)
    }
}
