internal import Foundation
internal import Identity
internal import Wire

/// The repository of sessions, with their turns, summaries, recordings and jobs.
package struct Sessions: Sendable {
    let database: any Database

    /// Starts a session with the user's current consent (`allowsLogging`).
    ///
    /// - Parameter webhooks: enqueued if the session is new.
    /// - Returns: the session, and whether it is new: an idempotency key identifies one session for a day.
    /// - Throws: `notFound` if there is no such user; `keyReused` if the key identifies another request; `tooManySessions`;
    ///   `refused`.
    package func start(
        _ request: SessionRequest, of user: UserID, webhooks: @escaping @Sendable (Session) -> [OutgoingWebhook] = { _ in [] },
        at now: WallTime
    ) async throws(StoreError) -> (session: Session, isNew: Bool) {
        guard (request.clientContext?.utf8.count ?? 0) <= StoreLimits.clientContextMax else {
            throw .refused("The client's context is longer than \(StoreLimits.clientContextMax) bytes.")
        }
        guard request.language.map(LanguageTag.isValid) ?? true else { throw .refused(LanguageTag.requirement) }
        let id = SessionID()
        return try await database.write { db in
            let key = try db.key(of: user)
            let start = request.idempotencyKey.map { db.keychain.lookup(user.text, $0, purpose: "start") }
            let content = db.keychain.lookup(ofContent: request, of: user)
            if let start, let known = try Self.session(startedWith: start, content, of: user, key, in: db, at: now) {
                return (known, false)
            }

            guard try Self.openSessions(of: user, in: db) < StoreLimits.openSessionsPerUserMax else { throw StoreError.tooManySessions }
            let settings = try Accounts.user(user, key, in: db).settings
            let isLogged = settings.allowsLogging
            let session = Session(
                id: id, userID: user, context: request.context, assistantID: request.assistantID,
                language: request.language ?? settings.language ?? request.assistantLanguage, startedAt: now,
                loggingEnabledSnapshot: isLogged,
                summaryStatus: isLogged ? .pending : .notLogged, trace: request.trace)
            let about = About(
                context: request.context, assistantID: request.assistantID, language: session.language,
                clientContext: isLogged ? request.clientContext : nil, traceparent: request.trace?.traceparent, voice: request.voice,
                chosenLanguage: request.language)
            try db.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, ?, NULL, ?, ?, 0)",
                id, user, try key.seal(about, at: Self.aboutLocation(id)), now, isLogged, session.summaryStatus)
            if let start {
                try db.execute(
                    """
                    INSERT INTO session_starts (user_id, key, session_id, started_at, content) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT (user_id, key) DO UPDATE
                    SET session_id = excluded.session_id, started_at = excluded.started_at, content = excluded.content
                    """,
                    user, start, id, now, content)
            }
            try Webhooks.enqueue(webhooks(session), in: db, at: now)
            return (session, true)
        }
    }

    /// Sessions of a user that have not ended, counted up to the limit.
    private static func openSessions(of user: UserID, in db: Transaction) throws -> Int {
        try db.value(
            Int.self, "SELECT count(*) FROM (SELECT 1 FROM sessions WHERE user_id = ? AND ended_at IS NULL LIMIT ?) AS running",
            user, StoreLimits.openSessionsPerUserMax) ?? 0
    }

    /// Ends a session; idempotent. A logged session gets its summary job in the same commit.
    ///
    /// - Parameters:
    ///   - webhooks: enqueued if the session was open.
    ///   - fence: of its room, in a cluster.
    /// - Throws: `notFound`; `superseded`.
    package func end(
        _ id: SessionID, of user: UserID, webhooks: @escaping @Sendable (Session) -> [OutgoingWebhook] = { _ in [] },
        fencedBy fence: RoomFence? = nil, at now: WallTime
    ) async throws(StoreError) -> (session: Session, isEndedNow: Bool) {
        try await database.write { db in
            try RoomEpochs.check(fence, in: db)
            let key = try db.key(of: user)
            var session = try Self.session(id, of: user, key, in: db).session
            guard session.endedAt == nil else { return (session, false) }
            session.endedAt = max(now, session.startedAt)
            try db.execute("UPDATE sessions SET ended_at = ? WHERE id = ?", session.endedAt, id)
            if session.loggingEnabledSnapshot {
                try Self.enqueue(kind: .summary, subject: id.text, of: user, session: id, due: now, in: db)
            }
            try Webhooks.enqueue(webhooks(session), in: db, at: now)
            return (session, true)
        }
    }

    package func session(_ id: SessionID, of user: UserID) async throws(StoreError) -> Session {
        try await database.read { db in try Self.session(id, of: user, try db.key(of: user), in: db).session }
    }

    /// A session of any user: for services, whose right to it the caller checks.
    package func session(_ id: SessionID) async throws(StoreError) -> Session {
        try await database.read { db in
            guard let row = try db.one("SELECT * FROM sessions WHERE id = ?", id) else { throw StoreError.notFound }
            let user: UserID = try row["user_id"]
            return try Self.session(id, of: user, from: row, try db.key(of: user)).session
        }
    }

    /// A session with its summary, turns and recordings.
    package func record(of id: SessionID, of user: UserID) async throws(StoreError) -> SessionRecord {
        try await database.read { db in
            let key = try db.key(of: user)
            let (session, clientContext) = try Self.session(id, of: user, key, in: db)
            return SessionRecord(
                session: session, clientContext: clientContext, summary: try Self.summary(of: id, key, in: db),
                turns: try Self.turns(of: id, key, in: db), recordings: try Self.recordings(of: id, in: db))
        }
    }

    /// Open sessions of all users, oldest first; for finding those whose room is gone.
    package func openSessions(startedBefore time: WallTime, limit: Int = 1_000) async throws(StoreError) -> [Session] {
        try await database.read { db in
            let rows = try db.all(
                "SELECT * FROM sessions WHERE ended_at IS NULL AND started_at < ? ORDER BY started_at LIMIT ?", time, limit)
            return try rows.compactMap { row in
                let user: UserID = try row["user_id"]
                // There is no key while the user is being deleted.
                guard let key = try db.key(ofExisting: user) else { return nil }
                return try Self.session(try row["id"], of: user, from: row, key).session
            }
        }
    }
}

