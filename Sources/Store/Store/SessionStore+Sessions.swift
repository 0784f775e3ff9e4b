internal import Foundation
internal import GRDB
package import Identity

extension SessionStore {
    /// Starts a session, with the user's current `loggingEnabled`.
    ///
    /// - Parameter webhooks: enqueued if the session is new.
    /// - Returns: the session, and whether it is new: an idempotency key identifies one session for a day.
    /// - Throws: `notFound` if there is no such user; `keyReused` if the key identifies another request; `tooManySessions`;
    ///   `refused`.
    package func startSession(
        _ request: SessionRequest, of user: UserID, webhooks: @escaping @Sendable (Session) -> [OutgoingWebhook] = { _ in [] },
        at now: WallTime
    ) async throws(StoreError) -> (session: Session, isNew: Bool) {
        guard (request.clientContext?.utf8.count ?? 0) <= StoreLimits.clientContextMax else {
            throw .refused("The client's context is longer than \(StoreLimits.clientContextMax) bytes.")
        }
        let (keychain, id) = (keychain, SessionID())
        return try await writing { db in
            let key = try keychain.userKey(of: user, in: db)
            let start = request.idempotencyKey.map { Data(keychain.lookup(user.text, $0, purpose: "start")) }
            let content = Data(keychain.lookup(ofContent: request, of: user))
            if let start, let known = try Self.session(startedWith: start, content, of: user, key, in: db, at: now) {
                return (known, false)
            }

            guard try Self.openSessions(of: user, in: db) < StoreLimits.openSessionsPerUserMax else { throw StoreError.tooManySessions }
            let settings = try Self.user(user, key, in: db).settings
            let isLogged = settings.loggingEnabled
            let session = Session(
                id: id, userID: user, context: request.context, assistantID: request.assistantID,
                language: settings.language ?? request.assistantLanguage, startedAt: now, loggingEnabledSnapshot: isLogged,
                summaryStatus: isLogged ? .pending : .notLogged)
            let about = About(
                context: request.context, assistantID: request.assistantID, language: session.language,
                clientContext: isLogged ? request.clientContext : nil)
            try db.execute(
                sql: "INSERT INTO sessions VALUES (?, ?, ?, ?, NULL, ?, ?, 0)",
                arguments: [
                    id.text, user.text, try key.seal(about, at: Self.aboutLocation(id)), now.milliseconds, isLogged,
                    session.summaryStatus.rawValue,
                ])
            if let start {
                try db.execute(
                    sql: "INSERT OR REPLACE INTO session_starts (user_id, key, session_id, started_at, content) VALUES (?, ?, ?, ?, ?)",
                    arguments: [user.text, start, id.text, now.milliseconds, content])
            }
            try Self.enqueue(webhooks(session), keychain, in: db, at: now)
            return (session, true)
        }
    }

    /// Sessions of a user that have not ended, counted up to the limit.
    private static func openSessions(of user: UserID, in db: Database) throws -> Int {
        let statement = try db.cachedStatement(
            sql: "SELECT count(*) FROM (SELECT 1 FROM sessions WHERE user_id = ? AND ended_at IS NULL LIMIT ?)")
        return try Int.fetchOne(statement, arguments: [user.text, StoreLimits.openSessionsPerUserMax]) ?? 0
    }

