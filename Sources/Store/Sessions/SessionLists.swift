internal import Identity

/// Sessions in lists: in those of their users, and in the context of a later session.
extension Sessions {
    /// Returns a session as it appears in the list.
    package func listing(of id: SessionID, of user: UserID) async throws(StoreError) -> SessionListing {
        try await database.read { db in
            let key = try db.key(of: user)
            let session = try Self.session(id, of: user, key, in: db).session
            let summary = try Self.summary(of: id, key, in: db)?.content
            return SessionListing(
                id: id, title: summary?.title, summarySnippet: summary.map { Snippet.of($0.summaryText) }, startedAt: session.startedAt,
                endedAt: session.endedAt)
        }
    }

    /// A page of a user's sessions, newest first.
    ///
    /// - Parameter limit: 1 to `StoreLimits.sessionsPerPageMax`.
    package func list(
        of user: UserID, after cursor: TimeCursor? = nil, limit: Int = 50
    ) async throws(StoreError) -> Page<SessionListing, TimeCursor> {
        guard 1...StoreLimits.sessionsPerPageMax ~= limit else {
            throw .refused("A page has 1 to \(StoreLimits.sessionsPerPageMax) sessions.")
        }
        return try await database.read { db in
            var sealed = SealedReader(try db.key(of: user))
            var rows = try db.reader(
                """
                SELECT s.id, s.started_at, s.ended_at, m.title, m.summary_text FROM sessions s
                LEFT JOIN summaries m ON m.user_id = s.user_id AND m.started_at = s.started_at AND m.session_id = s.id
                WHERE s.user_id = ? AND (s.started_at, s.id) < (?, ?) ORDER BY s.started_at DESC, s.id DESC LIMIT ?
                """, user, cursor?.time.milliseconds ?? .max, cursor?.id ?? "", limit + 1)
            var page = Page<SessionListing, TimeCursor>(elements: [], next: nil)
            page.elements.reserveCapacity(limit)
            while try rows.next() {
                if page.elements.count == limit {
                    page.next = page.elements.last.map(TimeCursor.init(after:))
                    break
                }
                page.elements.append(try Self.listing(from: rows, &sealed))
            }
            return page
        }
    }

    private static func listing(from row: borrowing RowReader, _ sealed: inout SealedReader) throws -> SessionListing {
        guard let id = row.bytes(0).flatMap(SessionID.init(utf8:)) else { throw StoreError.damaged(location: "sessions.id") }
        return SessionListing(
            id: id, title: try sealed.text(row.bytes(3), at: "summaries.title.", id),
            summarySnippet: try sealed.text(row.bytes(4), at: "summaries.summary_text.", id).map(Snippet.of),
            startedAt: WallTime(milliseconds: row.integer(1) ?? 0), endedAt: row.integer(2).map(WallTime.init(milliseconds:)))
    }

    /// The context for an assistant in a session, by the user's current settings.
    ///
    /// - Parameter limit: maximum number of earlier sessions.
    package func background(of id: SessionID, of user: UserID, limit: Int = 5) async throws(StoreError) -> SessionBackground {
        try await database.read { db in
            let key = try db.key(of: user)
            let (session, clientContext) = try Self.session(id, of: user, key, in: db)
            let choice = try Self.choice(of: id, key, in: db)
            let settings = try Accounts.user(user, key, in: db).settings
            return SessionBackground(
                clientContext: clientContext, voice: choice.voice ?? settings.voice, language: choice.language ?? settings.language,
                past: settings.sharesPastSummaries ? try Self.sessions(before: session, limit, key, in: db) : [])
        }
    }

    /// Earlier sessions that have ended and have a summary.
    private static func sessions(before session: Session, _ limit: Int, _ key: SealingKey, in db: Transaction) throws -> [PastSession] {
        try db.all(
            """
            SELECT s.id, s.ended_at, m.title, m.summary_text FROM sessions s
            JOIN summaries m ON m.user_id = s.user_id AND m.started_at = s.started_at AND m.session_id = s.id
            WHERE s.user_id = ? AND (s.started_at, s.id) < (?, ?) AND s.ended_at IS NOT NULL
            ORDER BY s.started_at DESC, s.id DESC LIMIT ?
            """, session.userID, session.startedAt, session.id, limit
        ).map { row in
            let id: SessionID = try row["id"]
            return try PastSession(
                id: id, title: key.openText(row["title"], at: summaryLocation("title", id)),
                summaryText: key.openText(row["summary_text"], at: summaryLocation("summary_text", id)), endedAt: row["ended_at"])
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
