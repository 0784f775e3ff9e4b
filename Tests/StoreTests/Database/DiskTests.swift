import Foundation
import GRDB
import Identity
import Store
import Testing

/// The database files must not contain personal data in plain text, neither before nor after a deletion.
@Suite(.onlyOnSQLite) struct DiskTests {
    let world: StoreWorld
    var store: Store { world.store }

    init() throws { world = try StoreWorld() }

    @Test func filesContainNoPlainText() async throws {
        let user = try await world.makeUser("anneliese@example.org")
        _ = try await store.accounts.updateSettings(of: user.id) { $0.voice = "contralto" }
        _ = try await store.accounts.user(issuer: "https://id", subject: "brunhilde", email: "brunhilde@example.net", at: world.now)
        let request = SessionRequest(context: "zeppelin", assistantID: "hieronymus", clientContext: "umbrella", idempotencyKey: "keyhole")
        let session = try await store.sessions.start(request, of: user.id, at: world.now).session
        _ = try await store.sessions.append(world.turn("rhubarb marmalade", in: session), of: user.id)
        let content = SummaryContent(title: "asparagus", summaryText: "broccoli", actionItems: ["cauliflower"], tags: ["dandelion"])
        try await store.sessions.saveSummary(content, for: session.id, of: user.id, at: world.now)
        let webhook = OutgoingWebhook(event: "room_started", endpoint: "https://eggplant", room: "fennel", body: "gooseberry")
        try await store.webhooks.enqueue([webhook], at: world.now)
        for word in [
            "anneliese", "contralto", "brunhilde", "zeppelin", "hieronymus", "umbrella", "keyhole", "rhubarb", "marmalade", "asparagus",
            "broccoli", "cauliflower", "dandelion", "eggplant", "fennel", "gooseberry", "battery staple",
        ] {
            #expect(try world.files(with: word.utf8).isEmpty, "\(word)")
        }
    }

    /// The sealed bytes of a turn, to be searched for in the files.
    func sealed(_ sql: String = "SELECT text FROM turns LIMIT 1") throws -> Data {
        try #require(try world.sqliteThief { db in try Data.fetchOne(db, sql: sql) })
    }

    @Test func storedDataIsRead() async throws {
        try await world.talk(try await world.makeUser(), ["hello"])
        #expect(try !world.files(with: try sealed()).isEmpty)
    }

    @Test func aDeletedUserLeavesNoBytes() async throws {
        let user = try await world.makeUser()
        let session = try await world.talk(user, ["hello"])
        let (turn, key) = (try sealed(), try sealed("SELECT sealed FROM user_keys"))
        try await store.accounts.deleteUser(user.id)
        #expect(try world.files(with: turn).isEmpty)
        #expect(try world.files(with: key).isEmpty)
        #expect(try world.files(with: user.id.text.utf8).isEmpty)
        #expect(try world.files(with: session.id.text.utf8).isEmpty)
    }

    @Test func deletedSessionsLeaveNoBytes() async throws {
        let user = try await world.makeUser()
        for index in 0..<60 { try await world.talk(user, ["hello \(index)"]) }
        let turn = try sealed()
        #expect(try await store.sessions.deleteAll(of: user.id) == 60)
        #expect(try world.files(with: turn).isEmpty)
        #expect(try await store.sessions.list(of: user.id).elements.isEmpty)
    }

    @Test func compactingLeavesNoBytesOfDeletedSessions() async throws {
        let user = try await world.makeUser()
        let session = try await world.talk(user, [String(repeating: "long ", count: 4_000)])
        let turn = try sealed()
        try await store.sessions.delete(session.id, of: user.id)
        try await store.compact()
        for start in stride(from: 0, to: turn.count - 64, by: 1_000) {
            #expect(try world.files(with: turn[(turn.startIndex + start)...].prefix(64)).isEmpty)
        }
        #expect(try world.sqliteThief { db in try Int.fetchOne(db, sql: "PRAGMA freelist_count") } == 0)
    }

