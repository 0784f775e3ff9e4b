internal import Foundation
internal import GRDB
internal import Synchronization

/// Connections for reading, one for each thread that reads (`StoreThreads`), so that none waits for one.
///
/// GRDB's pool would take a request over four of its queues, and make its way through SQL for each.
final class Readers: Sendable {
    let threads: StoreThreads
    private let connections: [DatabaseQueue]
    private let free: Mutex<[DatabaseQueue]>

    init(path: String, configuration: Configuration) throws {
        var configuration = configuration
        configuration.readonly = true
        configuration.prepareDatabase { db in
            // What one commit leaves of it is read again: the more, the less a list costs while nobody writes.
            try db.execute(sql: "PRAGMA cache_size = -\(StoreLimits.readerCacheMax >> 10)")
        }
        let range = StoreLimits.readersRange
        let count = min(max(range.lowerBound, ProcessInfo.processInfo.activeProcessorCount), range.upperBound)
        let connections = try (0..<count).map { _ in try DatabaseQueue(path: path, configuration: configuration) }
        self.connections = connections
        free = Mutex(connections)
        threads = StoreThreads(count: count, name: "store")
    }

    deinit {
        threads.end()
    }

    /// On one of `threads`: what `body` sees is of one moment.
    func read<T>(_ body: (Database) throws -> T) throws -> T {
        // More than there are threads come only when those have ended.
        guard let connection = free.withLock({ $0.popLast() }) else { throw StoreError.failed("the store is closed") }
        defer { free.withLock { $0.append(connection) } }
        return try connection.unsafeRead { db in
            try db.cachedStatement(sql: "BEGIN").execute()
            defer {
                do { try db.cachedStatement(sql: "COMMIT").execute() } catch { try? db.rollback() }
            }
            return try body(db)
        }
    }

    /// Waits for what is under way.
    func close() throws {
        for connection in connections { try connection.close() }
        threads.end()
    }
}
