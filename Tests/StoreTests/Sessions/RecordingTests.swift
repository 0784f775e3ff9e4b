import Store
import Testing

/// The nodes of a cluster hold the files of recordings, each those that it has written.
struct RecordingTests {
    private let world: StoreWorld
    private var store: Store { world.store }
    private let files = [
        SessionRecording(name: "a.ogg", node: "n1"), SessionRecording(name: "b.ogg", node: "n2"), SessionRecording(name: "c.ogg"),
    ]

    init() throws { world = try StoreWorld() }

    /// A session with recordings at two nodes, and one from before there was a cluster.
    private func talk(_ user: User) async throws -> Session {
        let session = try await world.talk(user, ["hi"])
        for file in files { #expect(try await store.sessions.addRecording(file, to: session.id, of: user.id)) }
        return session
    }

    @Test func recordingsNameTheNodeThatHoldsThem() async throws {
        let user = try await world.makeUser()
        let session = try await talk(user)
        #expect(try await store.sessions.recordings(of: session.id, of: user.id) == files)
        #expect(try await store.sessions.record(of: session.id, of: user.id).recordings == files)
    }

    @Test func aNodeRemovesNoFilesOfOthers() async throws {
        let user = try await world.makeUser()
        try await store.sessions.delete(try await talk(user).id, of: user.id)
        #expect(try await store.sessions.orphanedFiles(of: "n1") == ["a.ogg", "c.ogg"])
        try await store.sessions.removeOrphanedFiles(["a.ogg", "c.ogg"])
        #expect(try await store.sessions.orphanedFiles(of: "n1").isEmpty)
        #expect(try await store.sessions.orphanedFiles(of: "n2") == ["b.ogg"])
        #expect(try await store.sessions.orphanedFiles() == ["b.ogg"], "a gateway without a cluster removes them all")
    }

    @Test func filesOfADeletedUserKeepTheirNode() async throws {
        let user = try await world.makeUser()
        _ = try await talk(user)
        try await store.accounts.deleteUser(user.id)
        #expect(try await store.sessions.orphanedFiles(of: "n2") == ["b.ogg", "c.ogg"])
    }
}