// MARK: - Deletion

extension Sessions {
    /// Deletes a session. Its encrypted data leaves the write-ahead log within seconds.
    package func delete(_ id: SessionID, of user: UserID) async throws(StoreError) {
        try await database.delete { db in
            guard try db.execute("DELETE FROM sessions WHERE id = ? AND user_id = ?", id, user) == 1 else { throw StoreError.notFound }
        }
        database.eraseSoon()
    }

    /// Deletes all sessions of a user, including open ones, and returns their number. At the end no byte remains.
    @discardableResult
    package func deleteAll(of user: UserID) async throws(StoreError) -> Int {
        let count = try await deleteRows(of: user)
        if count > 0 { try await database.compactUnlessRead() }
        return count
    }

    /// Deletes all sessions of a user, a few per commit, and returns their number.
    @discardableResult
    func deleteRows(of user: UserID) async throws(StoreError) -> Int {
        try await database.deleteInSteps(
            of: StoreLimits.deletionsPerCommit, "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE user_id = ? LIMIT ?)", user
        )
    }

    /// Deletes ended sessions past their user's retention, and returns their number.
    func expire(at now: WallTime) async throws(StoreError) -> Int {
        try await Accounts.deleteExpired(
            from: "sessions", "id", time: "ended_at", limit: StoreLimits.deletionsPerCommit, in: database, at: now)
    }

    /// Deletes expired idempotency keys and failed jobs.
    static func expire(in db: Transaction, at now: WallTime) throws {
        try db.execute("DELETE FROM session_starts WHERE started_at <= ?", now - StoreLimits.idempotencyWindow)
        try db.execute("DELETE FROM jobs WHERE failed_at <= ?", now - StoreLimits.failedJobsKept)
    }
}

// MARK: - Rows

/// The encrypted part of a session's row.
private struct About: Codable {
    var context: String
    var assistantID: String?
    var language: String?
    var clientContext: String?
    var traceparent: String?
    /// The voice and language of the request.
    var voice: String?
    var chosenLanguage: String?
}

extension Keychain {
    /// A keyed hash of what was asked for, so that a repeated key with another request is recognized without storing the request.
    fileprivate func lookup(ofContent request: SessionRequest, of user: UserID) -> Data {
        func part(_ text: String?) -> String { text.map { "+" + $0 } ?? "" }
        let content = [user.text, request.context, part(request.assistantID), part(request.clientContext)]
        // Absent values are left out, to match the rows of earlier versions.
        let hasChoice = request.voice != nil || request.language != nil
        return lookup(content + (hasChoice ? [part(request.voice), part(request.language)] : []), purpose: "start content")
    }
}

extension Sessions {
    private static func aboutLocation(_ id: SessionID) -> String { "sessions.about.\(id)" }

    static func session(
        _ id: SessionID, of user: UserID, _ key: SealingKey, in db: Transaction
    ) throws -> (session: Session, clientContext: String?) {
        guard let row = try db.one("SELECT * FROM sessions WHERE id = ? AND user_id = ?", id, user) else { throw StoreError.notFound }
        return try session(id, of: user, from: row, key)
    }

    static func session(
        _ id: SessionID, of user: UserID, from row: Row, _ key: SealingKey
    ) throws -> (session: Session, clientContext: String?) {
        let about = try key.open(row["about"], as: About.self, at: aboutLocation(id))
        let session = try Session(
            id: id, userID: user, context: about.context, assistantID: about.assistantID, language: about.language,
            startedAt: row["started_at"], endedAt: row["ended_at"], loggingEnabledSnapshot: row["is_logged"],
            summaryStatus: row["summary_status"], trace: TraceContext(traceparent: about.traceparent))
        return (session, about.clientContext)
    }

    /// The voice and language with which the session was started.
    static func choice(of id: SessionID, _ key: SealingKey, in db: Transaction) throws -> (voice: String?, language: String?) {
        guard let row = try db.one("SELECT about FROM sessions WHERE id = ?", id) else { throw StoreError.notFound }
        let about = try key.open(row["about"], as: About.self, at: aboutLocation(id))
        return (about.voice, about.chosenLanguage)
    }

    private static func session(
        startedWith start: Data, _ content: Data, of user: UserID, _ key: SealingKey, in db: Transaction, at now: WallTime
    ) throws -> Session? {
        let row = try db.one("SELECT session_id, started_at, content FROM session_starts WHERE user_id = ? AND key = ?", user, start)
        guard let row, try now < row["started_at"] + StoreLimits.idempotencyWindow else { return nil }
        // Null in rows of earlier versions.
        guard try row["content"] as Data? ?? content == content else { throw StoreError.keyReused }
        return try session(row["session_id"], of: user, key, in: db).session
    }
}
