import Foundation
import Identity
import TestStore
import Testing

@testable import Store

/// A standby, which cannot be written, beside the server that it follows.
@Suite(.enabled(if: PostgresServer.isInstalled))
struct PostgresStandbyTests {
    private let world: PostgresStoreWorld
    private let standby: PostgresServer

    init() throws {
        world = try PostgresStoreWorld(on: PostgresServer())
        standby = try PostgresServer(standbyOf: world.server)
    }

    /// Both servers, the standby first.
    private var both: PostgresSettings {
        let hosts = [standby, world.server].map { $0.folder.replacing("/", with: "%2F") }
        return PostgresSettings(target: "postgresql://postgres@\(hosts.joined(separator: ","))/\(world.name)")
    }

    @Test(arguments: [Store.Access.owner, .beside]) func aStandbyAloneIsRefusedWithARemedy(_ access: Store.Access) throws {
        let alone = PostgresSettings(target: standby.target(of: world.name))
        let error = #expect(throws: StoreError.self) { try world.open(alone, access: access) }
        let text = error?.description ?? ""
        #expect(text.contains("session is read-only; name the server that accepts writes, or all of them"), "\(text)")
        let found = #expect(throws: StoreError.self) { try Store.condition(postgres: alone, masterKeys: [world.masterKey]) }
        #expect(found == error)
        try world.store.close()
    }

    @Test func aStoreFindsTheServerThatWritesAndFollowsItsDatabaseToAPromotedStandby() async throws {
        let store = try world.open(both)
        let ann = try await store.accounts.createUser(email: "ann@example.org", password: StoreWorld.password, at: world.now)
        #expect(try await world.store.accounts.user(ann.id) == ann)
        try until("the standby has the user") {
            (try? standby.run("DO $$ BEGIN ASSERT (SELECT count(*) FROM users) = 1; END $$", in: world.name)) != nil
        }
        try world.server.kill()
        await #expect(throws: StoreError.unreachable) { try await store.accounts.user(ann.id) }
        try standby.run("SELECT pg_promote()")
        try await StoreError.retryingWhileUnavailable {
            _ = try await store.accounts.createUser(email: "bob@example.org", password: StoreWorld.password, at: world.now)
        }
        #expect(try await store.accounts.user(ann.id) == ann)
        #expect(try await store.verify() == StoreReport(users: 2))
        for store in [store, world.store] { try store.close() }
    }
}
