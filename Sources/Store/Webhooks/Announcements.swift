internal import Foundation
internal import Identity

/// Announcements: webhooks with what they say about open rooms and calls.
extension Webhooks {
    /// Enqueues the webhooks and updates the open announcements.
    ///
    /// - Parameter fence: of the room, in a cluster.
    /// - Throws: `superseded`.
    package func announce(
        _ announcement: Announcement, telling outlet: ConversationOutlet = .none, fencedBy fence: RoomFence? = nil, at now: WallTime
    ) async throws(StoreError) {
        let news = try await database.write { db -> [ConversationNews] in
            try RoomEpochs.check(fence, in: db)
            if case .recovers(let open) = announcement.effect, try !Self.close(open, in: db) { return [] }
            try Self.enqueue(announcement.webhooks, in: db, at: now)
            let news = try Conversations.append(announcement.audio, telling: outlet, in: db, at: now)
            if let call = announcement.call { try Calls.append(call.entry, of: call.user, in: db) }
            switch announcement.effect {
            case .none, .recovers: break
            case .closes(let key): try db.execute("DELETE FROM open_announcements WHERE key = ?", key)
            case .opens(let open): try Self.open(open, in: db)
            }
            return news
        }
        for one in news { outlet.tell(one) }
    }

    /// Makes the store refuse what earlier homes of the fence's room write.
    ///
    /// - Throws: `superseded`.
    package func raise(_ fence: RoomFence) async throws(StoreError) {
        try await database.write { db in try RoomEpochs.check(fence, in: db) }
    }

    /// Notes that a room is open at another node than before, or does nothing if it was not announced.
    ///
    /// - Parameters:
    ///   - key: of its open announcement.
    ///   - fence: of the room at this node.
    /// - Throws: `superseded`.
    package func move(_ key: String, to node: String, fencedBy fence: RoomFence) async throws(StoreError) {
        try await database.write { db in
            try RoomEpochs.check(fence, in: db)
            try db.execute("UPDATE open_announcements SET node = ? WHERE key = ?", node, key)
        }
    }

    /// Announced rooms and calls that have not ended. Without a cluster, these are the ones of the previous process before the first
    /// `announce`.
    ///
    /// - Parameters:
    ///   - prefix: of their keys; empty for all.
    ///   - nodes: what is open at these nodes is left out.
    package func openAnnouncements(_ prefix: String = "", except nodes: [String] = []) async throws(StoreError) -> [OpenAnnouncement] {
        let others = nodes.isEmpty ? "" : "AND (node IS NULL OR node NOT IN (\(nodes.map { _ in "?" }.joined(separator: ", "))))"
        let sql = "SELECT * FROM open_announcements WHERE substr(key, 1, length(?)) = ? \(others) ORDER BY key"
        return try await database.read { db in
            try db.connection.all(sql, [prefix, prefix] + nodes).map { row in
                let key: String = try row["key"]
                return try OpenAnnouncement(
                    key: key, content: db.shared.openText(row["content"], at: Self.location(ofAnnouncement: key)), userID: row["user_id"],
                    sessionID: row["session_id"], node: row["node"])
            }
        }
    }

    private static func open(_ open: OpenAnnouncement, in db: Transaction) throws {
        // Nothing is kept of a user or session that has been deleted in between.
        try db.execute(
            """
            INSERT INTO open_announcements (key, content, user_id, session_id, node) SELECT ?1, ?2, ?3, ?4, ?5
            WHERE (?3 IS NULL OR EXISTS (SELECT 1 FROM users WHERE id = ?3))
            AND (?4 IS NULL OR EXISTS (SELECT 1 FROM sessions WHERE id = ?4))
            ON CONFLICT (key) DO UPDATE
            SET content = excluded.content, user_id = excluded.user_id, session_id = excluded.session_id, node = excluded.node
            """,
            open.key, db.shared.seal(open.content, at: location(ofAnnouncement: open.key)), open.userID, open.sessionID, open.node)
    }

    /// - Returns: false if it is closed already, or open at another node.
    private static func close(_ open: OpenAnnouncement, in db: Transaction) throws -> Bool {
        try db.execute(
            "DELETE FROM open_announcements WHERE key = ? AND coalesce(node, '') = ?", open.key, open.node ?? "") == 1
    }

    private static func location(ofAnnouncement key: String) -> String { "open_announcements.content.\(key)" }
}
