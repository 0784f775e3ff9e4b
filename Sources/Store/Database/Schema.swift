/// The database schema, in SQLite's dialect. User text and names are stored only in encrypted BLOB columns; other columns hold numbers,
/// random identifiers, fixed words, and the operator's names of assistants and machines.
enum Schema {
    /// A migration.
    struct Step: Sendable {
        let name: String
        let sql: String
        /// Whether builds without this step may still use a store with it (CONTRIBUTING.md, "A table"). Only PostgreSQL
        /// stores are used by several builds at once.
        let isExpansion: Bool

        init(_ name: String, _ sql: String, isExpansion: Bool = false) {
            self.name = name
            self.sql = sql
            self.isExpansion = isExpansion
        }
    }

    /// All migrations, in their order. The keys of the store are made after the first.
    static let steps = [
        Step("1", users + sessions + work), Step("2", lists), Step("3", revisions), Step("crash-recovery", crashRecovery),
        Step("assistants", assistants), Step("speech", speech), Step("start-content", startContent),
        Step("summary-status-none", summaryStatusNone), Step("request-ids", requestIDs), Step("account-codes", accountCodes),
        Step("contacts", contacts), Step("push-devices", pushDevices), Step("conversations", conversations),
        Step("conversation-event-authors", conversationEventAuthors), Step("conversation-inviters", conversationInviters),
        Step("own-clips", ownClips), Step("clip-times", clipTimes), Step("summary-pushes", summaryPushes), Step("consents", consents),
        Step("turn-audio", turnAudio), Step("nodes", nodes),
        Step("room-epochs", roomEpochs, isExpansion: true), Step("recording-nodes", recordingNodes, isExpansion: true),
    ]

    /// `lookup` is a keyed hash of the e-mail or of the external issuer's subject. A user without a row in `user_keys` is being deleted and
    /// can no longer be decrypted.
    private static let users = """
        CREATE TABLE store_keys (name TEXT PRIMARY KEY NOT NULL, master_key TEXT NOT NULL, sealed BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE users (
            id TEXT PRIMARY KEY NOT NULL, lookup BLOB NOT NULL UNIQUE, created_at INTEGER NOT NULL, profile BLOB NOT NULL, password BLOB,
            logging_enabled INTEGER NOT NULL, retention_days INTEGER NOT NULL CHECK (retention_days BETWEEN 7 AND 365),
            has_seen_onboarding INTEGER NOT NULL, shares_past_summaries INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE user_keys (
            user_id TEXT PRIMARY KEY NOT NULL REFERENCES users ON DELETE CASCADE, master_key TEXT NOT NULL, sealed BLOB NOT NULL
            ) WITHOUT ROWID;
        CREATE TABLE refresh_families (
            id BLOB PRIMARY KEY NOT NULL, user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE, secret BLOB NOT NULL,
            renewed_at INTEGER NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX refresh_families_of_user ON refresh_families (user_id, renewed_at);
        CREATE INDEX refresh_families_expiring ON refresh_families (expires_at);
        """

    /// Turns are clustered by session, so that reading and deleting a session touches few pages. Deleting a recording's row keeps its file
    /// name in `unwanted_files` until the file is deleted.
    private static let sessions = """
        CREATE TABLE sessions (
            id TEXT PRIMARY KEY NOT NULL, user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE, about BLOB NOT NULL,
            started_at INTEGER NOT NULL, ended_at INTEGER, is_logged INTEGER NOT NULL, summary_status TEXT NOT NULL,
            turn_count INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
        CREATE INDEX sessions_of_user ON sessions (user_id, started_at DESC, id DESC);
        CREATE INDEX sessions_open ON sessions (started_at) WHERE ended_at IS NULL;
        CREATE INDEX sessions_ended ON sessions (ended_at) WHERE ended_at IS NOT NULL;
        CREATE TABLE session_starts (
            user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE, key BLOB NOT NULL,
            session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE, started_at INTEGER NOT NULL, PRIMARY KEY (user_id, key)
            ) WITHOUT ROWID;
        CREATE INDEX session_starts_of_session ON session_starts (session_id);
        CREATE INDEX session_starts_by_time ON session_starts (started_at);
        CREATE TABLE turns (
            session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE, id TEXT NOT NULL, position INTEGER NOT NULL,
            timestamp INTEGER NOT NULL, speaker TEXT NOT NULL, text BLOB NOT NULL, audio_ref TEXT, duration_ms INTEGER,
            PRIMARY KEY (session_id, id)) WITHOUT ROWID;
        CREATE TABLE summaries (
            session_id TEXT PRIMARY KEY NOT NULL REFERENCES sessions ON DELETE CASCADE, id TEXT NOT NULL, created_at INTEGER NOT NULL,
            title BLOB NOT NULL, summary_text BLOB NOT NULL, action_items BLOB NOT NULL, tags BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE recordings (
            name TEXT PRIMARY KEY NOT NULL, session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE) WITHOUT ROWID;
        CREATE INDEX recordings_of_session ON recordings (session_id);
        CREATE TABLE unwanted_files (name TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID;
        CREATE TRIGGER recording_deleted AFTER DELETE ON recordings BEGIN
            INSERT INTO unwanted_files VALUES (OLD.name) ON CONFLICT DO NOTHING;
        END;
        """

