import Foundation
import Identity
import Store
import TestStore
import Testing

struct MaintenanceTests {
    let world: StoreWorld
    var store: Store { world.store }

    init() throws { world = try StoreWorld() }

    func fill() async throws -> (user: User, session: Session) {
        let user = try await world.makeUser("ann@example.org")
        let session = try await world.talk(user, ["one", "two", "three"])
        try await store.sessions.saveSummary(StoreWorld.content, for: session.id, of: user.id, at: world.now)
        try await store.webhooks.enqueue([OutgoingWebhook(event: "e", endpoint: "https://a", room: "r", body: "{}")], at: world.now)
        return (user, session)
    }

    @Test func anIntactStoreHasNoProblems() async throws {
        _ = try await fill()
        let report = try await store.verify()
        #expect(report.problems == [] && report.isClean)
        let counts: [Int] = [report.users, report.sessions, report.turns, report.summaries, report.webhooks]
        #expect(counts == [1, 1, 3, 1, 1] as [Int])
    }

    @Test(arguments: [
        "UPDATE turns SET text = (SELECT profile FROM users) WHERE position = 1",
        "UPDATE turns SET text = (SELECT text FROM turns WHERE position = 0) WHERE position = 1",
        "UPDATE summaries SET title = summary_text", "UPDATE summaries SET tags = title",
        "UPDATE sessions SET about = (SELECT profile FROM users)", "UPDATE users SET profile = password",
        "UPDATE user_keys SET sealed = (SELECT sealed FROM store_keys)", "UPDATE webhooks SET body = room",
        "DELETE FROM turns WHERE position = 2", "UPDATE sessions SET is_logged = 0", "DELETE FROM webhook_lanes",
    ])
    func tamperingIsDetected(sql: String) async throws {
        _ = try await fill()
        try world.tamper(sql)
        #expect(try await store.verify().problems.count == 1)
    }

    @Test func aTurnMovedToAnotherUserDoesNotDecrypt() async throws {
        let (_, session) = try await fill()
        let eve = try await world.makeUser()
        try world.tamper("UPDATE sessions SET user_id = ?", eve.id)
        await #expect(throws: StoreError.self) { try await store.sessions.record(of: session.id, of: eve.id) }
    }

    @Test func aWrongMasterKeyIsRefusedAndChangesNothing() async throws {
        let (user, session) = try await fill()
        try store.close()
        let before = try wrapped()
        #expect(throws: StoreError.wrongMasterKey(neededID: world.masterKey.id)) { try world.reopen(keys: [MasterKey()]) }
        #expect(try wrapped() == before)
        let again = try world.reopen(keys: [MasterKey(), world.masterKey])
        #expect(try await again.sessions.record(of: session.id, of: user.id).turns.count == 3)
        try again.close()
    }

    @Test func aStoreHasOneOwnerAtATime() async throws {
        let error = #expect(throws: StoreError.self) { try world.reopen() }
        guard case .alreadyOpen(_, let owner?) = error else { return _ = Issue.record("not refused, but \(error as Any)") }
        #expect(owner.hasPrefix("process \(getpid())"))
        let beside = try world.reopen(access: .beside)
        let user = try await world.makeUser()
        #expect(try await beside.accounts.user(user.id) == user)
        try beside.close()
    }

    @Test(.onlyOnSQLite) func openingAMissingStoreReadOnlyFails() throws {
        let directory = world.directory + "/none"
        #expect(throws: StoreError.missing(directory: directory)) {
            try Store(directory: directory, masterKeys: [world.masterKey], access: .beside)
        }
        #expect(!FileManager.default.fileExists(atPath: directory))
    }

    @Test func aStoreOfANewerVersionIsRefusedUnchanged() throws {
        try world.tamper("INSERT INTO \(StorePlace.isOnSQLite ? "grdb_migrations" : "schema_steps") VALUES ('99')")
        #expect(throws: StoreError.fromTheFuture) { try world.reopen(access: .beside) }
    }

    @Test func rotationReplacesTheMasterKey() async throws {
        let (user, session) = try await fill()
        let (old, new) = (try wrapped(), MasterKey())
        try await store.rotate(to: new)
        let late = try await world.makeUser()
        // What PostgreSQL has written to its log stays there until it is recycled.
        if StorePlace.isOnSQLite { for bytes in old { #expect(try world.files(with: bytes).isEmpty) } }
        try store.close()
        #expect(throws: StoreError.wrongMasterKey(neededID: new.id)) { try world.reopen() }
        let again = try world.reopen(keys: [new])
        #expect(try await again.sessions.record(of: session.id, of: user.id).turns.map(\.text) == ["one", "two", "three"])
        #expect(try await again.accounts.user(late.id) == late)
        #expect(try await again.accounts.user(email: "ann@example.org", password: StoreWorld.password)?.id == user.id)
        #expect(try await again.verify().isClean)
        try again.close()
    }

    func wrapped() throws -> [Data] {
        try world.blobs("SELECT sealed FROM user_keys UNION SELECT sealed FROM store_keys")
    }

    @Test func usersCreatedDuringRotationUseTheNewKey() async throws {
        let new = MasterKey()
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 { group.addTask { _ = try await world.makeUser() } }
            group.addTask { try await store.rotate(to: new) }
            try await group.waitForAll()
        }
        try store.close()
        let again = try world.reopen(keys: [new])
        let report = try await again.verify()
        #expect(report.isClean && report.users == 20)
        try again.close()
    }

    @Test(.onlyOnSQLite) func aBackupDuringWritesOpensLikeTheStore() async throws {
        let (user, session) = try await fill()
        let path = world.directory + "/copy/patchbay.sqlite"
        try FileManager.default.createDirectory(atPath: world.directory + "/copy", withIntermediateDirectories: true)
        async let writing: Void = {
            for index in 0..<50 { try await world.talk(user, ["while \(index)"]) }
        }()
        try await store.backup(to: path)
        try await writing
        let copy = try Store(directory: world.directory + "/copy", masterKeys: [world.masterKey], passwordCost: StoreWorld.quickCost)
        #expect(try await copy.verify().isClean)
        #expect(try await copy.sessions.record(of: session.id, of: user.id).turns.count == 3)
        try copy.close()
        await #expect(throws: StoreError.self) { try await store.backup(to: path) }
    }
}
