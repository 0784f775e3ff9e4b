internal import Foundation
internal import GRDB
package import Identity

/// What `SessionStore.append(_:of:)` did with a turn.
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
    /// ended: its summary is then made anew.
    ///
    /// A revision without text deletes the turn: nothing of it was played. It is remembered, so that an earlier revision does not bring it back.
    ///
    /// - Throws: `notFound`; `refused` above `StoreLimits.turnTextMax` or `StoreLimits.turnsPerSessionMax`.
    package func append(_ turn: Turn, of user: UserID) async throws(StoreError) -> TurnOutcome {
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
                guard stored < turn.revision else { return .unchanged }
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
            key.seal(turn.text, at: turnPlace(turn.sessionID, turn.id.text)), turn.audioRef, turn.durationMs, turn.revision,
        ])
    }

    private static func replace(_ turn: Turn, _ key: SealingKey, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE turns SET timestamp = ?, speaker = ?, text = ?, audio_ref = coalesce(?, audio_ref), duration_ms = ?, revision = ?
                WHERE session_id = ? AND id = ?
                """)
        try statement.execute(arguments: [
            turn.timestamp.milliseconds, turn.speaker.rawValue, key.seal(turn.text, at: turnPlace(turn.sessionID, turn.id.text)),
            turn.audioRef, turn.durationMs, turn.revision, turn.sessionID.text, turn.id.text,
        ])
    }

    /// Notes that a file belongs to a session, before the first sound is in it: so that it goes when the session goes. The name is random and tells nothing.
    ///
    /// - Returns: false if the session is not logged; then nothing may be recorded.
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

    /// Names of a session's recordings.
    ///
    /// - Throws: `notFound`.
    package func recordings(of session: SessionID, of user: UserID) async throws(StoreError) -> [String] {
        try await reading { db in
            guard try Self.sessionRow(session, of: user, in: db) != nil else { throw StoreError.notFound }
            return try String.fetchAll(db, sql: "SELECT name FROM recordings WHERE session_id = ? ORDER BY name", arguments: [session.text])
        }
    }

    /// What a user's file named `name` is sealed with. It is worth nothing when the user is gone.
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
    static func turnPlace(_ session: SessionID, _ id: String) -> String { "turns.text.\(session) \(id)" }

    static func turns(of session: SessionID, _ key: SealingKey, in db: Database) throws -> [Turn] {
        // Sorted here: SQLite would copy them all, text and all, to do it.
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
                throw StoreError.damaged(place: "turns.\(session) \(rows.text(0) ?? "")")
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