    /// Ends a session; idempotent. A logged session gets its summary job in the same commit.
    ///
    /// - Parameter webhooks: enqueued if the session was open.
    /// - Throws: `notFound`.
    package func endSession(
        _ id: SessionID, of user: UserID, webhooks: @escaping @Sendable (Session) -> [OutgoingWebhook] = { _ in [] },
        at now: WallTime
    ) async throws(StoreError) -> (session: Session, isEndedNow: Bool) {
        let keychain = keychain
        return try await writing { db in
            let key = try keychain.userKey(of: user, in: db)
            guard let row = try Self.sessionRow(id, of: user, in: db) else { throw StoreError.notFound }
            var session = try Self.session(id, of: user, from: row, key).session
            guard session.endedAt == nil else { return (session, false) }
            session.endedAt = max(now, session.startedAt)
            try db.execute(
                sql: "UPDATE sessions SET ended_at = ? WHERE id = ?", arguments: [session.endedAt?.milliseconds, id.text])
            if session.loggingEnabledSnapshot {
                try Self.enqueue(kind: .summary, subject: id.text, of: user, session: id, due: now, in: db)
            }
            try Self.enqueue(webhooks(session), keychain, in: db, at: now)
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

    /// A session of any user: for services, whose right to it the caller checks.
    ///
    /// - Throws: `notFound`.
    package func session(_ id: SessionID) async throws(StoreError) -> Session {
        let keychain = keychain
        return try await reading { db in
            guard let row = try Row.fetchOne(db, sql: "SELECT * FROM sessions WHERE id = ?", arguments: [id.text]),
                let user = UserID(text: row["user_id"])
            else { throw StoreError.notFound }
            return try Self.session(id, of: user, from: row, try keychain.userKey(of: user, in: db)).session
        }
    }

    /// A session with its summary and turns.
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

    /// Open sessions of all users, oldest first; for finding those whose room is gone.
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

/// The encrypted part of a session's row.
private struct About: Codable {
    var context: String
    var assistantID: String?
    var language: String?
    var clientContext: String?
}

extension Keychain {
    /// A keyed hash of what was asked for, so that a repeated key with another request is recognized without storing the request.
    fileprivate func lookup(ofContent request: SessionRequest, of user: UserID) -> [UInt8] {
        func part(_ text: String?) -> String { text.map { "+" + $0 } ?? "" }
        return lookup(
            user.text, request.context, part(request.assistantID), part(request.clientContext), purpose: "start content")
    }
}

extension SessionStore {
    private static func aboutLocation(_ id: SessionID) -> String { "sessions.about.\(id)" }

    static func sessionRow(_ id: SessionID, of user: UserID, in db: Database) throws -> Row? {
        let statement = try db.cachedStatement(sql: "SELECT * FROM sessions WHERE id = ? AND user_id = ?")
        return try Row.fetchOne(statement, arguments: [id.text, user.text])
    }

    static func session(
        _ id: SessionID, of user: UserID, from row: Row, _ key: SealingKey
    ) throws -> (session: Session, clientContext: String?) {
        let about = try key.open(row["about"], as: About.self, at: aboutLocation(id))
        let session = Session(
            id: id, userID: user, context: about.context, assistantID: about.assistantID, language: about.language,
            startedAt: WallTime(milliseconds: row["started_at"]), endedAt: (row["ended_at"] as Int64?).map(WallTime.init(milliseconds:)),
            loggingEnabledSnapshot: row["is_logged"], summaryStatus: SummaryStatus(rawValue: row["summary_status"]) ?? .pending)
        return (session, about.clientContext)
    }

    private static func session(
        startedWith start: Data, _ content: Data, of user: UserID, _ key: SealingKey, in db: Database, at now: WallTime
    ) throws -> Session? {
        let row = try Row.fetchOne(
            db, sql: "SELECT session_id, started_at, content FROM session_starts WHERE user_id = ? AND key = ?",
            arguments: [user.text, start])
        guard
            let row, now < WallTime(milliseconds: row["started_at"]) + StoreLimits.idempotencyWindow,
            let id = SessionID(text: row["session_id"]), let found = try sessionRow(id, of: user, in: db)
        else { return nil }
        // Null in rows of earlier versions.
        guard (row["content"] as Data?).map({ $0 == content }) ?? true else { throw StoreError.keyReused }
        return try session(id, of: user, from: found, key).session
    }

    private static func listing(from row: borrowing RowReader, _ sealed: inout SealedReader) throws -> SessionListing {
        guard let id = row.bytes(0).flatMap(SessionID.init(utf8:)) else { throw StoreError.damaged(location: "sessions.id") }
        return SessionListing(
            id: id, title: try sealed.text(row.bytes(3), at: "summaries.title.", id),
            summarySnippet: try sealed.text(row.bytes(4), at: "summaries.summary_text.", id).map(Snippet.of),
            startedAt: WallTime(milliseconds: row.integer(1) ?? 0), endedAt: row.integer(2).map(WallTime.init(milliseconds:)))
    }
}

/// The outcome of `SessionStore.append(_:of:)`.
package enum TurnOutcome: Sendable, Hashable {
    /// A new turn.
    case stored
    /// A later revision of a stored turn, which took its place.
    case replaced
    /// The store has this revision, or a later one.
    case unchanged
    /// The session is not logged. Nothing was written.
    case notLogged
}

extension SessionStore {
    /// Stores a turn, or replaces it by a later revision; idempotent for the same revision. Turns and revisions may arrive after the session has
    /// ended: its summary is then repeated.
    ///
    /// A revision without text deletes the turn: nothing of it was played. It is remembered, so that an earlier revision does not bring it back.
    ///
    /// - Parameter isKeyed: the turn's id comes from an idempotency key, so that a stored turn must be the same.
    /// - Throws: `notFound`; `keyReused`; `refused` above `StoreLimits.turnTextMax` or `StoreLimits.turnsPerSessionMax`.
    package func append(_ turn: Turn, of user: UserID, isKeyed: Bool = false) async throws(StoreError) -> TurnOutcome {
        guard turn.text.utf8.count <= StoreLimits.turnTextMax else {
            throw .refused("A turn has at most \(StoreLimits.turnTextMax) bytes of text.")
        }
        // Whether a session is logged never changes, so one that is not never causes a write.
        guard try await isLogged(turn.sessionID, of: user) else { return .notLogged }
        let keychain = keychain
        return try await writing { db in
            let key = try keychain.userKey(of: user, in: db)
            let statement = try db.cachedStatement(sql: "SELECT turn_count, ended_at FROM sessions WHERE id = ? AND user_id = ?")
            guard let session = try Row.fetchOne(statement, arguments: [turn.sessionID.text, user.text]) else { throw StoreError.notFound }
            let known = try db.cachedStatement(sql: "SELECT revision FROM turns WHERE session_id = ? AND id = ?")
            let stored = try Int.fetchOne(known, arguments: [turn.sessionID.text, turn.id.text])
            if let stored {
                guard stored < turn.revision else {
                    if isKeyed { try Self.checkIsSame(turn, key, in: db) }
                    return .unchanged
                }
                try Self.replace(turn, key, in: db)
            } else {
                try Self.insert(turn, position: session["turn_count"], key, in: db)
            }
            if let endedAt = session["ended_at"] as Int64? {
                try Self.resetSummary(of: turn.sessionID, user: user, due: WallTime(milliseconds: endedAt), in: db)
            }
            return stored == nil ? .stored : .replaced
        }
    }

    /// - Throws: `keyReused` if the stored turn is another one.
    private static func checkIsSame(_ turn: Turn, _ key: SealingKey, in db: Database) throws {
        let row = try Row.fetchOne(
            db, sql: "SELECT timestamp, speaker, text FROM turns WHERE session_id = ? AND id = ?",
            arguments: [turn.sessionID.text, turn.id.text])
        guard let row else { return }
        let text = try key.openText(row["text"], at: turnLocation(turn.sessionID, turn.id.text))
        guard text == turn.text, row["speaker"] == turn.speaker.rawValue, row["timestamp"] == turn.timestamp.milliseconds else {
            throw StoreError.keyReused
        }
    }

    private static func insert(_ turn: Turn, position: Int, _ key: SealingKey, in db: Database) throws {
        guard position < StoreLimits.turnsPerSessionMax else {
            throw StoreError.refused("A session has at most \(StoreLimits.turnsPerSessionMax) turns.")
        }
        try db.cachedStatement(sql: "UPDATE sessions SET turn_count = turn_count + 1 WHERE id = ?").execute(arguments: [turn.sessionID.text]
        )
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO turns (session_id, id, position, timestamp, speaker, text, audio_ref, duration_ms, revision)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(arguments: [
            turn.sessionID.text, turn.id.text, position, turn.timestamp.milliseconds, turn.speaker.rawValue,
            key.seal(turn.text, at: turnLocation(turn.sessionID, turn.id.text)), turn.audioRef, turn.durationMs, turn.revision,
        ])
    }

    private static func replace(_ turn: Turn, _ key: SealingKey, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE turns SET timestamp = ?, speaker = ?, text = ?, audio_ref = coalesce(?, audio_ref), duration_ms = ?, revision = ?
                WHERE session_id = ? AND id = ?
                """)
        try statement.execute(arguments: [
            turn.timestamp.milliseconds, turn.speaker.rawValue, key.seal(turn.text, at: turnLocation(turn.sessionID, turn.id.text)),
            turn.audioRef, turn.durationMs, turn.revision, turn.sessionID.text, turn.id.text,
        ])
    }

    /// Registers a recording before it is written, so that it is deleted with its session. The name is random.
    ///
    /// - Returns: false if the session is not logged and must not be recorded.
    /// - Throws: `notFound`.
    package func addRecording(named name: String, to session: SessionID, of user: UserID) async throws(StoreError) -> Bool {
        guard try await isLogged(session, of: user) else { return false }
        return try await writing { db in
            try db.execute(
                sql: "INSERT OR IGNORE INTO recordings SELECT ?, id FROM sessions WHERE id = ? AND user_id = ?",
                arguments: [name, session.text, user.text])
            guard db.changesCount == 1 else { throw StoreError.notFound }
            return true
        }
    }

    /// The names of a session's recordings.
    ///
    /// - Throws: `notFound`.
    package func recordings(of session: SessionID, of user: UserID) async throws(StoreError) -> [String] {
        try await reading { db in
            guard try Self.sessionRow(session, of: user, in: db) != nil else { throw StoreError.notFound }
            return try String.fetchAll(db, sql: "SELECT name FROM recordings WHERE session_id = ? ORDER BY name", arguments: [session.text])
        }
    }

    /// The key of a user's file. Deleting the user destroys it.
    ///
    /// - Throws: `notFound` if there is no such user.
    package func fileKey(named name: String, of user: UserID) async throws(StoreError) -> SealingKey {
        let keychain = keychain
        return try await reading { db in try keychain.userKey(of: user, in: db).derived(for: "file \(name)") }
    }

    private func isLogged(_ session: SessionID, of user: UserID) async throws(StoreError) -> Bool {
        try await reading { db in
            let statement = try db.cachedStatement(sql: "SELECT is_logged FROM sessions WHERE id = ? AND user_id = ?")
            guard let isLogged = try Bool.fetchOne(statement, arguments: [session.text, user.text]) else { throw StoreError.notFound }
            return isLogged
        }
    }
}

// MARK: - Rows

extension SessionStore {
    static func turnLocation(_ session: SessionID, _ id: String) -> String { "turns.text.\(session) \(id)" }

    static func turns(of session: SessionID, _ key: SealingKey, in db: Database) throws -> [Turn] {
        // Sorted here, because SQLite's sorter copies whole rows.
        let statement = try db.cachedStatement(
            sql: "SELECT id, timestamp, speaker, text, audio_ref, duration_ms, position, revision FROM turns WHERE session_id = ?")
        var rows = RowReader(statement, [session.text])
        var sealed = SealedReader(key)
        var turns: [Turn] = []
        var positions: [Int64] = []
        while try rows.next() {
            guard let id = rows.bytes(0).flatMap(TurnID.init(utf8:)), let speaker = rows.text(2).flatMap(Turn.Speaker.init(rawValue:)),
                let timestamp = rows.integer(1), let text = rows.bytes(3), let position = rows.integer(6)
            else {
                throw StoreError.damaged(location: "turns.\(session) \(rows.text(0) ?? "")")
            }
            let turn = Turn(
                id: id, sessionID: session, timestamp: WallTime(milliseconds: timestamp), speaker: speaker,
                text: try sealed.turn(text, of: session, id), audioRef: rows.text(4), durationMs: rows.integer(5).map(Int.init),
                revision: rows.integer(7).map(Int.init) ?? 0)
            // Nothing of it was played.
            if turn.revision > 0, turn.text.isEmpty { continue }
            turns.append(turn)
            positions.append(position)
        }
        let order = turns.indices.sorted { (turns[$0].timestamp, positions[$0]) < (turns[$1].timestamp, positions[$1]) }
        return order.map { turns[$0] }
    }
}

extension SessionStore {
    /// Stores the summary of a session in place of an earlier one, marks it ready, and finishes the job that made it.
    ///
    /// - Parameters:
    ///   - isProvisional: the configured model has yet to make the summary. The job must still be leased and stays.
    ///   - webhooks: enqueued in the same commit.
    /// - Throws: `notFound`, also when the job's lease has expired and another worker has it, or a later revision of a turn has reset it.
    @discardableResult
    package func saveSummary(
        _ content: SummaryContent, for session: SessionID, of user: UserID, isProvisional: Bool = false, finishing job: Job? = nil,
        webhooks: @escaping @Sendable (Summary) -> [OutgoingWebhook] = { _ in [] }, at now: WallTime
    ) async throws(StoreError) -> Summary {
        let (keychain, summary) = (
            keychain, Summary(id: SummaryID(), sessionID: session, content: content, createdAt: now, isProvisional: isProvisional)
        )
        return try await writing { db in
            let key = try keychain.userKey(of: user, in: db)
            try db.execute(
                sql: "UPDATE sessions SET summary_status = 'ready' WHERE id = ? AND user_id = ? AND is_logged",
                arguments: [session.text, user.text])
            guard db.changesCount == 1 else { throw StoreError.notFound }
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO summaries
                    SELECT user_id, started_at, id, ?, ?, ?, ?, ?, ?, ? FROM sessions WHERE id = ?
                    """,
                arguments: [
                    summary.id.text, now.milliseconds, key.seal(content.title, at: Self.summaryLocation("title", session)),
                    key.seal(content.summaryText, at: Self.summaryLocation("summary_text", session)),
                    try key.seal(content.actionItems, at: Self.summaryLocation("action_items", session)),
                    try key.seal(content.tags, at: Self.summaryLocation("tags", session)), isProvisional, session.text,
                ])
            if let job {
                guard try isProvisional ? Self.isLeased(job, in: db) : Self.finish(job, in: db) else { throw StoreError.notFound }
            }
            try Self.enqueue(webhooks(summary), keychain, in: db, at: now)
            return summary
        }
    }

    /// Sets the summary status to `failed`, unless a summary exists.
    ///
    /// - Throws: `notFound`.
    package func markSummaryFailed(for session: SessionID, of user: UserID) async throws(StoreError) {
        try await writing { db in
            guard try Self.sessionRow(session, of: user, in: db) != nil else { throw StoreError.notFound }
            try Self.markSummaryFailed(session.text, in: db)
        }
    }
}

// MARK: - Rows

extension SessionStore {
    static func summaryLocation(_ column: String, _ session: SessionID) -> String { "summaries.\(column).\(session)" }

