import Foundation
import Identity
import Store
import Testing

/// The store's files belong to their owner alone.
@Suite(.onlyOnSQLite) struct FileModeTests {
    private let world: StoreWorld

    init() throws { world = try StoreWorld() }

    private func mode(of name: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: world.directory + name)[.posixPermissions] as? Int)
    }

    private func setMode(of name: String, to mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: world.directory + name)
    }

    @Test func newFilesArePrivate() async throws {
        _ = try await world.makeUser()
        #expect(try mode(of: "") == 0o700)
        for file in ["/patchbay.sqlite", "/patchbay.sqlite-wal", "/patchbay.sqlite-shm"] { #expect(try mode(of: file) == 0o600, "\(file)") }
    }

    @Test func openingAStoreTakesAccessFromOthers() async throws {
        let user = try await world.makeUser()
        try world.store.close()
        try setMode(of: "", to: 0o755)
        try setMode(of: "/patchbay.sqlite", to: 0o644)
        // As after a kill. A log that the last reader left behind contains the user.
        for file in ["/patchbay.sqlite-wal", "/patchbay.sqlite-shm"] {
            let path = world.directory + file
            #expect(FileManager.default.fileExists(atPath: path) || FileManager.default.createFile(atPath: path, contents: nil))
            try setMode(of: file, to: 0o664)
        }
        let store = try Store(directory: world.directory, masterKeys: [world.masterKey], passwordCost: StoreWorld.quickCost)
        defer { try? store.close() }
        #expect(try await store.accounts.user(user.id).id == user.id)
        #expect(try mode(of: "") == 0o700)
        for file in ["/patchbay.sqlite", "/patchbay.sqlite-wal", "/patchbay.sqlite-shm"] { #expect(try mode(of: file) == 0o600, "\(file)") }
    }

    @Test func backupsArePrivate() async throws {
        try await world.store.backup(to: world.directory + "/copy.sqlite")
        #expect(try mode(of: "/copy.sqlite") == 0o600)
    }
}
