import Foundation
import Glibc
import Identity
import TestStore
import Testing

@testable import Store

/// Several processes that own a store in PostgreSQL.
@Suite(.enabled(if: PostgresServer.isInstalled))
struct PostgresNodeTests {
    private static let webhook = OutgoingWebhook(event: "one", endpoint: "https://a", room: "r1", body: "{}")

    private func lease(in store: Store, at now: WallTime) async throws -> [StoredWebhook] {
        try await store.webhooks.lease(to: "https://a", limit: 10, for: .seconds(3_600), at: now)
    }

    private func leave(_ world: PostgresStoreWorld, _ process: String) throws {
        try world.run("UPDATE nodes SET process = '\(process)'")
    }

    @Test func theLeasesOfANodeThatLeavesAreReleased() async throws {
        let world = try PostgresStoreWorld()
        let other = try world.open()
        try await other.webhooks.enqueue([Self.webhook], at: world.now)
        #expect(try await lease(in: other, at: world.now).count == 1)
        #expect(try await lease(in: world.store, at: world.now).isEmpty)
        try other.close()
        #expect(try await lease(in: world.store, at: world.now).map(\.attempts) == [2], "the attempt stays counted")
        try world.store.close()
    }

    @Test func aNodeThatComesReleasesNoLeaseOfALivingOne() async throws {
        let world = try PostgresStoreWorld()
        try await world.store.webhooks.enqueue([Self.webhook], at: world.now)
        #expect(try await lease(in: world.store, at: world.now).count == 1)
        let other = try world.open()
        #expect(try await lease(in: other, at: world.now).isEmpty)
        try other.close()
        #expect(try await lease(in: world.store, at: world.now).isEmpty)
        try world.store.close()
    }

    @Test func aKilledOwnerIsReplacedAtOnce() async throws {
        let database = try PostgresServer.shared().makeDatabase()
        let (key, now) = (MasterKey(), StoreWorld.start)
        let keyText = key.text.revealedText
        await #expect(processExitsWith: .signal(SIGKILL)) { [database = database as String, keyText = keyText as String] in
            let key = try #require(MasterKey(text: SecretText(keyText)))
            let store = try Store(postgres: PostgresSettings(target: database), masterKeys: [key])
            try await store.webhooks.enqueue([PostgresNodeTests.webhook], at: StoreWorld.start)
            let leased = try await store.webhooks.lease(to: "https://a", limit: 1, for: .seconds(3_600), at: StoreWorld.start)
            try #require(leased.count == 1)
            kill(getpid(), SIGKILL)
        }
        var settings = PostgresSettings(target: database)
        settings.ownerTimeout = .zero
        let store = try Store(postgres: settings, masterKeys: [key])
        #expect(try await lease(in: store, at: now).map(\.attempts) == [2])
        try store.close()
    }

    @Test func anOwnerIsRefusedWhileAnotherMachineHasOne() throws {
        let world = try PostgresStoreWorld()
        // Nothing is known of a process elsewhere but its beats.
        try leave(world, "gateway-1 4711 elsewhere 1")
        var settings = world.database
        settings.ownerTimeout = .milliseconds(100)
        let error = #expect(throws: StoreError.self) { try world.open(settings, access: .owner) }
        #expect(error == .alreadyOpen(store: settings.name, owner: "process 4711 on gateway-1"))
        #expect(try PostgresConnection(settings).execute("SELECT count(*) FROM nodes").integer(0, 0) == 1, "the refused one has left")
        let beside = try world.open(settings, access: .beside)
        try beside.close()
        try world.store.close()
        try world.open(settings, access: .owner).close()
    }

    /// Two that start together must not wait for each other.
    @Test func theFirstOfTwoOwnersGoesAhead() throws {
        let world = try PostgresStoreWorld()
        let later = try world.open()
        try world.run("INSERT INTO nodes (id, process, beat) VALUES ('\(NodeID())', 'gateway-1 4711 elsewhere 1', 0)")
        var settings = world.database
        settings.ownerTimeout = .zero
        try later.close()
        try world.store.close()
        // The one elsewhere registered before this one.
        #expect(throws: StoreError.self) { try world.open(settings, access: .owner) }
        try world.run("UPDATE nodes SET number = 1000")
        let store = try world.open(settings, access: .owner)
        try store.close()
    }

    /// It stood still for so long that another one has taken its leases.
    @Test func anOutcomeAfterTheLeaseWasTakenIsIgnored() async throws {
        let world = try PostgresStoreWorld()
        try await world.store.webhooks.enqueue([Self.webhook], at: world.now)
        let late = try #require(try await lease(in: world.store, at: world.now).first)
        let pool = PostgresPool(world.database, size: 1)
        let id = world.store.database.node
        try await pool.run { db in try Nodes.remove(id, lastBeat: 1_000, in: db) }
        #expect(try await lease(in: world.store, at: world.now).isEmpty, "a node that has beaten since is left alone")
        try await pool.run { db in
            let beat = try #require(try Nodes.list(in: db).first).beat
            try Nodes.remove(id, lastBeat: beat, in: db)
        }
        let other = try world.open()
        let taken = try #require(try await lease(in: other, at: world.now).first)
        #expect(try await !world.store.webhooks.delivered(late, at: world.now))
        #expect(try await other.webhooks.delivered(taken, at: world.now))
        pool.close()
        try other.close()
        try world.store.close()
    }
}
