internal import Foundation
internal import GRDB

/// A room or call whose start was announced by webhook and whose end was not. It survives a crash, so that the next process can announce the end.
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

    package init(_ webhooks: [OutgoingWebhook] = [], effect: Effect = .none) {
        self.webhooks = webhooks
        self.effect = effect
    }
}

extension SessionStore {
    /// Enqueues the webhooks and updates the open announcements.
    package func announce(_ announcement: Announcement, at now: WallTime) async throws(StoreError) {
        let keychain = keychain
        try await writing { db in
            try Self.enqueue(announcement.webhooks, keychain, in: db, at: now)
            if let call = announcement.call { try Self.append(call.entry, of: call.user, keychain, in: db) }
            switch announcement.effect {
            case .none: break
            case .closes(let key): try db.execute(sql: "DELETE FROM open_announcements WHERE key = ?", arguments: [key])
            case .opens(let open):
                // Nothing is kept of a user or session that has been deleted in between.
                try db.execute(
                    sql: """
                        INSERT OR REPLACE INTO open_announcements SELECT ?1, ?2, ?3, ?4
                        WHERE (?3 IS NULL OR EXISTS (SELECT 1 FROM users WHERE id = ?3))
                        AND (?4 IS NULL OR EXISTS (SELECT 1 FROM sessions WHERE id = ?4))
                        """,
                    arguments: [
                        open.key, keychain.shared.seal(open.content, at: Self.announcementLocation(open.key)), open.userID?.text,
                        open.sessionID?.text,
                    ])
            }
        }
    }

    /// Announced rooms and calls that have not ended. Before the first `announce`, these are the ones of the previous process.
    package func openAnnouncements() async throws(StoreError) -> [OpenAnnouncement] {
        let keychain = keychain
        return try await reading { db in
            try Row.fetchAll(db, sql: "SELECT * FROM open_announcements ORDER BY key").map { row in
                let key: String = row["key"]
                return OpenAnnouncement(
                    key: key, content: try keychain.shared.openText(row["content"], at: Self.announcementLocation(key)),
                    userID: (row["user_id"] as String?).flatMap(UserID.init(text:)),
                    sessionID: (row["session_id"] as String?).flatMap(SessionID.init(text:)))
            }
        }
    }

    private static func announcementLocation(_ key: String) -> String { "open_announcements.content.\(key)" }
}

/// Recovery after a process was killed.
enum CrashRecovery {
    /// `is_leased` distinguishes a lease from a scheduled retry: both have a due time in the future.
    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("crash-recovery") { db in
            try db.execute(
                sql: """
                    CREATE TABLE open_announcements (
                        key TEXT PRIMARY KEY NOT NULL, content BLOB NOT NULL, user_id TEXT REFERENCES users ON DELETE CASCADE,
                        session_id TEXT REFERENCES sessions ON DELETE CASCADE) WITHOUT ROWID;
                    CREATE INDEX open_announcements_of_user ON open_announcements (user_id);
                    CREATE INDEX open_announcements_of_session ON open_announcements (session_id);
                    ALTER TABLE jobs ADD COLUMN is_leased INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE webhook_lanes ADD COLUMN is_leased INTEGER NOT NULL DEFAULT 0;
                    """)
        }
    }

    /// Releases all leases: the directory lock is held, so the processes that took them are dead. Attempts stay counted.
    static func releaseLeases(in db: Database) throws {
        try db.execute(
            sql: """
                UPDATE jobs SET due_at = 0, is_leased = 0 WHERE is_leased = 1;
                UPDATE webhook_lanes SET due_at = 0, is_leased = 0 WHERE is_leased = 1;
                """)
    }
}