    /// Summaries are clustered in list order and the list's index is covering, so that a page of the list reads about a dozen pages.
    /// Encrypted values need no change: their location names the session.
    private static let lists = """
        DROP INDEX sessions_of_user;
        CREATE INDEX sessions_listed ON sessions (user_id, started_at DESC, id DESC, ended_at);
        CREATE TABLE summaries_listed (
            user_id TEXT NOT NULL, started_at INTEGER NOT NULL, session_id TEXT UNIQUE NOT NULL REFERENCES sessions ON DELETE CASCADE,
            id TEXT NOT NULL, created_at INTEGER NOT NULL, title BLOB NOT NULL, summary_text BLOB NOT NULL, action_items BLOB NOT NULL,
            tags BLOB NOT NULL, PRIMARY KEY (user_id, started_at DESC, session_id DESC)) WITHOUT ROWID;
        INSERT INTO summaries_listed
            SELECT s.user_id, s.started_at, s.id, m.id, m.created_at, m.title, m.summary_text, m.action_items, m.tags
            FROM summaries m JOIN sessions s ON s.id = m.session_id ORDER BY s.user_id, s.started_at DESC, s.id DESC;
        DROP TABLE summaries;
        ALTER TABLE summaries_listed RENAME TO summaries;
        """

    /// Turns are replaced by later revisions of their transcript segment; summaries may wait for a model.
    private static let revisions = """
        ALTER TABLE turns ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE summaries ADD COLUMN is_provisional INTEGER NOT NULL DEFAULT 0;
        """

    /// A lane is the ordered queue of one room's webhooks for one endpoint. It has one row while it is not empty; `webhook_lanes.endpoint`
    /// is a keyed hash.
    private static let work = """
        CREATE TABLE jobs (
            id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, subject TEXT NOT NULL,
            user_id TEXT REFERENCES users ON DELETE CASCADE, session_id TEXT REFERENCES sessions ON DELETE CASCADE,
            due_at INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, failed_at INTEGER, reason BLOB, UNIQUE (kind, subject));
        CREATE INDEX jobs_due ON jobs (kind, due_at) WHERE failed_at IS NULL;
        CREATE INDEX jobs_of_user ON jobs (user_id);
        CREATE INDEX jobs_of_session ON jobs (session_id);
        CREATE TABLE webhooks (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, lane BLOB NOT NULL, event TEXT NOT NULL, endpoint BLOB NOT NULL,
            room BLOB NOT NULL, body BLOB NOT NULL, user_id TEXT REFERENCES users ON DELETE CASCADE,
            session_id TEXT REFERENCES sessions ON DELETE CASCADE, told_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0, closed_at INTEGER, status TEXT NOT NULL, reason BLOB,
            UNIQUE (id, lane));
        CREATE INDEX webhooks_waiting ON webhooks (lane, number) WHERE closed_at IS NULL;
        CREATE INDEX webhooks_closed ON webhooks (closed_at) WHERE closed_at IS NOT NULL;
        CREATE INDEX webhooks_of_user ON webhooks (user_id);
        CREATE INDEX webhooks_of_session ON webhooks (session_id);
        CREATE INDEX webhooks_expiring ON webhooks (expires_at) WHERE closed_at IS NULL;
        CREATE TABLE webhook_lanes (lane BLOB PRIMARY KEY NOT NULL, endpoint BLOB NOT NULL, due_at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX webhook_lanes_due ON webhook_lanes (endpoint, due_at);
        """

