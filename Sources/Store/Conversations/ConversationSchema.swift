internal import GRDB

/// The tables of conversations. A conversation is deleted with its last member.
enum ConversationSchema {
    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("conversations") { db in try db.execute(sql: tables) }
        migrator.registerMigration("conversation-event-authors") { db in try db.execute(sql: eventAuthors) }
        migrator.registerMigration("conversation-inviters") { db in try db.execute(sql: inviters) }
    }

    private static let tables = """
        CREATE TABLE conversations (
            id TEXT PRIMARY KEY NOT NULL, created_at INTEGER NOT NULL, name BLOB NOT NULL, last_event INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE conversation_members (
            conversation_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
            user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE, state TEXT NOT NULL, since INTEGER NOT NULL,
            position INTEGER NOT NULL, PRIMARY KEY (conversation_id, user_id)) WITHOUT ROWID;
        CREATE INDEX conversations_of_user ON conversation_members (user_id, since DESC, conversation_id DESC);
        CREATE INDEX conversation_members_listed ON conversation_members (conversation_id, position);
        CREATE TABLE conversation_events (
            conversation_id TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE, number INTEGER NOT NULL,
            user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE, kind TEXT NOT NULL, at INTEGER NOT NULL, text BLOB,
            PRIMARY KEY (conversation_id, number)) WITHOUT ROWID;
        CREATE INDEX conversation_events_of_user ON conversation_events (user_id, conversation_id, number);
        CREATE INDEX conversation_events_by_time ON conversation_events (at);
        CREATE TRIGGER conversation_member_deleted AFTER DELETE ON conversation_members BEGIN
            DELETE FROM conversations WHERE id = OLD.conversation_id
            AND NOT EXISTS (SELECT 1 FROM conversation_members WHERE conversation_id = OLD.conversation_id);
        END;

        """

    /// For the number of each author's events.
    private static let eventAuthors = "CREATE INDEX conversation_events_by_author ON conversation_events (conversation_id, user_id, number)"

    /// Null for members that have joined.
    private static let inviters = """
        ALTER TABLE conversation_members ADD COLUMN inviter TEXT REFERENCES users ON DELETE SET NULL;
        CREATE INDEX conversation_members_by_inviter ON conversation_members (inviter) WHERE inviter IS NOT NULL;

        """
}
