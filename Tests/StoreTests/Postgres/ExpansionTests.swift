import Identity
import TestStore
import Testing

@testable import Store

/// Builds of two versions at one database during a rolling upgrade.
@Suite(.enabled(if: PostgresServer.isInstalled)) struct ExpansionTests {
    private let world: PostgresStoreWorld
    private let expansion = Schema.Step("later", "ALTER TABLE turns ADD COLUMN later TEXT;", isExpansion: true)
    private let contraction = Schema.Step("much-later", "ALTER TABLE turns DROP COLUMN later;")

    init() throws {
        world = try PostgresStoreWorld()
        try world.store.close()
    }

    /// Opens the store as a newer build with more migrations would.
    private func upgrade(_ steps: Schema.Step...) throws {
        try PostgresDatabase.open(
            world.database, masterKeys: [world.masterKey], access: .owner, steps: Schema.steps + steps, observing: { _, _, _ in }
        ).close()
    }

    @Test(arguments: [Store.Access.owner, .beside]) func anOlderBuildUsesAStoreWithExpansions(access: Store.Access) async throws {
        try upgrade(expansion)
        let store = try world.open(access: access)
        let user = try await store.accounts.createUser(email: "ann@example.org", password: StoreWorld.password, at: world.now)
        let session = try await store.sessions.start(SessionRequest(context: "phone"), of: user.id, at: world.now).session
        #expect(try await store.sessions.session(session.id, of: user.id).id == session.id)
        #expect(try await store.verify().isClean)
        try store.close()
        #expect(try Store.condition(postgres: world.database, masterKeys: [world.masterKey]).0 == .current)
        #expect(try Store.migrate(.database(world.database), masterKeys: [world.masterKey]).pending == [])
        // The newer build finds its step done.
        try upgrade(expansion)
    }

    /// It writes no node, and ignores it.
    @Test func recordingsOfABuildWithoutNodesAreHeldByAnyNode() async throws {
        let store = try world.open()
        let user = try await store.accounts.createUser(email: "ann@example.org", password: StoreWorld.password, at: world.now)
        let session = try await store.sessions.start(SessionRequest(context: "phone"), of: user.id, at: world.now).session
        try world.run("INSERT INTO recordings SELECT 'a.ogg', id FROM sessions ON CONFLICT DO NOTHING")
        #expect(try await store.sessions.recordings(of: session.id, of: user.id) == [SessionRecording(name: "a.ogg")])
        try await store.sessions.delete(session.id, of: user.id)
        #expect(try await store.sessions.orphanedFiles(of: "n1") == ["a.ogg"])
        try store.close()
    }

    @Test func anOlderBuildRefusesAStoreWithAContraction() throws {
        try upgrade(expansion, contraction)
        for access in [Store.Access.owner, .beside] { #expect(throws: StoreError.fromTheFuture) { try world.open(access: access) } }
        #expect(throws: StoreError.fromTheFuture) { try Store.condition(postgres: world.database, masterKeys: [world.masterKey]) }
        #expect(throws: StoreError.fromTheFuture) { try Store.migrate(.database(world.database), masterKeys: [world.masterKey]) }
    }

    /// Its table of steps has only names.
    @Test func aStoreOfABuildWithoutExpansionsIsUsedAndUpdated() throws {
        try world.run("ALTER TABLE schema_steps DROP COLUMN is_expansion")
        try world.open(access: .beside).close()
        try world.open().close()
        try world.run("INSERT INTO schema_steps (name) VALUES ('of-another-build')")
        #expect(throws: StoreError.fromTheFuture) { try world.open() }
    }

    @Test func anOlderBuildDoesNotCopyWhatItDoesNotKnow() throws {
        try upgrade(expansion)
        let copies = CopyWorld()
        let place = try copies.place(.sqlite)
        #expect(throws: StoreError.fromTheFuture) {
            try copies.copy(.database(world.database), to: place, keys: [world.masterKey])
        }
    }
}