    /// `is_leased` is no longer used; see `nodes`.
    private static let crashRecovery = """
        CREATE TABLE open_announcements (
            key TEXT PRIMARY KEY NOT NULL, content BLOB NOT NULL, user_id TEXT REFERENCES users ON DELETE CASCADE,
            session_id TEXT REFERENCES sessions ON DELETE CASCADE) WITHOUT ROWID;
        CREATE INDEX open_announcements_of_user ON open_announcements (user_id);
        CREATE INDEX open_announcements_of_session ON open_announcements (session_id);
        ALTER TABLE jobs ADD COLUMN is_leased INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE webhook_lanes ADD COLUMN is_leased INTEGER NOT NULL DEFAULT 0;
        """

    private static let assistants = """
        CREATE TABLE assistants (id TEXT PRIMARY KEY NOT NULL, definition BLOB NOT NULL, updated_at INTEGER NOT NULL) WITHOUT ROWID;
        """

    /// A clip is deleted with the last user who requested it, unless a service did too (`is_shared`). Audio has a table of its own, so that
    /// reading clips skips it.
    private static let speech = """
        CREATE TABLE speech_clips (
            id TEXT PRIMARY KEY NOT NULL, lookup BLOB NOT NULL UNIQUE, status TEXT NOT NULL, is_shared INTEGER NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0, request BLOB NOT NULL, about BLOB, failure BLOB, byte_count INTEGER NOT NULL DEFAULT 0,
            used_at INTEGER NOT NULL);
        CREATE INDEX speech_clips_by_use ON speech_clips (used_at, id);
        CREATE INDEX speech_clips_queued ON speech_clips (used_at) WHERE status = 'queued';
        CREATE TABLE speech_audio (
            clip_id TEXT PRIMARY KEY NOT NULL REFERENCES speech_clips ON DELETE CASCADE, sealed BLOB NOT NULL);
        CREATE TABLE speech_requests (
            user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE, clip_id TEXT NOT NULL REFERENCES speech_clips ON DELETE CASCADE,
            requested_at INTEGER NOT NULL, PRIMARY KEY (user_id, clip_id)) WITHOUT ROWID;
        CREATE INDEX speech_requests_of_clip ON speech_requests (clip_id);
        CREATE TRIGGER speech_request_deleted AFTER DELETE ON speech_requests BEGIN
            DELETE FROM speech_clips WHERE id = OLD.clip_id AND is_shared = 0
            AND NOT EXISTS (SELECT 1 FROM speech_requests WHERE clip_id = OLD.clip_id);
        END;
        """

    /// Since then a clip of a user has a `lookup` of its own, so that no answer depends on what others have requested. `content` is a keyed
    /// hash of the text and how it is spoken. Clips that users share from before are no longer found by a lookup; those who requested them
    /// still see them.
    private static let ownClips = """
        ALTER TABLE speech_clips ADD COLUMN content BLOB;
        UPDATE speech_clips SET content = lookup;
        UPDATE speech_clips SET lookup = randomblob(32) WHERE is_shared = 0;
        CREATE INDEX speech_clips_by_content ON speech_clips (content) WHERE status = 'ready';
        """

    /// `code` is a keyed hash. `account_requests` is written for every request, so that an unknown address takes as long as a known one.
    /// Webhooks with secrets (`is_transient`) are deleted when they are closed.
    private static let accountCodes = """
        CREATE TABLE account_codes (
            user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE, purpose TEXT NOT NULL, code BLOB NOT NULL, made_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL, failures INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (user_id, purpose)) WITHOUT ROWID;
        CREATE INDEX account_codes_expiring ON account_codes (expires_at);
        CREATE TABLE account_requests (count INTEGER NOT NULL);
        INSERT INTO account_requests VALUES (0);
        ALTER TABLE users ADD COLUMN email_confirmed_at INTEGER;
        ALTER TABLE users ADD COLUMN token_generation INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE webhooks ADD COLUMN is_transient INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX webhooks_transient ON webhooks (closed_at) WHERE is_transient = 1;
        """

    /// `users.handle` and `contacts.lookup` are keyed hashes. `calls` is clustered in the order of its list.
    private static let contacts = """
        ALTER TABLE users ADD COLUMN handle BLOB;
        ALTER TABLE users ADD COLUMN reachable_by TEXT NOT NULL DEFAULT 'contacts';
        CREATE UNIQUE INDEX users_by_handle ON users (handle) WHERE handle IS NOT NULL;
        CREATE TABLE contacts (
            user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE, lookup BLOB NOT NULL, position INTEGER NOT NULL,
            entry BLOB NOT NULL, PRIMARY KEY (user_id, lookup)) WITHOUT ROWID;
        CREATE INDEX contacts_listed ON contacts (user_id, position);
        CREATE TABLE calls (
            user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE, ended_at INTEGER NOT NULL, id TEXT NOT NULL, about BLOB NOT NULL,
            PRIMARY KEY (user_id, ended_at DESC, id DESC)) WITHOUT ROWID;
        CREATE INDEX calls_ended ON calls (ended_at);
        """

