internal import Foundation
internal import GRDB
internal import Identity

extension SessionStore {
    /// Begins a session, with the user's `loggingEnabled` of this moment.
    ///
    /// - Parameter webhooks: told if the session is new.
    /// - Returns: the session, and whether it is new: the same idempotency key gives the same one for a day.
    /// - Throws: `notFound` if there is no such user; `refused`.
    package func startSession(
        _ request: SessionRequest, of user: UserID, telling webhooks: @escaping @Sendable (Session) -> [OutgoingWebhook] = { _ in [] },
        at now: WallTime
    ) async throws(StoreError) -> (session: Session, isNew: Bool) {
        guard (request.clientContext?.utf8.count ?? 0) <= StoreLimits.clientContextMax else {
            throw .refused("The client's context is longer than \(StoreLimits.clientContextMax) bytes.")
        }
        let (keychain, id) = (keychain, SessionID())
        return try await writing { db in
            let key = try keychain.userKey(of: user, in: db)
            let start = request.idempotencyKey.map { Data(keychain.lookup(user.text, $0, purpose: "start")) }
            if let start, let known = try Self.session(startedWith: start, of: user, key, in: db, at: now) { return (known, false) }

            let isLogged = try Bool.fetchOne(db, sql: "SELECT logging_enabled FROM users WHERE id = ?", arguments: [user.text]) ?? false
            let session = Session(
                id: id, userID: user, context: request.context, assistantID: request.assistantID, startedAt: now,
                loggingEnabledSnapshot: isLogged)
            let about = About(
                context: request.context, assistantID: request.assistantID, clientContext: isLogged ? request.clientContext : nil)
            try db.execute(
                sql: "INSERT INTO sessions VALUES (?, ?, ?, ?, NULL, ?, ?, 0)",
                arguments: [
                    id.text, user.text, try key.seal(about, at: Self.aboutPlace(id)), now.milliseconds, isLogged,
                    session.summaryStatus.rawValue,
                ])
            if let start {
                try db.execute(
                    sql: "INSERT OR REPLACE INTO session_starts VALUES (?, ?, ?, ?)",
                    arguments: [user.text, start, id.text, now.milliseconds])
            }
            try Self.tell(webhooks(session), keychain, in: db, at: now)
            return (session, true)
        }
    }

    /// Ends a session; ending it again changes nothing. A logged one gets its summary's job in the same commit; of another no summary will come, which
    /// its status says at once (`failed`).
    ///
    /// - Parameter webhooks: told if the session goes on until now.
    /// - Throws: `notFound`.
    package func endSession(
        _ id: SessionID, of user: UserID, telling webhooks: @escaping @Sendable (Session) -> [OutgoingWebhook] = { _ in [] },
        at now: WallTime
    ) async throws(StoreError) -> (session: Session, isEndedNow: Bool) {
        let keychain = keychain
        return try await writing { db in
            let key = try keychain.userKey(of: user, in: db)
            guard let row = try Self.sessionRow(id, of: user, in: db) else { throw StoreError.notFound }
            var session = try Self.session(id, of: user, from: row, key).session
            guard session.endedAt == nil else { return (session, false) }
            session.endedAt = max(now, session.startedAt)
            if !session.loggingEnabledSnapshot { session.summaryStatus = .failed }
            try db.execute(
                sql: "UPDATE sessions SET ended_at = ?, summary_status = ? WHERE id = ?",
                arguments: [session.endedAt?.milliseconds, session.summaryStatus.rawValue, id.text])
            if session.loggingEnabledSnapshot {
                try Self.enqueue(kind: .summary, subject: id.text, of: user, session: id, due: now, in: db)
            }
            try Self.tell(webhooks(session), keychain, in: db, at: now)
            return (session, true)
        }
    }

    /// - Throws: `notFound`.
    package func session(_ id: SessionID, of user: UserID) async throws(StoreError) -> Session {
        let keychain = keychain
        return try await reading { db in
            let key = try keychain.userKey(of: user, in: db)
            guard let row = try Self.sessionRow(id, of: user, in: db) else { throw StoreError.notFound }
            return try Self.session(id, of: user, from: row, key).session
        }
    }

    /// All that is kept of a session.
    ///
    /// - Throws: `notFound`.
    package func record(of id: SessionID, of user: UserID) async throws(StoreError) -> SessionRecord {
        let keychain = keychain
        return try await reading { db in
            let key = try keychain.userKey(of: user, in: db)
            guard let row = try Self.sessionRow(id, of: user, in: db) else { throw StoreError.notFound }
            let (session, clientContext) = try Self.session(id, of: user, from: row, key)
            return SessionRecord(
                session: session, clientContext: clientContext, summary: try Self.summary(of: id, key, in: db),
                turns: try Self.turns(of: id, key, in: db))
        }
    }

