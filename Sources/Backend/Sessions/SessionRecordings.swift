internal import Dispatch
package import Engine
internal import Foundation
internal import HTTPServer
internal import Identity
package import Store
internal import Synchronization
internal import Wire

/// Stores recordings of logged sessions: one file per track, sealed chunk by chunk with its user's key. Each chunk is preceded by its
/// length (four bytes, big-endian). A chunk truncated by a crash is ignored when reading.
///
/// In a cluster each node has files of its own, and the store says which node holds a file.
package struct SessionRecordings: RecordingStore {
    private let store: Sessions
    private let rooms: SessionRooms
    private let directory: URL
    private let homes: RoomHomes?

    /// - Parameters:
    ///   - directory: created if missing. Access of others to it and its files is removed.
    ///   - homes: the cluster; nil without one.
    package init(store: Sessions, rooms: SessionRooms, directory: String, homes: RoomHomes? = nil) throws {
        self.store = store
        self.rooms = rooms
        self.homes = homes
        self.directory = URL(filePath: directory, directoryHint: .isDirectory)
        try PrivateFiles.makeDirectory(directory)
        try PrivateFiles.restrict(try FileManager.default.contentsOfDirectory(atPath: directory).lazy.map { directory + "/" + $0 })
    }

    // MARK: Writing

    /// Registers the file in the store before creating it, so that no file is orphaned.
    package func makeFile(named name: String, for order: Room.RecordingTap) throws -> any RecordingFile {
        guard let owner = rooms.owner(of: order.room.info.name) else { throw NotRecorded() }
        let recording = SessionRecording(name: name, node: homes?.name ?? "")
        let key = try wait {
            guard try await store.addRecording(recording, to: owner.session, of: owner.user) else { throw NotRecorded() }
            return try await store.fileKey(named: name, of: owner.user)
        }
        let url = directory.appending(path: name, directoryHint: .notDirectory)
        let file = FileHandle(fileDescriptor: try PrivateFiles.create(url.path), closeOnDealloc: true)
        // If the session was deleted before the file was created, nobody else will remove it.
        let isWanted = try? wait { try await store.recordings(of: owner.session, of: owner.user).contains(recording) }
        guard isWanted == true else {
            try? FileManager.default.removeItem(at: url)
            throw NotRecorded()
        }
        return SealedFile(handle: file, name: name, key: key)
    }

    /// The room has no session, or its session is not logged.
    private struct NotRecorded: Error {}

    /// Blocks the calling thread. Only for the recorder's own thread.
    private func wait<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) throws -> T {
        let outcome = Outcome<T>()
        Task.detached { outcome.finish(await Result { try await body() }) }
        return try outcome.wait().get()
    }

    /// A task's result, for a thread that waits for it.
    private final class Outcome<T: Sendable>: Sendable {
        private let done = DispatchSemaphore(value: 0)
        private let result = Mutex<Result<T, any Error>?>(nil)

        func finish(_ result: Result<T, any Error>) {
            self.result.withLock { $0 = result }
            done.signal()
        }

        func wait() -> Result<T, any Error> {
            while true {
                done.wait()
                if let result = result.withLock({ $0 }) { return result }
            }
        }
    }

    // MARK: Reading

    /// Reads a file here, whichever node has written it: the disk may have come from another one.
    ///
    /// - Returns: nil if the file is missing.
    /// - Throws: `StoreError`; `HTTPError.elsewhere` if another node holds the file, so that the request is forwarded to it.
    func bytes(named name: String, of session: SessionID, _ user: UserID) async throws -> [UInt8]? {
        guard let recording = try await store.recordings(of: session, of: user).first(where: { $0.name == name }) else {
            throw StoreError.notFound
        }
        let key = try await store.fileKey(named: name, of: user)
        guard let sealed = try? Data(contentsOf: directory.appending(path: name, directoryHint: .notDirectory)) else {
            if let homes, !recording.node.isEmpty, recording.node != homes.name { throw Self.elsewhere(recording.node, homes) }
            return nil
        }
        return SealedFile.open([UInt8](sealed), name: name, key: key)
    }

    private static func elsewhere(_ node: String, _ homes: RoomHomes) -> HTTPError {
        var error = HTTPError(
            .homeUnavailable, "the node \(node), which holds the recording, could not be reached; try again when it runs",
            retryAfterSeconds: retryAfterSeconds)
        error.node = homes.running(node)
        return error
    }

    /// Nodes that restart take about as long.
    private static let retryAfterSeconds = 10

    /// Removes the files of deleted sessions. In a cluster each node removes those that it holds.
    func removeOrphaned() async throws {
        while true {
            let names = try await store.orphanedFiles(of: homes?.name)
            guard !names.isEmpty else { return }
            for name in names { try? FileManager.default.removeItem(at: directory.appending(path: name, directoryHint: .notDirectory)) }
            try await store.removeOrphanedFiles(names)
        }
    }
}

/// An append-only file of sealed chunks, each bound to the file's name and its index.
final class SealedFile: RecordingFile {
    private static let lengthBytes = 4

    private let handle: FileHandle
    private let name: String
    private let key: SealingKey
    private var chunks = 0

    init(handle: FileHandle, name: String, key: SealingKey) {
        self.handle = handle
        self.name = name
        self.key = key
    }

    func append(_ bytes: [UInt8]) throws {
        let sealed = SealedBox.seal(bytes, with: key, at: Self.binding(ofChunk: chunks, in: name))
        chunks += 1
        let length = UInt32(sealed.count)
        try handle.write(contentsOf: Data((0..<Self.lengthBytes).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + sealed))
    }

    func close() throws {
        try handle.close()
    }

    /// The content, up to the first truncated or modified chunk.
    static func open(_ file: [UInt8], name: String, key: SealingKey) -> [UInt8] {
        var plain: [UInt8] = []
        var next = 0
        var chunks = 0
        while next + lengthBytes <= file.count {
            let length = file[next..<next + lengthBytes].reduce(0) { $0 << 8 | Int($1) }
            let start = next + lengthBytes
            guard start + length <= file.count,
                let chunk = SealedBox.open(Array(file[start..<start + length]), with: key, at: binding(ofChunk: chunks, in: name))
            else { break }
            plain += chunk
            (next, chunks) = (start + length, chunks + 1)
        }
        return plain
    }

    private static func binding(ofChunk index: Int, in name: String) -> String { "recordings/\(name)/\(index)" }
}
