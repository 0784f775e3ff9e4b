import GRDB
import Store
import Testing

@Suite(.onlyOnSQLite) struct SchemaTests {
    /// As tables were before summaries lay in the order of lists.
    private static let backToTheFirst = """
        CREATE TABLE old (
            session_id TEXT PRIMARY KEY NOT NULL REFERENCES sessions ON DELETE CASCADE, id TEXT NOT NULL, created_at INTEGER NOT NULL,
            title BLOB NOT NULL, summary_text BLOB NOT NULL, action_items BLOB NOT NULL, tags BLOB NOT NULL) WITHOUT ROWID;
        INSERT INTO old SELECT session_id, id, created_at, title, summary_text, action_items, tags FROM summaries;
        DROP TABLE summaries;
        ALTER TABLE old RENAME TO summaries;
        DROP INDEX sessions_listed;
        CREATE INDEX sessions_of_user ON sessions (user_id, started_at DESC, id DESC);
        ALTER TABLE turns DROP COLUMN revision;
        ALTER TABLE turns DROP COLUMN audio;
        ALTER TABLE session_starts DROP COLUMN content;
        UPDATE users SET has_seen_onboarding = 0;
        UPDATE sessions SET summary_status = iif(ended_at IS NULL, 'pending', 'failed') WHERE is_logged = 0;
        DROP TABLE open_announcements;
        DROP TABLE room_epochs;
        DROP TABLE assistants;
        DROP TABLE speech_requests;
        DROP TABLE speech_audio;
        DROP TABLE speech_clips;
        ALTER TABLE webhooks DROP COLUMN request;
        DROP TABLE conversation_events;
        DROP TABLE conversation_members;
        DROP TABLE conversations;
        DROP TABLE push_devices;
        DROP TABLE contacts;
        DROP TABLE calls;
        DROP INDEX users_by_handle;
        ALTER TABLE users DROP COLUMN handle;
        ALTER TABLE users DROP COLUMN reachable_by;
        ALTER TABLE users DROP COLUMN pushes_summaries;
        DROP TABLE account_codes;
        DROP TABLE account_requests;
        DROP INDEX webhooks_transient;
        ALTER TABLE webhooks DROP COLUMN is_transient;
        ALTER TABLE users DROP COLUMN email_confirmed_at;
        ALTER TABLE users DROP COLUMN token_generation;
        ALTER TABLE jobs DROP COLUMN is_leased;
        ALTER TABLE webhook_lanes DROP COLUMN is_leased;
        DROP TABLE nodes;
        ALTER TABLE jobs DROP COLUMN node;
        ALTER TABLE webhook_lanes DROP COLUMN node;
        DROP TRIGGER recording_deleted;
        DROP INDEX unwanted_files_of_node;
        ALTER TABLE unwanted_files DROP COLUMN node;
        ALTER TABLE recordings DROP COLUMN node;
        CREATE TRIGGER recording_deleted AFTER DELETE ON recordings BEGIN
            INSERT INTO unwanted_files VALUES (OLD.name) ON CONFLICT DO NOTHING;
        END;
        DELETE FROM grdb_migrations WHERE identifier <> '1';
        """

    @Test func aStoreOfTheFirstVersionIsMigratedCompletely() async throws {
        let world = try StoreWorld()
        let users = [try await world.makeUser(), try await world.makeUser()]
        for index in 0..<6 {
            let session = try await world.talk(users[index % 2], ["hello \(index)", "goodbye"], at: world.now + .seconds(index))
            guard index > 1 else { continue }
            var content = StoreWorld.content
            content.title = "Talk \(index)"
            try await world.store.sessions.saveSummary(content, for: session.id, of: users[index % 2].id, at: world.now)
        }
        let stranger = try await world.makeUser(isLogged: false)
        let unlogged = try await world.talk(stranger, ["psst"])
        let before = try await users.asyncMap { try await world.store.sessions.list(of: $0.id).elements }
        let recording = SessionRecording(name: "a.ogg")
        #expect(try await world.store.sessions.addRecording(recording, to: before[1][0].id, of: users[1].id))
        let record = try await world.store.sessions.record(of: before[1][0].id, of: users[1].id)
        try world.store.close()
        try world.sqliteThief { db in try db.execute(sql: Self.backToTheFirst) }

        let store = try Store(directory: world.directory, masterKeys: [world.masterKey], passwordCost: StoreWorld.quickCost)
        #expect(try await users.asyncMap { try await store.sessions.list(of: $0.id).elements } == before)
        #expect(try await store.sessions.record(of: record.session.id, of: users[1].id) == record)
        #expect(try await store.sessions.session(unlogged.id, of: stranger.id).summaryStatus == .notLogged)
        #expect(try await store.accounts.user(users[0].id).settings.allowsLogging, "a consent stays")
        #expect(try await !store.accounts.user(stranger.id).settings.hasSeenOnboarding)
        #expect(try await store.verify().problems == [])
        try await store.sessions.delete(record.session.id, of: users[1].id)
        #expect(try await store.verify().summaries == 3)
        #expect(try await store.sessions.orphanedFiles(of: "n1") == ["a.ogg"], "any node may hold it")
        try store.close()
    }

    /// The cost of a page depends on its size, not on the size of the store.
    @Test func aListIsReadFromItsIndexWithoutSorting() async throws {
        let world = try StoreWorld()
        let plan = try world.sqliteThief { db in
            try Row.fetchAll(
                db,
                sql: """
                    EXPLAIN QUERY PLAN SELECT s.id, s.started_at, s.ended_at, m.title, m.summary_text FROM sessions s
                    LEFT JOIN summaries m ON m.user_id = s.user_id AND m.started_at = s.started_at AND m.session_id = s.id
                    WHERE s.user_id = 'u' AND (s.started_at, s.id) < (1, 'x') ORDER BY s.started_at DESC, s.id DESC LIMIT 51
                    """
            ).map { $0["detail"] as String }
        }
        #expect(plan.count == 2 && plan[0].contains("COVERING INDEX sessions_listed") && plan[1].contains("PRIMARY KEY"))
    }
}

extension Array {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
