internal import Dispatch
internal import Foundation
internal import GRDB
internal import Synchronization

/// A pool of read connections, one per reader thread (`StoreThreads`), so that none waits.
///
/// GRDB's own pool needs four queue hops per read and parses its SQL each time.
final class Readers: Sendable {
    let threads: StoreThreads
    private let connections: [DatabaseQueue]
    private let free: Mutex<[DatabaseQueue]>

    init(path: String, configuration: Configuration) throws {
        var configuration = configuration
        configuration.readonly = true
        configuration.prepareDatabase { db in
            // The cache is invalidated by commits; in quiet times it makes lists cheap.
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

    /// Reads in one transaction. Call on one of `threads`.
    func read<T>(_ body: (GRDB.Database) throws -> T) throws -> T {
        // There are as many connections as threads, unless the threads have ended.
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

    /// Waits for running reads.
    func close() throws {
        for connection in connections { try connection.close() }
        threads.end()
    }
}
