internal import Dispatch
internal import GRDB
internal import GRDBSQLite
internal import Synchronization

/// The write-ahead log and its checkpoints.
///
/// SQLite's automatic checkpoint runs within a commit while all writers wait. Here checkpoints run on their own connection and queue,
/// concurrently with writers; only truncating the log, which needs the writing connection, is done there, when little is left to copy.
///
/// Deleted data remains in the log, encrypted, until it is truncated (`emptySoon()`).
final class WriteAheadLog: Sendable {
    private struct State {
        /// Pages written since the last checkpoint.
        var pages = 0
        var isCheckpointDue = false
        var isEmptyingDue = false
        var isClosed = false
    }

    private let pool: DatabasePool
    private let connection: DatabaseQueue
    private let queue = DispatchQueue(label: "Store.log")
    private let state = Mutex(State())

    init(of pool: DatabasePool, configuration: Configuration) throws {
        self.pool = pool
        connection = try DatabaseQueue(path: pool.path, configuration: configuration)
        try pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA wal_autocheckpoint = 0") }
    }

    /// Called after a commit.
    func grew(by pages: Int) {
        let isDue = state.withLock { state in
            state.pages += pages
            guard state.pages >= StoreLimits.pagesPerCheckpoint, !state.isCheckpointDue else { return false }
            state.isCheckpointDue = true
            return true
        }
        if isDue { queue.async { [weak self] in self?.checkpoint() } }
    }

    /// Truncates the log within `StoreLimits.deletedInLogMax`, later only while readers block it.
    func emptySoon() {
        let isFirst = state.withLock { state in
            defer { state.isEmptyingDue = true }
            return !state.isEmptyingDue && !state.isClosed
        }
        if isFirst { queue.asyncAfter(deadline: .now() + StoreLimits.deletedInLogMax) { [weak self] in self?.emptyIfDue() } }
    }

    /// - Returns: false if a reader blocks it.
    func empty() async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.emptyNow() }) }
        }
    }

    /// Waits for running checkpoints. A scheduled truncation happens now, unless readers block it.
    func close() throws {
        try queue.sync {
            let isEmptyingDue = state.withLock { state in
                guard !state.isClosed else { return false }
                state.isClosed = true
                return state.isEmptyingDue
            }
            if isEmptyingDue { _ = try? emptyNow() }
            try connection.close()
        }
    }
}

// MARK: - On the queue

extension WriteAheadLog {
    private func checkpoint() {
        let isClosed = state.withLock { state in
            state.pages = 0
            state.isCheckpointDue = false
            return state.isClosed
        }
        // On failure the log grows until the next checkpoint.
        guard !isClosed, let frames = try? bringOver().all, frames >= StoreLimits.logPagesMax else { return }
        _ = try? emptyNow()
    }

    private func emptyIfDue() {
        let isDue = state.withLock { state in
            defer { state.isEmptyingDue = false }
            return state.isEmptyingDue && !state.isClosed
        }
        guard isDue else { return }
        if (try? emptyNow()) != true { emptySoon() }
    }

    /// Copies most pages concurrently with writers, and only the rest while they wait.
    private func emptyNow() throws -> Bool {
        for _ in 0..<StoreLimits.logRoundsMax {
            // Another process may be checkpointing, which serves as well.
            guard let log = try? bringOver(), log.all - log.done > StoreLimits.logRemainderMax else { break }
        }
        return try pool.writeWithoutTransaction { db in
            // Writers wait meanwhile.
            try db.execute(sql: "PRAGMA busy_timeout = \(StoreLimits.logReadersTimeout)")
            defer { try? db.execute(sql: "PRAGMA busy_timeout = \(Int(StoreLimits.lockTimeout * 1_000))") }
            do {
                _ = try db.checkpoint(.truncate)
                return true
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                return false
            }
        }
    }

    /// A passive checkpoint: copies what no reader needs.
    ///
    /// - Returns: pages in the log, and how many of them are in the database.
    private func bringOver() throws -> (all: Int, done: Int) {
        try connection.inDatabase { db in
            let (all, done) = try db.checkpoint(.passive)
            return (all, done)
        }
    }
}

extension GRDB.Database {
    /// Pages written by this connection since the last call.
    func takePagesWritten() -> Int {
        var (pages, unused): (CInt, CInt) = (0, 0)
        sqlite3_db_status(sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &unused, 1)
        return Int(pages)
    }
}
