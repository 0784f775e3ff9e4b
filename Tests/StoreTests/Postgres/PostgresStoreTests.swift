import Foundation
import Identity
import Synchronization
import TestStore
import Testing
import Wire

@testable import Store

/// The contents of a store's database, and which databases can be opened as a store.
@Suite(.enabled(if: PostgresServer.isInstalled))
struct PostgresStoreTests {
    /// All words that users, clients and services gave to the store of `talk`.
    private static let words = [
        "zinnober@example.org", "passwort-kobalt", "kontext-ocker", "gesagt-indigo", "antwort-purpur", "titel-umbra", "fassung-magenta",
        "aufgabe-karmin", "marke-sepia", "raum-türkis", "https://empfänger-cyan", "inhalt-lachs", "anfrage-mauve", "gespräch-khaki",
        "nachricht-azur",
    ]

    /// Says every one of `words`.
    private func talk(in world: PostgresStoreWorld) async throws -> (user: User, session: Session) {
        let (store, words) = (world.store, Self.words)
        let user = try await world.makeUser(words[0], password: SecretText(words[1]))
        let session = try await world.startSession(of: user, context: words[2])
        for (number, text) in words[3...4].enumerated() {
            _ = try await store.sessions.append(world.turn("I say \(text).", number: number, in: session), of: user.id)
        }
        _ = try await store.sessions.end(session.id, of: user.id, at: world.now + .seconds(60))
        let summary = SummaryContent(title: words[5], summaryText: words[6], actionItems: [words[7]], tags: [words[8]])
        try await store.sessions.saveSummary(summary, for: session.id, of: user.id, at: world.now)
        let webhook = OutgoingWebhook(
            event: "session_ended", endpoint: words[10], room: words[9], body: words[11], sessionID: session.id, requestID: words[12])
        try await store.webhooks.enqueue([webhook], at: world.now)
        let conversation = try await store.conversations.make(named: words[13], by: user.id, at: world.now)
        _ = try await store.conversations.say(words[14], in: conversation.id, by: user.id, at: world.now)
        return (user, session)
    }

