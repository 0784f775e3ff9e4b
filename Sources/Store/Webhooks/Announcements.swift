internal import GRDB

/// A room or call whose start was announced by webhook and whose end was not. It survives a crash, so that the next process can
/// announce the end.
package struct OpenAnnouncement: Sendable, Hashable {
    /// Unique among everything that was ever announced.
    package var key: String
    /// The data of the webhook that will announce the end. Encrypted in the store.
    package var content: String
    /// Deleting the user or the session deletes the announcement with its webhooks.
    package var userID: UserID?
    package var sessionID: SessionID?

    package init(key: String, content: String, userID: UserID? = nil, sessionID: SessionID? = nil) {
        self.key = key
        self.content = content
        self.userID = userID
        self.sessionID = sessionID
    }
}

/// The webhooks of one event, the open announcement that it adds or removes, and the call that it ends for a user: stored in one
/// transaction.
package struct Announcement: Sendable {
    package enum Effect: Sendable {
        case none
        /// Replaces an open announcement of the same key.
        case opens(OpenAnnouncement)
        case closes(key: String)
    }

    package var webhooks: [OutgoingWebhook]
    package var effect: Effect
    /// For the history of this user.
    package var call: (user: UserID, entry: CallLogEntry)?
    /// Changes for the history of the conversation whose members are called.
    package var audio: [ConversationAudioChange] = []

    package init(_ webhooks: [OutgoingWebhook] = [], effect: Effect = .none) {
        self.webhooks = webhooks
        self.effect = effect
    }
}

extension SessionStore {
    /// Enqueues the webhooks and updates the open announcements.
    package func announce(
        _ announcement: Announcement, telling outlet: ConversationOutlet = .none, at now: WallTime
    ) async throws(StoreError) {
        let news = try await writing { db in
            try Self.enqueue(announcement.webhooks, in: db, at: now)
            let news = try Self.append(announcement.audio, telling: outlet, in: db, at: now)
            if let call = announcement.call { try Self.append(call.entry, of: call.user, in: db) }
            switch announcement.effect {
            case .none: break
            case .closes(let key): try db.execute("DELETE FROM open_announcements WHERE key = ?", key)
            case .opens(let open):
                // Nothing is kept of a user or session that has been deleted in between.
                try db.execute(
                    """
                    INSERT OR REPLACE INTO open_announcements SELECT ?1, ?2, ?3, ?4
                    WHERE (?3 IS NULL OR EXISTS (SELECT 1 FROM users WHERE id = ?3))
                    AND (?4 IS NULL OR EXISTS (SELECT 1 FROM sessions WHERE id = ?4))
                    """, open.key, db.shared.seal(open.content, at: Self.announcementLocation(open.key)), open.userID, open.sessionID)
            }
            return news
        }
        for one in news { outlet.tell(one) }
    }

    /// Announced rooms and calls that have not ended. Before the first `announce`, these are the ones of the previous process.
    package func openAnnouncements() async throws(StoreError) -> [OpenAnnouncement] {
        try await reading { db in
            try db.rows("SELECT * FROM open_announcements ORDER BY key").map { row in
                let key: String = try row["key"]
                return try OpenAnnouncement(
                    key: key, content: db.shared.openText(row["content"], at: Self.announcementLocation(key)), userID: row["user_id"],
                    sessionID: row["session_id"])
            }
        }
    }

    private static func announcementLocation(_ key: String) -> String { "open_announcements.content.\(key)" }
}