    /// A page of a user's sessions, newest first.
    ///
    /// - Parameter limit: 1 to `StoreLimits.sessionsPerPageMax`.
    /// - Throws: `notFound` if there is no such user.
    package func sessions(of user: UserID, after cursor: SessionCursor? = nil, limit: Int = 50) async throws(StoreError) -> SessionPage {
        guard 1...StoreLimits.sessionsPerPageMax ~= limit else {
            throw .refused("A page has 1 to \(StoreLimits.sessionsPerPageMax) sessions.")
        }
        let keychain = keychain
        return try await reading { db in
            var sealed = SealedReader(try keychain.userKey(of: user, in: db))
            let statement = try db.cachedStatement(
                sql: """
                    SELECT s.id, s.started_at, s.ended_at, m.title, m.summary_text FROM sessions s
                    LEFT JOIN summaries m ON m.user_id = s.user_id AND m.started_at = s.started_at AND m.session_id = s.id
                    WHERE s.user_id = ? AND (s.started_at, s.id) < (?, ?) ORDER BY s.started_at DESC, s.id DESC LIMIT ?
                    """)
            var rows = RowReader(statement, [user.text, cursor?.startedAt.milliseconds ?? .max, cursor?.id.text ?? "", limit + 1])
            var page = SessionPage(sessions: [], next: nil)
            page.sessions.reserveCapacity(limit)
            while try rows.next() {
                if page.sessions.count == limit, let last = page.sessions.last {
                    page.next = SessionCursor(startedAt: last.startedAt, id: last.id)
                    break
                }
                page.sessions.append(try Self.listing(from: rows, &sealed))
            }
            return page
        }
    }

    /// Sessions of all users that go on, those first that began first. For whoever looks whether their rooms are still there.
    package func openSessions(startedBefore time: WallTime, limit: Int = 1_000) async throws(StoreError) -> [Session] {
        let keychain = keychain
        return try await reading { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT * FROM sessions WHERE ended_at IS NULL AND started_at < ? ORDER BY started_at LIMIT ?",
                arguments: [time.milliseconds, limit])
            return try rows.compactMap { row in
                guard let id = SessionID(text: row["id"]), let user = UserID(text: row["user_id"]) else { return nil }
                do {
                    return try Self.session(id, of: user, from: row, try keychain.userKey(of: user, in: db)).session
                } catch StoreError.notFound {
                    // The user is being deleted.
                    return nil
                }
            }
        }
    }
}

// MARK: - Rows

/// What of a session is sealed in its row.
private struct About: Codable {
    var context: String
    var assistantID: String?
    var clientContext: String?
}

extension SessionStore {
    private static func aboutPlace(_ id: SessionID) -> String { "sessions.about.\(id)" }

    static func sessionRow(_ id: SessionID, of user: UserID, in db: Database) throws -> Row? {
        let statement = try db.cachedStatement(sql: "SELECT * FROM sessions WHERE id = ? AND user_id = ?")
        return try Row.fetchOne(statement, arguments: [id.text, user.text])
    }

    static func session(
        _ id: SessionID, of user: UserID, from row: Row, _ key: SealingKey
    ) throws -> (session: Session, clientContext: String?) {
        let about = try key.open(row["about"], as: About.self, at: aboutPlace(id))
        let session = Session(
            id: id, userID: user, context: about.context, assistantID: about.assistantID,
            startedAt: WallTime(milliseconds: row["started_at"]), endedAt: (row["ended_at"] as Int64?).map(WallTime.init(milliseconds:)),
            loggingEnabledSnapshot: row["is_logged"], summaryStatus: SummaryStatus(rawValue: row["summary_status"]) ?? .pending)
        return (session, about.clientContext)
    }

    private static func session(
        startedWith start: Data, of user: UserID, _ key: SealingKey, in db: Database, at now: WallTime
    ) throws -> Session? {
        let row = try Row.fetchOne(
            db, sql: "SELECT session_id, started_at FROM session_starts WHERE user_id = ? AND key = ?", arguments: [user.text, start])
        guard
            let row, now < WallTime(milliseconds: row["started_at"]) + StoreLimits.idempotencyWindow,
            let id = SessionID(text: row["session_id"]), let found = try sessionRow(id, of: user, in: db)
        else { return nil }
        return try session(id, of: user, from: found, key).session
    }

    private static func listing(from row: borrowing RowReader, _ sealed: inout SealedReader) throws -> SessionListing {
        guard let id = row.bytes(0).flatMap(SessionID.init(utf8:)) else { throw StoreError.damaged(place: "sessions.id") }
        return SessionListing(
            id: id, title: try sealed.text(row.bytes(3), at: "summaries.title.", id),
            summarySnippet: try sealed.text(row.bytes(4), at: "summaries.summary_text.", id).map(Snippet.of),
            startedAt: WallTime(milliseconds: row.integer(1) ?? 0), endedAt: row.integer(2).map(WallTime.init(milliseconds:)))
    }
}
