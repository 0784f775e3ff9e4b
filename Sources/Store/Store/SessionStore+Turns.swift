internal import Foundation
internal import GRDB
package import Identity

/// What became of a turn.
package enum TurnAnswer: Sendable, Hashable {
    case kept
    /// The session has a turn of this id; the first one stays.
    case known
    /// The session is not logged. Nothing was written.
    case notLogged
}

extension SessionStore {
    /// Keeps a turn, once for each id. The last words of a session may come after its end and are kept too.
    ///
    /// - Throws: `notFound`; `refused` for text or turns without end.
    package func append(_ turn: Turn, of user: UserID) async throws(StoreError) -> TurnAnswer {
        guard turn.text.utf8.count <= StoreLimits.turnTextMax else {
            throw .refused("A turn has at most \(StoreLimits.turnTextMax) bytes of text.")
        }
        // Whether the session is logged never changes, so that a session that is not never comes near a write.
        guard try await isLogged(turn.sessionID, of: user) else { return .notLogged }
        let keychain = keychain
        return try await writing { db in
            let key = try keychain.userKey(of: user, in: db)
            let known = try db.cachedStatement(sql: "SELECT 1 FROM turns WHERE session_id = ? AND id = ?")
            if try Bool.fetchOne(known, arguments: [turn.sessionID.text, turn.id.text]) != nil { return .known }

            let count = try db.cachedStatement(sql: "SELECT turn_count FROM sessions WHERE id = ? AND user_id = ?")
            guard let position = try Int.fetchOne(count, arguments: [turn.sessionID.text, user.text]) else { throw StoreError.notFound }
            guard position < StoreLimits.turnsPerSessionMax else {
                throw StoreError.refused("A session has at most \(StoreLimits.turnsPerSessionMax) turns.")
            }
            try db.cachedStatement(sql: "UPDATE sessions SET turn_count = turn_count + 1 WHERE id = ?")
                .execute(arguments: [turn.sessionID.text])
            try db.cachedStatement(sql: "INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
                .execute(arguments: [
                    turn.sessionID.text, turn.id.text, position, turn.timestamp.milliseconds, turn.speaker.rawValue,
                    key.seal(turn.text, at: Self.turnPlace(turn.sessionID, turn.id.text)), turn.audioRef, turn.durationMs,
                ])
            return .kept
        }
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
            sql: "SELECT id, timestamp, speaker, text, audio_ref, duration_ms, position FROM turns WHERE session_id = ?")
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
            turns.append(
                Turn(
                    id: id, sessionID: session, timestamp: WallTime(milliseconds: timestamp), speaker: speaker,
                    text: try sealed.turn(text, of: session, id), audioRef: rows.text(4), durationMs: rows.integer(5).map(Int.init)))
            positions.append(position)
        }
        let order = turns.indices.sorted { (turns[$0].timestamp, positions[$0]) < (turns[$1].timestamp, positions[$1]) }
        return order.map { turns[$0] }
    }
}