    static func summary(of session: SessionID, _ key: SealingKey, in db: Database) throws -> Summary? {
        let statement = try db.cachedStatement(sql: "SELECT * FROM summaries WHERE session_id = ?")
        guard let row = try Row.fetchOne(statement, arguments: [session.text]) else { return nil }
        guard let id = SummaryID(text: row["id"]) else { throw StoreError.damaged(location: "summaries.id.\(session)") }
        let content = SummaryContent(
            title: try key.openText(row["title"], at: summaryLocation("title", session)),
            summaryText: try key.openText(row["summary_text"], at: summaryLocation("summary_text", session)),
            actionItems: try key.open(row["action_items"], as: [String].self, at: summaryLocation("action_items", session)),
            tags: try key.open(row["tags"], as: [String].self, at: summaryLocation("tags", session)))
        return Summary(
            id: id, sessionID: session, content: content, createdAt: WallTime(milliseconds: row["created_at"]),
            isProvisional: row["is_provisional"])
    }

    /// An earlier or provisional summary is kept.
    static func markSummaryFailed(_ session: String, in db: Database) throws {
        try db.execute(
            sql: """
                UPDATE sessions SET summary_status = iif(EXISTS (SELECT 1 FROM summaries WHERE session_id = ?1), 'ready', 'failed')
                WHERE id = ?1 AND summary_status = 'pending'
                """, arguments: [session])
    }
}

extension SessionStore {
    /// The context for an assistant in a session, by the user's current settings.
    ///
    /// - Parameter limit: maximum number of earlier sessions.
    /// - Throws: `notFound`.
    package func background(of id: SessionID, of user: UserID, limit: Int = 5) async throws(StoreError) -> SessionBackground {
        let keychain = keychain
        return try await reading { db in
            let key = try keychain.userKey(of: user, in: db)
            guard let row = try Self.sessionRow(id, of: user, in: db) else { throw StoreError.notFound }
            let (session, clientContext) = try Self.session(id, of: user, from: row, key)
            let settings = try Self.user(user, key, in: db).settings
            return SessionBackground(
                clientContext: clientContext, voice: settings.voice, language: settings.language,
                past: settings.sharesPastSummaries ? try Self.sessions(before: session, limit, key, in: db) : [])
        }
    }