    @Test func retentionFollowsTheUsersSettings() async throws {
        let (ann, bob) = (try await world.makeUser(), try await world.makeUser())
        _ = try await store.accounts.updateSettings(of: ann.id) { $0.retentionDays = 7 }
        let week = world.now + .seconds(60 + 7 * 86_400)
        let old = try await world.talk(ann, ["old"])
        let turn = try sealed()
        #expect(try await store.sessions.addRecording(SessionRecording(name: "r1.ogg"), to: old.id, of: ann.id))
        let new = try await world.talk(ann, ["new"], at: world.now + .seconds(86_400))
        try await world.talk(bob, ["bob's"])
        let open = try await world.startSession(of: ann)
        #expect(try await store.expire(at: week) == 0, "a week to the millisecond is not over")
        #expect(try await store.expire(at: week + .milliseconds(1)) == 1)
        #expect(try await store.sessions.list(of: ann.id).elements.map(\.id) == [new.id, open.id])
        #expect(try await store.sessions.list(of: bob.id).elements.count == 1)
        #expect(try world.files(with: turn).isEmpty)
        #expect(try world.files(with: old.id.text.utf8).isEmpty)
        #expect(try await store.sessions.orphanedFiles() == ["r1.ogg"])
        try await store.sessions.removeOrphanedFiles(["r1.ogg"])
        #expect(try await store.sessions.orphanedFiles().isEmpty)
    }

    @Test func orphanedFilesAreListedUntilTheyAreRemoved() async throws {
        let user = try await world.makeUser()
        let session = try await world.talk(user, ["hi"])
        for name in ["a.ogg", "b.ogg"] {
            _ = try await store.sessions.addRecording(SessionRecording(name: name), to: session.id, of: user.id)
        }
        #expect(try await store.sessions.recordings(of: session.id, of: user.id).map(\.name) == ["a.ogg", "b.ogg"])
        try await store.accounts.deleteUser(user.id)
        #expect(try await store.sessions.orphanedFiles() == ["a.ogg", "b.ogg"])
    }

    @Test func webhooksAndIdempotencyKeysExpire() async throws {
        let user = try await world.makeUser()
        let webhook = OutgoingWebhook(event: "room_started", endpoint: "https://a", room: "r", body: "{}")
        try await store.webhooks.enqueue([webhook], at: world.now)
        _ = try await store.sessions.start(SessionRequest(context: "web", idempotencyKey: "k"), of: user.id, at: world.now)
        let leased = try await store.webhooks.lease(to: "https://a", limit: 1, for: .seconds(1), at: world.now)
        try await store.webhooks.delivered(leased[0], at: world.now)
        try await store.expire(at: world.now + StoreLimits.webhooksKept)
        #expect(try await store.webhooks.list().isEmpty)
        #expect(try world.sqliteThief { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM session_starts") } == 0)
    }

    @Test func theLogIsTruncatedDuringContinuousWrites() async throws {
        let user = try await world.makeUser()
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    while !Task.isCancelled { try await world.talk(user, ["and", "on", "it", "goes"]) }
                }
            }
            group.addTask { for _ in 0..<5 { try await store.compact() } }
            // The writers never end by themselves.
            try await group.next()
            group.cancelAll()
            do { try await group.waitForAll() } catch StoreError.cancelled {}
        }
        #expect(try await store.verify().isClean)
    }

    @Test func aLongReadDoesNotDelayDeletions() async throws {
        let user = try await world.makeUser()
        try await world.talk(user, ["hello"])
        var configuration = Configuration()
        configuration.readonly = true
        configuration.allowsUnsafeTransactions = true
        let reader = try DatabaseQueue(path: world.directory + "/patchbay.sqlite", configuration: configuration)
        try reader.inDatabase { db in
            try db.beginTransaction(.deferred)
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM turns")
        }
        try await store.accounts.deleteUser(user.id)
        await #expect(throws: StoreError.notFound) { try await store.accounts.user(user.id) }
        await #expect(throws: StoreError.busy) { try await store.compact() }
        try reader.inDatabase { db in try db.commit() }
        try await store.compact()
    }
}
