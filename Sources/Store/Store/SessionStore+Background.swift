internal import GRDB
internal import Identity

extension SessionStore {
    /// What there is to tell an assistant in a session, as the user's settings are now.
    ///
    /// - Parameter limit: how many earlier sessions.
    /// - Throws: `notFound`.
    package func background(of id: SessionID, of user: UserID, limit: Int = 5) async throws(StoreError) -> SessionBackground {
        let keychain = keychain
        return try await reading { db in
            let key = try keychain.userKey(of: user, in: db)
            guard let row = try Self.sessionRow(id, of: user, in: db) else { throw StoreError.notFound }
            let (session, clientContext) = try Self.session(id, of: user, from: row, key)
            let shares = try Bool.fetchOne(db, sql: "SELECT shares_past_summaries FROM users WHERE id = ?", arguments: [user.text]) ?? false
            return SessionBackground(
                clientContext: clientContext, past: shares ? try Self.sessions(before: session, limit, key, in: db) : [])
        }
    }

    /// Those that are over and have a summary.
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
            guard let id = SessionID(text: row["id"]) else { throw StoreError.damaged(place: "sessions.id") }
            return PastSession(
                id: id, title: try key.openText(row["title"], at: summaryPlace("title", id)),
                summaryText: try key.openText(row["summary_text"], at: summaryPlace("summary_text", id)),
                endedAt: WallTime(milliseconds: row["ended_at"]))
        }
    }
}
