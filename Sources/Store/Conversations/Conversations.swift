/// The repository of conversations. A name is sealed with the store's key, because it belongs to all members, and a text with its author's
/// key, so that it is deleted with its author. For users who are not members, a conversation does not exist.
package struct Conversations: Sendable {
    let database: any Database

    /// Makes a conversation with one member.
    ///
    /// - Throws: `notFound` if there is no such user; `refused` for one that has joined `StoreLimits.conversationsPerUserMax`.
    package func make(
        named name: String, by user: UserID, telling outlet: ConversationOutlet = .none, at now: WallTime
    ) async throws(StoreError) -> Conversation {
        let id = ConversationID()
        return try await changing(outlet) { db in
            _ = try db.key(of: user)
            try Self.checkMayJoin(user, in: db)
            try db.execute(
                "INSERT INTO conversations (id, created_at, name, last_event) VALUES (?, ?, ?, 0)",
                id, now, db.shared.seal(name, at: Self.conversationLocation(id.text)))
            let event = try Self.set(.joined, of: user, in: id, in: db, at: now)
            return (try Self.conversation(id, of: user, in: db), try Self.news(event, of: id, outlet, in: db, at: now))
        }
    }

    /// - Throws: `notFound`, also for users that are not members.
    package func conversation(_ id: ConversationID, of user: UserID) async throws(StoreError) -> Conversation {
        try await database.read { db in try Self.conversation(id, of: user, in: db) }
    }

    /// A page of the conversations that a user is invited to or has joined.
    package func list(
        of user: UserID, after cursor: TimeCursor? = nil, limit: Int = 50
    ) async throws(StoreError) -> Page<Conversation, TimeCursor> {
        try await database.read { db in
            let rows = try db.all(
                """
                SELECT conversation_id, since FROM conversation_members WHERE user_id = ? AND (since, conversation_id) < (?, ?)
                ORDER BY since DESC, conversation_id DESC LIMIT ?
                """, user, cursor?.time.milliseconds ?? .max, cursor?.id ?? "", limit + 1)
            return try Page(rows, limit: limit, cursor: { try TimeCursor(time: $0[1], id: $0[0]) }) {
                try Self.conversation($0[0], of: user, in: db)
            }
        }
    }

    // MARK: Members

    /// Invites a user. Idempotent.
    ///
    /// - Parameter user: a member that has joined.
    /// - Throws: `notFound`, also for a guest with too many pending invitations; `tooManyInvitations` if the guest has
    ///   `StoreLimits.invitationsPerInviterMax` of this user; `refused` beyond `StoreLimits.membersPerConversationMax`.
    package func invite(
        _ guest: UserID, to id: ConversationID, by user: UserID, telling outlet: ConversationOutlet = .none, at now: WallTime
    ) async throws(StoreError) {
        try await changing(outlet) { db in
            guard try Self.conversation(id, of: user, in: db).state == .joined else { throw StoreError.notFound }
            _ = try db.key(of: guest)
            guard try Self.state(of: guest, in: id, db) == nil else { return ((), nil) }
            guard try Self.invitations(of: guest, by: user, in: db) < StoreLimits.invitationsPerInviterMax else {
                throw StoreError.tooManyInvitations
            }
            // Strangers cannot use up what contacts may send.
            let isContact = try Accounts.isContact(try Accounts.addresses(of: user, in: db), of: guest, in: db)
            let pendingMax = StoreLimits.invitationsPerUserMax + (isContact ? StoreLimits.invitationsOfContactsReserve : 0)
            guard try Self.count(.invited, of: guest, in: db) < pendingMax else { throw StoreError.notFound }
            guard try Self.memberCount(of: id, in: db) < StoreLimits.membersPerConversationMax else {
                throw StoreError.refused("A conversation has at most \(StoreLimits.membersPerConversationMax) members.")
            }
            let event = try Self.set(.invited, of: guest, by: user, in: id, in: db, at: now)
            return ((), try Self.news(event, of: id, outlet, in: db, at: now))
        }
    }

    /// Joins a conversation that the user is invited to. Idempotent.
    ///
    /// - Throws: `notFound`; `refused` for a user that has joined `StoreLimits.conversationsPerUserMax` conversations.
    package func join(
        _ id: ConversationID, of user: UserID, telling outlet: ConversationOutlet = .none, at now: WallTime
    ) async throws(StoreError) -> Conversation {
        try await changing(outlet) { db in
            guard let state = try Self.state(of: user, in: id, db) else { throw StoreError.notFound }
            guard state == .invited else { return (try Self.conversation(id, of: user, in: db), nil) }
            try Self.checkMayJoin(user, in: db)
            let event = try Self.set(.joined, of: user, in: id, in: db, at: now)
            return (try Self.conversation(id, of: user, in: db), try Self.news(event, of: id, outlet, in: db, at: now))
        }
    }

    /// Leaves a conversation, or declines the invitation to it. The last member's leave deletes it.
    package func leave(
        _ id: ConversationID, of user: UserID, telling outlet: ConversationOutlet = .none, at now: WallTime
    ) async throws(StoreError) {
        try await changing(outlet) { db in
            guard try Self.state(of: user, in: id, db) != nil else { throw StoreError.notFound }
            let number = try Self.append(.left, of: user, to: id, in: db, at: now)
            try db.execute("DELETE FROM conversation_members WHERE conversation_id = ? AND user_id = ?", id, user)
            let event = ConversationEvent(number: number, kind: .left, user: user, at: now)
            return ((), try Self.news(event, of: id, outlet, in: db, at: now))
        }
        database.eraseSoon()
    }

    /// A page of a conversation's members, in the order of their invitation.
    ///
    /// - Throws: `notFound`, also for a user that has not joined: ids of users are addresses.
    package func members(
        of id: ConversationID, for user: UserID, after cursor: NumberCursor? = nil, limit: Int = 50
    ) async throws(StoreError) -> Page<ConversationMember, NumberCursor> {
        try await database.read { db in
            guard try Self.state(of: user, in: id, db) == .joined else { throw StoreError.notFound }
            let rows = try db.all(
                """
                SELECT user_id, state, since, position FROM conversation_members WHERE conversation_id = ? AND position > ?
                ORDER BY position LIMIT ?
                """, id, cursor?.number ?? -1, limit + 1)
            return try Page(rows, limit: limit, cursor: { try NumberCursor(number: $0[3]) }) {
                try ConversationMember(user: $0[0], state: $0[1], since: $0[2])
            }
        }
    }

    static func verify(_ v: Verification) throws {
        try v.each("conversations", "SELECT id, name FROM conversations") { row in
            _ = try v.db.shared.openText(row[1], at: conversationLocation(row[0]))
        }
    }

    // MARK: - Rows

    private static func conversationLocation(_ id: String) -> String { "conversations.name.\(id)" }

    private static func conversation(_ id: ConversationID, of user: UserID, in db: Transaction) throws -> Conversation {
        let row = try db.one(
            """
            SELECT c.*, m.state, m.inviter FROM conversations c JOIN conversation_members m ON m.conversation_id = c.id
            WHERE c.id = ? AND m.user_id = ?
            """, id, user)
        guard let row else { throw StoreError.notFound }
        return try Conversation(
            id: id, name: db.shared.openText(row["name"], at: conversationLocation(id.text)), createdAt: row["created_at"],
            lastEvent: row["last_event"], memberCount: memberCount(of: id, in: db), state: row["state"], inviter: row["inviter"])
    }

    private static func memberCount(of id: ConversationID, in db: Transaction) throws -> Int {
        try db.value(Int.self, "SELECT count(*) FROM conversation_members WHERE conversation_id = ?", id) ?? 0
    }

    static func state(of user: UserID, in id: ConversationID, _ db: Transaction) throws -> ConversationMember.State? {
        try db.one("SELECT state FROM conversation_members WHERE conversation_id = ? AND user_id = ?", id, user).map { try $0["state"] }
    }

    private static func checkMayJoin(_ user: UserID, in db: Transaction) throws {
        guard try count(.joined, of: user, in: db) < StoreLimits.conversationsPerUserMax else {
            throw StoreError.refused("A user has at most \(StoreLimits.conversationsPerUserMax) conversations; leave one first.")
        }
    }

    /// The number of conversations that a user is invited to, or has joined.
    private static func count(_ state: ConversationMember.State, of user: UserID, in db: Transaction) throws -> Int {
        try db.value(Int.self, "SELECT count(*) FROM conversation_members WHERE user_id = ? AND state = ?", user, state) ?? 0
    }

    /// The invitations of one user that another has not answered.
    private static func invitations(of guest: UserID, by inviter: UserID, in db: Transaction) throws -> Int {
        let sql = "SELECT count(*) FROM conversation_members WHERE user_id = ? AND state = ? AND inviter = ?"
        return try db.value(Int.self, sql, guest, ConversationMember.State.invited, inviter) ?? 0
    }

    /// Makes a user a member, or changes its state, and adds the event of it.
    ///
    /// - Parameter inviter: nil for a user that has joined.
    private static func set(
        _ state: ConversationMember.State, of user: UserID, by inviter: UserID? = nil, in id: ConversationID, in db: Transaction,
        at now: WallTime
    ) throws -> ConversationEvent {
        let kind: ConversationEvent.Kind = state == .joined ? .joined : .invited
        let number = try append(kind, of: user, to: id, in: db, at: now)
        try db.execute(
            """
            INSERT INTO conversation_members (conversation_id, user_id, state, since, position, inviter)
            SELECT ?1, ?2, ?3, ?4, last_event, ?5 FROM conversations WHERE id = ?1
            ON CONFLICT (conversation_id, user_id) DO UPDATE SET state = excluded.state, inviter = excluded.inviter
            """, id, user, state, now, inviter)
        return ConversationEvent(number: number, kind: kind, user: user, at: now)
    }
}
