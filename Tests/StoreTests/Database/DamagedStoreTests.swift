import Foundation
import GRDB
import Identity
import Store
import Testing

/// A damaged store says so, names what is damaged, and ends no process.
@Suite(.onlyOnSQLite) struct DamagedStoreTests {
    private let world: StoreWorld
    private let (user, session): (User, Session)

    init() async throws {
        world = try StoreWorld()
        user = try await world.makeUser()
        session = try await world.talk(user, ["hello", "goodbye"])
        try await world.store.sessions.saveSummary(StoreWorld.content, for: session.id, of: user.id, at: world.now)
    }

    private func reopened() throws -> Store {
        try Store(directory: world.directory, masterKeys: [world.masterKey], passwordCost: StoreWorld.quickCost)
    }

    private func isDamaged(_ error: any Error) -> Bool { if case StoreError.damaged = error { true } else { false } }

    /// A number where a blob belongs, as after a fault of the disk.
    @Test(arguments: ["users.profile", "sessions.about", "turns.text", "summaries.title"])
    func valuesOfAnotherTypeAreReported(_ column: String) async throws {
        let parts = column.split(separator: ".")
        try world.sqliteThief { db in try db.execute(sql: "UPDATE \(parts[0]) SET \(parts[1]) = 7") }
        let problems = try await world.store.verify().problems
        #expect(!problems.isEmpty && problems.allSatisfy { $0.contains("Cannot be read") }, "\(problems)")
        await #expect {
            _ = try await world.store.sessions.record(of: session.id, of: user.id)
            _ = try await world.store.accounts.user(user.id)
        } throws: { isDamaged($0) }
    }

    @Test func whatSQLiteCannotReadIsReportedAndTheRestIsRead() async throws {
        let page = try #require(
            try world.sqliteThief { db in try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'turns'") })
        // Nothing of the page is in the log.
        try await world.store.compact()
        try world.store.close()
        let file = try FileHandle(forUpdating: URL(filePath: world.directory + "/patchbay.sqlite"))
        try file.seek(toOffset: UInt64((page - 1) * 4_096))
        try file.write(contentsOf: Data(repeating: 0xFF, count: 4_096))
        try file.close()
        let store = try reopened()
        let report = try await store.verify()
        #expect(report.users == 1 && report.sessions == 1 && report.summaries == 1)
        #expect(report.problems.contains("Cannot be read to the end: turns of session \(session.id)."), "\(report.problems)")
        await #expect { try await store.sessions.record(of: session.id, of: user.id) } throws: { isDamaged($0) }
        try store.close()
    }

    @Test func openingNamesTheStoreAndTheRemedy() async throws {
        try world.store.close()
        try world.sqliteThief { db in try db.execute(sql: "UPDATE store_keys SET sealed = 7") }
        let path = world.directory + "/patchbay.sqlite"
        for _ in 1...2 {
            let error = #expect(throws: StoreError.self) { try reopened() }
            let text = "\(error as Any)"
            #expect(error.map { isDamaged($0) } == true && text.contains(path) && text.contains("patchbay store verify"), "\(text)")
            try Data(repeating: 0xFF, count: 8_192).write(to: URL(filePath: path))
        }
    }
}
