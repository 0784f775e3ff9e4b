internal import Foundation
internal import GRDB
internal import Identity

/// Conversations. A name is sealed with the store's key, because it belongs to all members, and a text with its author's key, so that it is
/// deleted with its author. For users who are not members, a conversation does not exist.
extension SessionStore {
    /// Makes a conversation with one member.
    ///
    /// - Throws: `notFound` if there is no such user; `refused` for one that has joined `StoreLimits.conversationsPerUserMax`.
    package func makeConversation(named name: String, by user: UserID, at now: WallTime) async throws(StoreError) -> Conversation {
        let (keychain, id) = (keychain, ConversationID())
        return try await writing { db in
            _ = try keychain.userKey(of: user, in: db)
            try Self.checkMayJoin(user, in: db)
            try db.execute(
                sql: "INSERT INTO conversations (id, created_at, name, last_event) VALUES (?, ?, ?, 0)",
                arguments: [id.text, now.milliseconds, keychain.shared.seal(name, at: Self.conversationLocation(id.text))])
            try Self.append(.joined, of: user, to: id, in: db, at: now)
            try Self.set(.joined, of: user, in: id, in: db, at: now)
            return try Self.conversation(id, of: user, keychain, in: db)
        }
    }

    /// - Throws: `notFound`, also for users that are not members.
    package func conversation(_ id: ConversationID, of user: UserID) async throws(StoreError) -> Conversation {
        let keychain = keychain
        return try await reading { db in try Self.conversation(id, of: user, keychain, in: db) }
    }

    /// A page of the conversations that a user is invited to or has joined.
    package func conversations(
        of user: UserID, after cursor: TimeCursor? = nil, limit: Int = 50
    ) async throws(StoreError) -> ConversationPage {
        let keychain = keychain
        return try await reading { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT conversation_id, since FROM conversation_members WHERE user_id = ? AND (since, conversation_id) < (?, ?)
                    ORDER BY since DESC, conversation_id DESC LIMIT ?
                    """,
                arguments: [user.text, cursor?.time.milliseconds ?? .max, cursor?.id ?? "", limit + 1])
            let page = rows.prefix(limit)
            let conversations = try page.compactMap {
                try ConversationID(text: $0[0]).map { try Self.conversation($0, of: user, keychain, in: db) }
            }
            let next = page.last.map { TimeCursor(time: WallTime(milliseconds: $0[1]), id: $0[0]) }
            return ConversationPage(conversations: conversations, next: rows.count > limit ? next : nil)
        }
    }

    // MARK: Members

    /// Invites a user. Idempotent.
    ///
    /// - Parameter user: a member that has joined.
    /// - Throws: `notFound`, also for a guest with `StoreLimits.invitationsPerUserMax` pending invitations; `refused` beyond
    ///   `StoreLimits.membersPerConversationMax`.
    package func invite(_ guest: UserID, to id: ConversationID, by user: UserID, at now: WallTime) async throws(StoreError) {
        let keychain = keychain
        try await writing { db in
            guard try Self.conversation(id, of: user, keychain, in: db).state == .joined else { throw StoreError.notFound }
            _ = try keychain.userKey(of: guest, in: db)
            guard try Self.state(of: guest, in: id, db) == nil else { return }
            guard try Self.count(.invited, of: guest, in: db) < StoreLimits.invitationsPerUserMax else { throw StoreError.notFound }
            guard try Self.memberCount(of: id, in: db) < StoreLimits.membersPerConversationMax else {
                throw StoreError.refused("A conversation has at most \(StoreLimits.membersPerConversationMax) members.")
            }
            try Self.append(.invited, of: guest, to: id, in: db, at: now)
            try Self.set(.invited, of: guest, by: user, in: id, in: db, at: now)
        }
    }

    /// Joins a conversation that the user is invited to. Idempotent.
    ///
    /// - Throws: `notFound`; `refused` for a user that has joined `StoreLimits.conversationsPerUserMax` conversations.
    package func join(_ id: ConversationID, of user: UserID, at now: WallTime) async throws(StoreError) -> Conversation {
        let keychain = keychain
        return try await writing { db in
            guard let state = try Self.state(of: user, in: id, db) else { throw StoreError.notFound }
            if state == .invited {
                try Self.checkMayJoin(user, in: db)
                try Self.append(.joined, of: user, to: id, in: db, at: now)
                try Self.set(.joined, of: user, in: id, in: db, at: now)
            }
            return try Self.conversation(id, of: user, keychain, in: db)
        }
    }

    /// Leaves a conversation, or declines the invitation to it. The last member's leave deletes it.
    ///
    /// - Throws: `notFound`.
    package func leave(_ id: ConversationID, of user: UserID, at now: WallTime) async throws(StoreError) {
        try await writing { db in
            guard try Self.state(of: user, in: id, db) != nil else { throw StoreError.notFound }
            try Self.append(.left, of: user, to: id, in: db, at: now)
            try db.execute(
                sql: "DELETE FROM conversation_members WHERE conversation_id = ? AND user_id = ?", arguments: [id.text, user.text])
        }
        log.emptySoon()
    }

    /// A page of a conversation's members, in the order of their invitation.
    ///
    /// - Throws: `notFound`, also for a user that has not joined: ids of users are addresses.
    package func members(
        of id: ConversationID, for user: UserID, after cursor: NumberCursor? = nil, limit: Int = 50
    ) async throws(StoreError) -> NumberedPage<ConversationMember> {
        try await reading { db in
            guard try Self.state(of: user, in: id, db) == .joined else { throw StoreError.notFound }
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT user_id, state, since, position FROM conversation_members WHERE conversation_id = ? AND position > ?
                    ORDER BY position LIMIT ?
                    """, arguments: [id.text, cursor?.number ?? -1, limit + 1])
            let members = rows.prefix(limit).compactMap { row -> ConversationMember? in
                guard let user = UserID(text: row[0]), let state = ConversationMember.State(rawValue: row[1]) else { return nil }
                return ConversationMember(user: user, state: state, since: WallTime(milliseconds: row[2]), position: row[3])
            }
            return NumberedPage(elements: members, next: rows.count > limit ? members.last.map { NumberCursor($0.position) } : nil)
        }
    }

    // MARK: Events

    /// Adds a text to a conversation.
    ///
    /// - Throws: `notFound`, also for a user that has not joined; `refused` for more than `StoreLimits.conversationTextMax` bytes.
    package func say(_ text: String, in id: ConversationID, by user: UserID, at now: WallTime) async throws(StoreError) -> ConversationEvent
    {
        guard text.utf8.count <= StoreLimits.conversationTextMax else {
            throw .refused("A text has at most \(StoreLimits.conversationTextMax) bytes.")
        }
        let keychain = keychain
        return try await writing { db in
            guard try Self.state(of: user, in: id, db) == .joined else { throw StoreError.notFound }
            let key = try keychain.userKey(of: user, in: db)
            let number = try Self.append(.text, of: user, to: id, in: db, at: now) { key.seal(text, at: Self.textLocation(id.text, $0)) }
            return ConversationEvent(number: number, kind: .text, user: user, at: now, text: text)
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
        let keychain = keychain
        return try await reading { db in
            guard try Self.state(of: user, in: id, db) == .joined else { throw StoreError.notFound }
            let rows = try Row.fetchAll(
                db,
                // Events of users that are being deleted cannot be decrypted any more.
                sql: """
                    SELECT * FROM conversation_events e WHERE conversation_id = ? AND number > ?
                    AND EXISTS (SELECT 1 FROM user_keys k WHERE k.user_id = e.user_id) ORDER BY number LIMIT ?
                    """, arguments: [id.text, number, limit + 1])
            var keys: [UserID: SealingKey] = [:]
            let events = try rows.prefix(limit).compactMap { row -> ConversationEvent? in
                guard let writer = UserID(text: row["user_id"]) else { return nil }
                let key = try keys[writer] ?? keychain.userKey(of: writer, in: db)
                keys[writer] = key
                return try Self.event(from: row, of: writer, key)
            }
            return (events, rows.count > limit)
        }
    }
}

