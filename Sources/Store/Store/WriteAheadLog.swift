internal import Dispatch
internal import GRDB
internal import GRDBSQLite
internal import Synchronization

/// Where commits stand first, and the one who brings them from there into the database.
///
/// SQLite would do that in the commit that makes the log long, while everybody who writes waits for the disk. So it is done beside the writers, on a
/// connection and a queue of its own. What only the writing connection can do, which is to begin the log anew, is left to it when little is missing.
///
/// What was deleted stands in the log too, sealed, and is gone when that has been emptied (`emptySoon()`).
final class WriteAheadLog: Sendable {
    private struct State {
        /// Pages written since something was brought over.
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

    /// After a commit, by so many pages.
    func grew(by pages: Int) {
        let isDue = state.withLock { state in
            state.pages += pages
            guard state.pages >= StoreLimits.pagesPerCheckpoint, !state.isCheckpointDue else { return false }
            state.isCheckpointDue = true
            return true
        }
        if isDue { queue.async { [weak self] in self?.checkpoint() } }
    }

    /// What has been deleted is to leave the log within `StoreLimits.deletedInLogMax`, later only while somebody reads all the time.
    func emptySoon() {
        let isFirst = state.withLock { state in
            defer { state.isEmptyingDue = true }
            return !state.isEmptyingDue && !state.isClosed
        }
        if isFirst { queue.asyncAfter(deadline: .now() + StoreLimits.deletedInLogMax) { [weak self] in self?.emptyIfDue() } }
    }

    /// - Returns: false if somebody reads from it.
    func empty() async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.emptyNow() }) }
        }
    }

    /// Waits for what is under way. What was to be emptied soon is emptied now, unless somebody reads.
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
        // What fails now the next one does: the log only grows meanwhile.
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

    /// Most of it beside the writers, and only the rest in their way.
    private func emptyNow() throws -> Bool {
        for _ in 0..<StoreLimits.logRoundsMax {
            // If another process does the same just now, that is as good.
            guard let log = try? bringOver(), log.all - log.done > StoreLimits.logRestMax else { break }
        }
        return try pool.writeWithoutTransaction { db in
            // Whoever wants to write waits meanwhile, so we do not.
            try db.execute(sql: "PRAGMA busy_timeout = \(StoreLimits.logReadersPatience)")
            defer { try? db.execute(sql: "PRAGMA busy_timeout = \(Int(StoreLimits.lockPatience * 1_000))") }
            do {
                _ = try db.checkpoint(.truncate)
                return true
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                return false
            }
        }
    }

    /// As much as nobody reads; nobody waits for it.
    ///
    /// - Returns: pages in the log, and how many of them are in the database.
    private func bringOver() throws -> (all: Int, done: Int) {
        try connection.inDatabase { db in
            let (all, done) = try db.checkpoint(.passive)
            return (all, done)
        }
    }
}

extension Database {
    /// How many pages this connection has written since it was asked the last time.
    func takePagesWritten() -> Int {
        var (pages, unused): (CInt, CInt) = (0, 0)
        sqlite3_db_status(sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &unused, 1)
        return Int(pages)
    }
}
