import Foundation
import HTTPServer
import HTTPTypes
import Identity
import Store
import TestStore
import Testing

@testable import Backend

/// Recordings of two nodes that share a store and have a disk each.
final class SessionRecordingNodeTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "recordings-\(UUID().uuidString)").path
    private let store: Store
    private let user: UserID
    private let session: SessionID

    init() async throws {
        store = try StorePlace(directory: directory).open(masterKeys: [MasterKey()])
        user = try await store.accounts.user(issuer: "tests", subject: "ann", email: nil, at: .now).id
        _ = try await store.accounts.updateSettings(of: user) { ($0.loggingEnabled, $0.hasSeenOnboarding) = (true, true) }
        session = try await store.sessions.start(SessionRequest(context: "phone"), of: user, at: .now).session.id
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private func disk(_ node: String) -> String { "\(directory)/\(node)" }

    /// The recordings at a node.
    ///
    /// - Parameters:
    ///   - running: other nodes that run.
    ///   - isAlone: whether the gateway is in no cluster.
    private func recordings(at node: String, running: [String: String] = [:], isAlone: Bool = false) throws -> SessionRecordings {
        let homes = RoomHomes(node: "\(node)/1", name: node, running: { running[$0] }, epoch: { _ in nil })
        return try SessionRecordings(
            store: store.sessions, rooms: SessionRooms(recordsLogged: true), directory: disk(node), homes: isAlone ? nil : homes)
    }

    /// Writes a recording to a node's disk.
    ///
    /// - Parameter node: in the store; nil: the one with the disk.
    private func record(_ name: String, onDiskOf disk: String, node: String? = nil) async throws {
        #expect(try await store.sessions.addRecording(SessionRecording(name: name, node: node ?? disk), to: session, of: user))
        let key = try await store.sessions.fileKey(named: name, of: user)
        _ = try recordings(at: disk)
        let path = self.disk(disk) + "/" + name
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let file = SealedFile(handle: try #require(FileHandle(forWritingAtPath: path)), name: name, key: key)
        try file.append([UInt8](name.utf8))
        try file.close()
    }

    private func files(of node: String) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: disk(node)).sorted() }

    @Test func aRecordingOfAnotherNodeIsReadThere() async throws {
        try await record("a.ogg", onDiskOf: "n2")
        let error = await #expect(throws: HTTPError.self) {
            try await self.recordings(at: "n1", running: ["n2": "n2/7", "n3": "n3/7"]).bytes(named: "a.ogg", of: self.session, self.user)
        }
        #expect(error?.node == "n2/7", "the request is passed on")
        #expect(try await recordings(at: "n2").bytes(named: "a.ogg", of: session, user) == Array("a.ogg".utf8))
    }

    @Test func aNodeThatDoesNotRunIsNamed() async throws {
        try await record("a.ogg", onDiskOf: "n2")
        let error = await #expect(throws: HTTPError.self) {
            try await self.recordings(at: "n1", running: ["n3": "n3/7"]).bytes(named: "a.ogg", of: self.session, self.user)
        }
        #expect(error?.node == nil)
        #expect(error?.status == .serviceUnavailable && error?.code == .homeUnavailable)
        #expect(error?.message.contains("n2") == true)
    }

    @Test func aFileHereIsReadWhicheverNodeHasWrittenIt() async throws {
        try await record("a.ogg", onDiskOf: "n1", node: "n2")
        try await record("b.ogg", onDiskOf: "n1", node: "")
        for name in ["a.ogg", "b.ogg"] {
            for isAlone in [false, true] {
                let recordings = try recordings(at: "n1", isAlone: isAlone)
                #expect(try await recordings.bytes(named: name, of: session, user) == Array(name.utf8))
            }
        }
    }

    @Test func aFileThatNoNodeHasIsMissing() async throws {
        for (name, node) in [("a.ogg", "n1"), ("b.ogg", "")] {
            #expect(try await store.sessions.addRecording(SessionRecording(name: name, node: node), to: session, of: user))
            #expect(try await recordings(at: "n1").bytes(named: name, of: session, user) == nil)
        }
        let alone = try recordings(at: "n2", isAlone: true)
        #expect(try await alone.bytes(named: "a.ogg", of: session, user) == nil, "without a cluster there is no other node")
        await #expect(throws: StoreError.notFound) { try await alone.bytes(named: "c.ogg", of: self.session, self.user) }
    }

    @Test func eachNodeRemovesItsFilesOfDeletedSessions() async throws {
        try await record("a.ogg", onDiskOf: "n1")
        try await record("b.ogg", onDiskOf: "n2")
        try await store.sessions.delete(session, of: user)
        try await recordings(at: "n1").removeOrphaned()
        #expect(try files(of: "n1").isEmpty && files(of: "n2") == ["b.ogg"])
        #expect(try await store.sessions.orphanedFiles() == ["b.ogg"])
        try await recordings(at: "n2").removeOrphaned()
        #expect(try files(of: "n2").isEmpty)
        #expect(try await store.sessions.orphanedFiles().isEmpty)
    }

    @Test func aGatewayThatIsAloneRemovesAllFilesOfDeletedSessions() async throws {
        try await record("a.ogg", onDiskOf: "n1", node: "n2")
        try await record("b.ogg", onDiskOf: "n1", node: "")
        try await store.sessions.delete(session, of: user)
        try await recordings(at: "n1", isAlone: true).removeOrphaned()
        #expect(try files(of: "n1").isEmpty)
        #expect(try await store.sessions.orphanedFiles().isEmpty)
    }
}
