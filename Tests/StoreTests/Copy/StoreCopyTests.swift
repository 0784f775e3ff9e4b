import Foundation
import Glibc
import Identity
import TestStore
import Testing

@testable import Store

/// Copies of whole stores between engines.
@Suite(.enabled(if: PostgresServer.isInstalled), .timeLimit(.minutes(3))) struct StoreCopyTests {
    private let world = CopyWorld()

    @Test func everyRowSurvivesTheWayToPostgreSQLAndBack() async throws {
        let (first, user, session) = try await world.makeStore(.sqlite)
        let rows = try world.rows(in: first)
        for (table, rows) in rows { #expect(!rows.isEmpty, "\(table) has a row in this story") }
        var places = [first]
        // Also from PostgreSQL to PostgreSQL, and from a file to a file.
        for engine in [CopyWorld.Engine.postgres, .postgres, .sqlite, .sqlite] {
            let place = try world.place(engine)
            let report = try world.copy(places[places.count - 1], to: place)
            #expect(report.tables == rows.mapValues(\.count) && report.recordings == 1)
            #expect(report.verified == StoreReport(users: 2, sessions: 1, turns: 300, summaries: 1, webhooks: 1))
            #expect(try world.rows(in: place) == rows)
            places.append(place)
        }
        for place in places {
            let store = try world.open(place)
            #expect(try await store.verify() == StoreReport(users: 2, sessions: 1, turns: 300, summaries: 1, webhooks: 1))
            let record = try await store.sessions.record(of: session.id, of: user.id)
            #expect(record.session.id == session.id && record.turns.map(\.text) == (0..<300).map { "Number \($0), höre." })
            #expect(try await store.accounts.user(email: "ann@example.org", password: StoreWorld.password)?.id == user.id)
            try store.close()
        }
    }

    @Test func newNumbersAreHigherThanThoseOfDeletedRows() async throws {
        let (first, user, _) = try await world.makeStore(.sqlite)
        let second = try world.place(.postgres)
        try world.copy(first, to: second)
        let third = try world.place(.sqlite)
        try world.copy(second, to: third)
        for place in [second, third] {
            let store = try world.open(place)
            _ = try await world.talk(in: store, user, turns: 1)
            try store.close()
            // The second ones were deleted before the copy.
            let numbers = try world.connection(to: place) { db in
                try [("jobs", "id"), ("webhooks", "number")].map { table, column in
                    try db.all("SELECT \(column) FROM \(table) ORDER BY \(column)", []).map { try $0[0] as Int }
                }
            }
            #expect(numbers == [[1, 3], [1, 3]], "\(place.name)")
        }
    }

    @Test func triggersOfTheSourceWorkInTheCopy() async throws {
        let (source, user, session) = try await world.makeStore(.sqlite)
        for engine in CopyWorld.Engine.allCases {
            let place = try world.place(engine)
            try world.copy(source, to: place)
            let store = try world.open(place)
            try await store.sessions.delete(session.id, of: user.id)
            try store.close()
            let names = try world.connection(to: place) { db in
                try db.all("SELECT name FROM unwanted_files ORDER BY name", []).map { try $0[0] as String }
            }
            #expect(names == ["a.ogg", "b.ogg"])
        }
    }

    // MARK: Refusals

    @Test(arguments: CopyWorld.Engine.allCases) func aDestinationWithAStoreIsRefused(engine: CopyWorld.Engine) async throws {
        let source = try await world.makeStore(.sqlite).location
        let place = try world.place(engine)
        try world.open(place).close()
        let before = try world.rows(in: place)
        let error = #expect(throws: StoreError.self) { try world.copy(source, to: place) }
        guard case .refused(let reason) = error else { return _ = Issue.record("not refused but \(error as Any)") }
        #expect(reason.hasPrefix("There is a store in \(place.name) already"))
        #expect(try world.rows(in: place) == before)
    }

    /// SQLite would apply it to the copy.
    @Test func aDirectoryWithTheLogOfAnotherStoreIsRefused() async throws {
        let source = try await world.makeStore(.sqlite).location
        let place = try world.place(.sqlite)
        try FileManager.default.createDirectory(atPath: place.name, withIntermediateDirectories: true)
        try Data("log".utf8).write(to: URL(filePath: place.name + "/patchbay.sqlite-wal"))
        #expect(throws: StoreError.self) { try world.copy(source, to: place) }
        #expect(!FileManager.default.fileExists(atPath: place.name + "/patchbay.sqlite"))
    }

    @Test func aStoreCannotBeCopiedWhileItsGatewayRuns() async throws {
        let (source, _, _) = try await world.makeStore(.sqlite)
        let owner = try world.open(source)
        let place = try world.place(.postgres)
        #expect(throws: StoreError.alreadyOpen(store: source.name, owner: "process \(getpid())")) { try world.copy(source, to: place) }
        try owner.close()
        #expect(throws: StoreError.alreadyOpen(store: source.name, owner: "process \(getpid())"), "nor can a gateway start during a copy") {
            try world.copy(source, to: place) { _ in try world.open(source).close() }
        }
        try world.copy(source, to: place)
    }

    @Test func aDatabaseCannotBeCopiedWhileItsGatewayRuns() async throws {
        let (source, _, _) = try await world.makeStore(.postgres)
        guard case .database(var settings) = source else { return _ = Issue.record("another engine") }
        settings.ownerTimeout = .milliseconds(100)
        let owner = try world.open(source)
        let place = try world.place(.sqlite)
        let error = #expect(throws: StoreError.self) { try world.copy(.database(settings), to: place) }
        guard case .alreadyOpen(settings.name, let process?) = error else { return _ = Issue.record("not refused, but \(error as Any)") }
        #expect(process.hasPrefix("process \(getpid())") && !FileManager.default.fileExists(atPath: place.name))
        try owner.close()
        let refused = #expect(throws: StoreError.self, "nor can a gateway start during a copy") {
            try world.copy(source, to: place) { _ in try world.open(.database(settings)).close() }
        }
        #expect(refused == error)
        try world.copy(source, to: place)
    }

    @Test(arguments: CopyWorld.Engine.allCases) func anotherMasterKeyCopiesNothing(engine: CopyWorld.Engine) async throws {
        let source = try await world.makeStore(engine).location
        let place = try world.place(.sqlite)
        #expect(throws: StoreError.wrongMasterKey(neededID: world.masterKey.id)) { try world.copy(source, to: place, keys: [MasterKey()]) }
        #expect(!FileManager.default.fileExists(atPath: place.name))
    }

    @Test func aDamagedStoreIsCopiedOnlyUnverified() async throws {
        let source = try await world.makeStore(.sqlite).location
        try world.connection(to: source) { db in _ = try db.execute("UPDATE turns SET text = ? WHERE position = 7", [Data([0])]) }
        let place = try world.place(.postgres)
        #expect(try world.copy(source, to: place).verified?.problems.count == 1)
        #expect(throws: StoreError.self) { try world.open(place, access: .beside) }
        #expect(try world.copy(source, to: place, isVerified: false).verified == nil)
        let copy = try world.open(place)
        #expect(try await copy.verify().problems.count == 1)
        try copy.close()
    }

    @Test func aValueOfAnotherTypeIsNamed() async throws {
        let source = try await world.makeStore(.sqlite).location
        try world.connection(to: source) { db in _ = try db.execute("UPDATE turns SET text = 7 WHERE position = 7", []) }
        for engine in CopyWorld.Engine.allCases {
            let place = try world.place(engine)
            #expect(throws: StoreError.damaged(location: "turns.text")) { try world.copy(source, to: place, isVerified: false) }
            #expect(throws: StoreError.self) { try world.open(place, access: .beside) }
        }
    }

    // MARK: Interruptions

    @Test(arguments: CopyWorld.Engine.allCases, [true, false])
    func anInterruptedCopyLeavesNoStore(engine: CopyWorld.Engine, isComplete: Bool) async throws {
        let source = try await world.makeStore(.sqlite).location
        let place = try world.place(engine)
        #expect(throws: StoreError.cancelled) {
            try world.copy(source, to: place) { progress in
                switch progress {
                case .copying("turns", _, _) where !isComplete: throw CancellationError()
                case .verifyingCopy: throw CancellationError()
                default: break
                }
            }
        }
        let error = #expect(throws: StoreError.self) { try world.open(place, access: .beside) }
        guard case .missing = error else { return _ = Issue.record("not missing but \(error as Any)") }
        // Another attempt finds nothing in its way, not even what a killed one has left.
        if case .directory(let path) = place {
            try Data("half of a copy".utf8).write(to: URL(filePath: path + "/patchbay.sqlite.unfinished"))
        }
        try world.copy(source, to: place)
        #expect(try world.rows(in: place) == world.rows(in: source))
    }

    // MARK: Schemas

    @Test func theCatalogueIsThatOfPostgreSQL() throws {
        let place = try world.place(.postgres)
        try world.open(place).close()
        let found = try world.connection(to: place) { db in
            try db.all(
                """
                SELECT table_name::text || '.' || column_name::text || ' ' || data_type::text || is_identity::text
                FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT IN ('schema_steps', 'nodes')
                """, []
            ).map { try $0[0] as String }
        }
        let tables = try Catalogue().tables
        let names: [SQLType: String] = [.integer: "bigint", .text: "text", .blob: "bytea", .real: "double precision"]
        let expected = tables.flatMap { table in
            table.columns.map { "\(table.name).\($0.name) \(names[$0.type] ?? "")\($0.name == table.identity ? "YES" : "NO")" }
        }
        #expect(Set(found) == Set(expected) && found.count == expected.count)
    }

    @Test func tablesOfNewMigrationsAreCopiedAfterThoseTheyReferTo() throws {
        let step = Schema.Step(
            "new",
            """
            CREATE TABLE a_new_one (id TEXT PRIMARY KEY NOT NULL, other TEXT REFERENCES another) WITHOUT ROWID;
            CREATE TABLE another (user_id TEXT REFERENCES users, at INTEGER, PRIMARY KEY (user_id, at DESC)) WITHOUT ROWID;
            """)
        let tables = try Catalogue(steps: Schema.steps + [step]).tables
        let names = tables.map(\.name)
        let order = try ["users", "another", "a_new_one"].map { try #require(names.firstIndex(of: $0)) }
        #expect(order == order.sorted())
        #expect(tables[order[1]].selection == #"SELECT "user_id", "at" FROM another ORDER BY "user_id", "at" DESC"#)
    }

    @Test(arguments: CopyWorld.Engine.allCases) func aStoreOfAnEarlierVersionIsMigratedFirst(engine: CopyWorld.Engine) async throws {
        let (source, _, _) = try await world.makeStore(engine)
        let steps = engine == .sqlite ? "grdb_migrations WHERE identifier" : "schema_steps WHERE name"
        try world.connection(to: source) { db in
            _ = try db.execute("ALTER TABLE turns DROP COLUMN audio", [])
            _ = try db.execute("DELETE FROM \(steps) = 'turn-audio'", [])
        }
        let place = try world.place(.sqlite)
        let error = #expect(throws: StoreError.self) { try world.copy(source, to: place) }
        #expect("\(error as Any)".contains("patchbay store migrate"), "\(error as Any)")

        let keys = [world.masterKey]
        #expect(throws: StoreError.wrongMasterKey(neededID: keys[0].id)) { try Store.migrate(source, masterKeys: [MasterKey()]) }
        let planned = try Store.migrate(source, masterKeys: keys, isDryRun: true)
        #expect(planned.pending.map(\.name) == ["turn-audio"] && planned.done.count == Schema.steps.count - 1)
        #expect(try Store.migrate(source, masterKeys: keys) == planned, "the dry run has changed nothing")
        #expect(try Store.migrate(source, masterKeys: keys).pending == [])
        #expect(try world.copy(source, to: place).verified?.turns == 300)
    }

    @Test(arguments: CopyWorld.Engine.allCases) func onlyStoresAreMigrated(engine: CopyWorld.Engine) throws {
        let place = try world.place(engine)
        let error = #expect(throws: StoreError.self) { try Store.migrate(place, masterKeys: [world.masterKey]) }
        guard case .missing = error else { return _ = Issue.record("not missing but \(error as Any)") }
    }
}