    /// Earlier sessions that have ended and have a summary.
    private static func sessions(before session: Session, _ limit: Int, _ key: SealingKey, in db: Database) throws -> [PastSession] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT s.id, s.ended_at, m.title, m.summary_text FROM sessions s
                JOIN summaries m ON m.user_id = s.user_id AND m.started_at = s.started_at AND m.session_id = s.id
                WHERE s.user_id = ? AND (s.started_at, s.id) < (?, ?) AND s.ended_at IS NOT NULL
                ORDER BY s.started_at DESC, s.id DESC LIMIT ?
                """)
        return try Row.fetchAll(
            statement, arguments: [session.userID.text, session.startedAt.milliseconds, session.id.text, limit]
        ).map { row in
            guard let id = SessionID(text: row["id"]) else { throw StoreError.damaged(location: "sessions.id") }
            return PastSession(
                id: id, title: try key.openText(row["title"], at: summaryLocation("title", id)),
                summaryText: try key.openText(row["summary_text"], at: summaryLocation("summary_text", id)),
                endedAt: WallTime(milliseconds: row["ended_at"]))
        }
    }
}

/// The beginning of a text, cut between words, for lists.
enum Snippet {
    static func of(_ text: String) -> String {
        guard text.utf8.count > StoreLimits.snippetLength else { return text }
        var text = text
        let plain = text.withUTF8 { utf8 -> String? in
            let head = utf8[...StoreLimits.snippetLength]
            // In ASCII, bytes are characters, which saves grapheme breaking; CR LF is the exception.
            guard head.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "\r") }) else { return nil }
            let end = head.dropLast().lastIndex(of: UInt8(ascii: " ")) ?? StoreLimits.snippetLength
            return String(decoding: utf8[..<end], as: UTF8.self) + "…"
        }
        return plain ?? byCharacters(text)
    }

    private static func byCharacters(_ text: String) -> String {
        let head = text.prefix(StoreLimits.snippetLength)
        guard head.endIndex < text.endIndex else { return text }
        return (head.lastIndex(of: " ").map { head[..<$0] } ?? head) + "…"
    }
}