    /// `lookup` is a keyed hash of the token, which belongs to one user.
    private static let pushDevices = """
        CREATE TABLE push_devices (
            id TEXT PRIMARY KEY NOT NULL, user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE, lookup BLOB NOT NULL UNIQUE,
            platform TEXT NOT NULL, token BLOB NOT NULL, registered_at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX push_devices_of_user ON push_devices (user_id, registered_at DESC, id);
        """

    private static let summaryPushes = """
        ALTER TABLE push_devices ADD COLUMN alert_token BLOB;
        ALTER TABLE users ADD COLUMN pushes_summaries INTEGER NOT NULL DEFAULT 1;
        """

    /// A conversation is deleted with its last member.
    private static let conversations = """
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
    private static let conversationEventAuthors = """
        CREATE INDEX conversation_events_by_author ON conversation_events (conversation_id, user_id, number);
        """

    /// Null for members that have joined.
    private static let conversationInviters = """
        ALTER TABLE conversation_members ADD COLUMN inviter TEXT REFERENCES users ON DELETE SET NULL;
        CREATE INDEX conversation_members_by_inviter ON conversation_members (inviter) WHERE inviter IS NOT NULL;
        """

    /// Logging now requires an answer. A user who had switched it on has given one.
    private static let consents = "UPDATE users SET has_seen_onboarding = 1 WHERE logging_enabled = 1;"

    /// A column for encrypted names, because clients choose them. `audio_ref` has the names of earlier recordings.
    private static let turnAudio = "ALTER TABLE turns ADD COLUMN audio BLOB;"

    /// `node` distinguishes a lease from a scheduled retry: both have a due time in the future. Existing leases are released.
    private static let nodes = """
        CREATE TABLE nodes (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, process TEXT NOT NULL, beat INTEGER NOT NULL);
        ALTER TABLE jobs ADD COLUMN node TEXT;
        ALTER TABLE webhook_lanes ADD COLUMN node TEXT;
        UPDATE jobs SET due_at = 0, is_leased = 0 WHERE is_leased = 1;
        UPDATE webhook_lanes SET due_at = 0, is_leased = 0 WHERE is_leased = 1;
        """

    /// `room` is a keyed hash. `epoch` has 16 bytes, the number and the claim, which both engines compare as they are ordered.
    /// `open_announcements.node` is the node of a cluster at which a room or call is open.
    private static let roomEpochs = """
        CREATE TABLE room_epochs (room BLOB PRIMARY KEY NOT NULL, epoch BLOB NOT NULL, written_at INTEGER NOT NULL) WITHOUT ROWID;
        ALTER TABLE open_announcements ADD COLUMN node TEXT;
        """

    /// `node` is the configured name of the node of a cluster that holds the file; empty without a cluster. The new trigger does the same as
    /// the old one, so that the previous build, which writes no node and ignores it, goes on.
    private static let recordingNodes = """
        DROP TRIGGER recording_deleted;
        ALTER TABLE recordings ADD COLUMN node TEXT NOT NULL DEFAULT '';
        ALTER TABLE unwanted_files ADD COLUMN node TEXT NOT NULL DEFAULT '';
        CREATE INDEX unwanted_files_of_node ON unwanted_files (node);
        CREATE TRIGGER recording_deleted AFTER DELETE ON recordings BEGIN
            INSERT INTO unwanted_files (name, node) VALUES (OLD.name, OLD.node) ON CONFLICT DO NOTHING;
        END;
        """

    /// A keyed hash of the request that an idempotency key belongs to.
    private static let startContent = "ALTER TABLE session_starts ADD COLUMN content BLOB;"

    /// Sessions that are not logged had the status `pending`, and `failed` after their end.
    private static let summaryStatusNone = "UPDATE sessions SET summary_status = 'none' WHERE is_logged = 0;"

    private static let requestIDs = "ALTER TABLE webhooks ADD COLUMN request BLOB;"

    /// The creation time is 0 for clips of earlier versions.
    private static let clipTimes = "ALTER TABLE speech_clips ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;"
}