    @Test func nothingThatWasSaidIsInTheServersFilesOrInADump() async throws {
        let world = try PostgresStoreWorld(on: PostgresServer())
        let session = try await talk(in: world).session
        let dump = Data(try world.dump().text.utf8)
        for word in Self.words {
            #expect(try world.files(with: word.utf8) == [], "\(word)")
            // Bytes are in a dump as hexadecimal digits.
            for form in [word, Hex.encode(Array(word.utf8))] { #expect(dump.range(of: Data(form.utf8)) == nil, "\(form)") }
        }
        let files = try world.files(with: session.id.text.utf8)
        #expect(files.contains { $0.hasPrefix("base/") } && files.contains { $0.hasPrefix("pg_wal/") }, "what is not sealed is found")
        #expect(dump.range(of: Data(session.id.text.utf8)) != nil)
        try world.store.close()
    }

    @Test func aRestoredDumpIsTheSameStore() async throws {
        let world = try PostgresStoreWorld()
        let (user, session) = try await talk(in: world)
        let report = try await world.store.verify()
        #expect(report == StoreReport(users: 1, sessions: 1, turns: 2, summaries: 1, webhooks: 1))

        let restored = try world.open(world.restore(world.dump()))
        #expect(try await restored.verify() == report)
        #expect(try await restored.sessions.record(of: session.id, of: user.id) == world.store.sessions.record(of: session.id, of: user.id))
        #expect(try await restored.accounts.user(email: Self.words[0], password: SecretText(Self.words[1]))?.id == user.id)
        // Numbers go on after the largest.
        let webhook = OutgoingWebhook(event: "one", endpoint: "https://a", room: "r1", body: "{}")
        try await restored.webhooks.enqueue([webhook], at: world.now)
        #expect(try await restored.webhooks.list().map(\.webhook.event) == ["one", "session_ended"])
        #expect(try await world.store.webhooks.list().count == 1, "the original is another store")
        try restored.close()
        try world.store.close()
    }

    // MARK: Opening

    @Test func nodesThatOpenAnEmptyDatabaseTogetherShareOneStore() async throws {
        let database = PostgresSettings(target: try PostgresServer.shared().makeDatabase())
        let (key, threads) = (MasterKey(), StoreThreads(count: 4, name: "owners"))
        let stores = try await withThrowingTaskGroup { group in
            for _ in 1...4 {
                group.addTask(executorPreference: threads) {
                    try Store(postgres: database, masterKeys: [key], access: .node, passwordCost: StoreWorld.quickCost)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        threads.end()
        for (index, store) in stores.enumerated() {
            _ = try await store.accounts.createUser(email: "\(index)@example.org", password: StoreWorld.password, at: StoreWorld.start)
        }
        for store in stores {
            for index in stores.indices {
                #expect(try await store.accounts.user(email: "\(index)@example.org").email == "\(index)@example.org")
            }
            #expect(try await store.verify() == StoreReport(users: 4))
        }
        let connection = try PostgresConnection(database)
        #expect(try connection.execute("SELECT count(*) FROM store_keys").integer(0, 0) == 1)
        #expect(try connection.execute("SELECT count(*) FROM schema_steps").integer(0, 0) == Int64(Schema.steps.count))
        for store in stores { try store.close() }
    }

    @Test func aStoreOfANewerVersionIsRefused() async throws {
        let world = try PostgresStoreWorld()
        try world.store.close()
        try world.run("INSERT INTO schema_steps VALUES ('of-a-newer-version')")
        let before = try world.dump().text
        #expect(throws: StoreError.fromTheFuture) { try world.open() }
        #expect(throws: StoreError.fromTheFuture) { try world.open(access: .beside) }
        #expect(try world.dump().text == before)
    }

    @Test func onlyAnOwnerMakesAStore() throws {
        let database = PostgresSettings(target: try PostgresServer.shared().makeDatabase())
        let error = #expect(throws: StoreError.self) { try Store(postgres: database, masterKeys: [MasterKey()], access: .beside) }
        guard case .missing = error else { return _ = Issue.record("not missing but \(error as Any)") }
        let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        #expect(try PostgresConnection(database).execute(tables).integer(0, 0) == 0)
    }

    @Test(arguments: [Store.Access.owner, .beside]) func anotherMasterKeyIsRefusedAndChangesNothing(_ access: Store.Access) async throws {
        let world = try PostgresStoreWorld()
        _ = try await talk(in: world)
        try world.store.close()
        // A store that an owner would update.
        try world.run("ALTER TABLE turns DROP COLUMN audio; DELETE FROM schema_steps WHERE name = 'turn-audio'")
        let before = try world.dump().text
        #expect(throws: StoreError.wrongMasterKey(neededID: world.masterKey.id)) { try world.open(key: MasterKey(), access: access) }
        #expect(try world.dump().text == before)
        let store = try world.open()
        #expect(try await store.verify().isClean)
        try store.close()
    }

    // MARK: Running

    @Test func anEmptiedDatabaseFailsClearlyAndIsNotFilledAgain() async throws {
        let reports = Reports()
        let world = try PostgresStoreWorld(on: PostgresServer())
        let (user, session) = try await talk(in: world)
        let (dump, record) = (try world.dump(), try await world.store.sessions.record(of: session.id, of: user.id))
        try world.store.close()
        // An owner's beats might notice the restart first.
        let store = try Store(
            postgres: world.database, masterKeys: [world.masterKey], access: .beside, passwordCost: StoreWorld.quickCost,
            reporting: { reports.append($0) })
        try world.server.kill()
        try world.server.start()
        try world.server.emptyDatabase(world.name)
        for _ in 1...2 {
            await expectNoStore { _ = try await store.sessions.record(of: session.id, of: user.id) }
            await expectNoStore {
                _ = try await store.sessions.append(world.turn("lost", number: 9, in: session), of: user.id)
            }
            await expectNoStore {
                _ = try await store.accounts.createUser(email: "b@b", password: StoreWorld.password, at: world.now)
            }
        }
        #expect(throws: StoreError.missing(directory: "the database")) { try world.open(access: .beside) }
        let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        #expect(try PostgresConnection(world.database).execute(tables).integer(0, 0) == 0)
        #expect(reports.all == [])

        try world.server.dropDatabase(world.name)
        await #expect(throws: StoreError.unreachable) { try await store.accounts.user(user.id) }
        #expect(reports.all.count == 1 && reports.all.first??.contains("does not exist") == true, "\(reports.all)")

        // The store continues with a backup, without a restart.
        try world.server.run("CREATE DATABASE \(world.name)")
        try dump.restore(to: world.database.target)
        try await StoreError.retryingWhileUnavailable { _ = try await store.accounts.user(user.id) }
        #expect(try await store.sessions.record(of: session.id, of: user.id) == record)
        #expect(reports.all.count == 2 && reports.all.last == .some(nil))
        #expect(try await store.verify().isClean)
        try store.close()
    }

    private func expectNoStore(_ body: () async throws -> Void) async {
        do {
            try await body()
            Issue.record("there is a store")
        } catch {
            let error = StoreError(error)
            #expect(error.operationalName == "failed" && error.description.contains("the database contains no store"), "\(error)")
        }
    }

    private final class Reports: Sendable {
        private let reports = Mutex<[String?]>([])
        var all: [String?] { reports.withLock { $0 } }
        func append(_ report: String?) { reports.withLock { $0.append(report) } }
    }

    @Test func aStatementThatWaitsTooLongForALockEndsAsBusyAndDelaysNoOthers() async throws {
        let world = try PostgresStoreWorld(statementTimeout: .seconds(1))
        let user = try await world.makeUser()
        let session = try await world.startSession(of: user)
        let (other, watch) = (try PostgresConnection(world.database), try PostgresConnection(world.database))
        try other.run("BEGIN; LOCK TABLE turns")
        let turn = world.turn("hello", number: 1, in: session)
        let writing = Task { try await world.store.sessions.append(turn, of: user.id) }
        try until("the write waits for the lock") {
            try watch.execute("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'turns'::regclass").integer(0, 0) == 1
        }
        #expect(try await world.store.accounts.user(user.id).id == user.id)
        _ = try await world.startSession(of: user)
        await #expect(throws: StoreError.busy) { try await writing.value }
        try other.run("COMMIT")
        #expect(try await world.store.sessions.append(turn, of: user.id) == .stored)
        try world.store.close()
    }
}