extension SessionStore {
    /// The latest texts that a user has written in any conversation, also in those that it has left; for its export.
    package func texts(
        of user: UserID, limit: Int = StoreLimits.eventsPerConversationMax
    ) async throws(StoreError) -> [(conversation: ConversationID, event: ConversationEvent)] {
        let keychain = keychain
        return try await reading { db in
            let key = try keychain.userKey(of: user, in: db)
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT * FROM conversation_events WHERE user_id = ? AND text IS NOT NULL
                    ORDER BY at DESC, conversation_id, number DESC LIMIT ?
                    """, arguments: [user.text, limit])
            return try rows.compactMap { row in
                guard let id = ConversationID(text: row["conversation_id"]) else { return nil }
                return (id, try Self.event(from: row, of: user, key))
            }
        }
    }
}

// MARK: - Rows

extension SessionStore {
    static func conversationLocation(_ id: String) -> String { "conversations.name.\(id)" }
    static func textLocation(_ conversation: String, _ number: Int64) -> String { "conversation_events.text.\(conversation) \(number)" }

    static func event(from row: Row, of user: UserID, _ key: SealingKey) throws -> ConversationEvent {
        let (id, number): (String, Int64) = (row["conversation_id"], row["number"])
        guard let kind = ConversationEvent.Kind(rawValue: row["kind"]) else {
            throw StoreError.damaged(location: "conversation_events.kind.\(id) \(number)")
        }
        return ConversationEvent(
            number: number, kind: kind, user: user, at: WallTime(milliseconds: row["at"]),
            text: try (row["text"] as Data?).map { try key.openText($0, at: textLocation(id, number)) })
    }

    private static func conversation(_ id: ConversationID, of user: UserID, _ keychain: Keychain, in db: Database) throws -> Conversation {
        guard let state = try state(of: user, in: id, db),
            let row = try Row.fetchOne(db, sql: "SELECT * FROM conversations WHERE id = ?", arguments: [id.text])
        else { throw StoreError.notFound }
        return Conversation(
            id: id, name: try keychain.shared.openText(row["name"], at: conversationLocation(id.text)),
            createdAt: WallTime(milliseconds: row["created_at"]), lastEvent: row["last_event"],
            memberCount: try memberCount(of: id, in: db), state: state, inviter: try inviter(of: user, to: id, in: db))
    }

    private static func inviter(of user: UserID, to id: ConversationID, in db: Database) throws -> UserID? {
        let statement = try db.cachedStatement(sql: "SELECT inviter FROM conversation_members WHERE conversation_id = ? AND user_id = ?")
        return try String.fetchOne(statement, arguments: [id.text, user.text]).flatMap(UserID.init(text:))
    }

    private static func memberCount(of id: ConversationID, in db: Database) throws -> Int {
        let statement = try db.cachedStatement(sql: "SELECT count(*) FROM conversation_members WHERE conversation_id = ?")
        return try Int.fetchOne(statement, arguments: [id.text]) ?? 0
    }

    private static func state(of user: UserID, in id: ConversationID, _ db: Database) throws -> ConversationMember.State? {
        let statement = try db.cachedStatement(sql: "SELECT state FROM conversation_members WHERE conversation_id = ? AND user_id = ?")
        return try String.fetchOne(statement, arguments: [id.text, user.text]).flatMap(ConversationMember.State.init)
    }

    private static func checkMayJoin(_ user: UserID, in db: Database) throws {
        guard try count(.joined, of: user, in: db) < StoreLimits.conversationsPerUserMax else {
            throw StoreError.refused("A user has at most \(StoreLimits.conversationsPerUserMax) conversations; leave one first.")
        }
    }

    /// The number of conversations that a user is invited to, or has joined.
    private static func count(_ state: ConversationMember.State, of user: UserID, in db: Database) throws -> Int {
        let sql = "SELECT count(*) FROM conversation_members WHERE user_id = ? AND state = ?"
        return try Int.fetchOne(db, sql: sql, arguments: [user.text, state.rawValue]) ?? 0
    }

    /// - Parameter inviter: nil for a user that has joined.
    private static func set(
        _ state: ConversationMember.State, of user: UserID, by inviter: UserID? = nil, in id: ConversationID, in db: Database,
        at now: WallTime
    ) throws {
        try db.execute(
            sql: """
                INSERT INTO conversation_members (conversation_id, user_id, state, since, position, inviter)
                SELECT ?1, ?2, ?3, ?4, last_event, ?5 FROM conversations WHERE id = ?1
                ON CONFLICT DO UPDATE SET state = excluded.state, inviter = excluded.inviter
                """, arguments: [id.text, user.text, state.rawValue, now.milliseconds, inviter?.text])
    }

    /// Adds an event, and drops one if there are more than `StoreLimits.eventsPerConversationMax`.
    ///
    /// - Parameter text: seals the text of the event with this number.
    /// - Returns: the event's number.
    @discardableResult
    private static func append(
        _ kind: ConversationEvent.Kind, of user: UserID, to id: ConversationID, in db: Database, at now: WallTime,
        text: (Int64) -> Data? = { _ in nil }
    ) throws -> Int64 {
        let number = try Int64.fetchOne(
            db, sql: "UPDATE conversations SET last_event = last_event + 1 WHERE id = ? RETURNING last_event", arguments: [id.text])
        guard let number else { throw StoreError.notFound }
        try db.execute(
            sql: "INSERT INTO conversation_events (conversation_id, number, user_id, kind, at, text) VALUES (?, ?, ?, ?, ?, ?)",
            arguments: [id.text, number, user.text, kind.rawValue, now.milliseconds, text(number)])
        if number > StoreLimits.eventsPerConversationMax { try dropSurplusEvent(of: id, in: db) }
        return number
    }

    /// Drops the oldest event of the user with the most events, so that nobody can displace the events of a user that has written less.
    private static func dropSurplusEvent(of id: ConversationID, in db: Database) throws {
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT min(number) AS oldest, sum(count(*)) OVER () AS total FROM conversation_events WHERE conversation_id = ?
                GROUP BY user_id ORDER BY count(*) DESC, oldest LIMIT 1
                """, arguments: [id.text])
        guard let row, let total = row["total"] as Int?, total > StoreLimits.eventsPerConversationMax else { return }
        try db.execute(
            sql: "DELETE FROM conversation_events WHERE conversation_id = ? AND number = ?",
            arguments: [id.text, row["oldest"] as Int64])
    }
}
