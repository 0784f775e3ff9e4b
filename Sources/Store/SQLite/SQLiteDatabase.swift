internal import Dispatch
internal import Foundation
internal import GRDB
internal import Identity
internal import Synchronization

/// A store in one SQLite file, which one process owns.
final class SQLiteDatabase: Database {
    private let pool: DatabasePool
    private let log: WriteAheadLog
    private let readers: Readers
    private let commits: CommitQueue
    /// Nil for a process that does not own the store.
    private let reserve: DeletionReserve?
    private let keys: Mutex<Keychain>
    let observe: StoreObserver
    let node = NodeID()
    /// Nil for a process that does not own the store.
    private let lock: DirectoryLock?

    /// - Parameters:
    ///   - pool: of a database with the current schema.
    ///   - lock: released by `close()`.
    ///   - sizeMax: maximum size of the database in bytes; nil: limited by the disk only.
    init(
        _ pool: DatabasePool, _ keychain: Keychain, lock: DirectoryLock?, reserve: DeletionReserve?, sizeMax: Int?,
        observing observe: @escaping StoreObserver
    ) throws {
        let pagesMax = sizeMax.map { max(1, $0 / StoreLimits.pageSize) }
        try pool.writeWithoutTransaction { db in
            // GRDB's pool sets NORMAL, which may lose commits on power failure.
            try db.execute(sql: "PRAGMA synchronous = FULL")
            if let pagesMax { try db.limitPages(to: pagesMax) }
        }
        self.pool = pool
        self.lock = lock
        self.reserve = reserve
        self.observe = observe
        keys = Mutex(keychain)
        log = try WriteAheadLog(of: pool, configuration: Self.configuration)
        readers = try Readers(path: pool.path, configuration: Self.configuration)
        commits = CommitQueue(pool: pool, log: log, reserve: reserve, pagesMax: pagesMax, observing: observe)
    }

    static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "Store"
        configuration.busyMode = .timeout(StoreLimits.lockTimeout)
        configuration.foreignKeysEnabled = true
        configuration.observesSuspensionNotifications = false
        configuration.prepareDatabase { db in
            guard !db.configuration.readonly else { return }
            try db.execute(sql: "PRAGMA secure_delete = ON")
            // Deletions of many rows would otherwise write temporary files.
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
            // Takes effect only before the first page exists.
            if try Int.fetchOne(db, sql: "PRAGMA page_count") == 0 { try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
        }
        return configuration
    }

    func close() throws {
        try log.close()
        try readers.close()
        try pool.close()
        lock?.release()
    }

    var threads: StoreThreads { readers.threads }
    var keychain: Keychain { keys.withLock { $0 } }

    func adopt(_ key: MasterKey) { keys.withLock { $0.add(key) } }

    // MARK: Transactions

    func read<T: Sendable>(_ body: @Sendable (Transaction) throws -> T) async throws(StoreError) -> T {
        let keychain = keychain
        return try await observed(.read) {
            try await withTaskExecutorPreference(readers.threads) {
                try readers.read { db in try body(Transaction(connection: db, keychain: keychain)) }
            }
        }
    }

    func readLong<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) async throws(StoreError) -> T {
        let body = withKeys(body)
        return try await observed(.longRead) { try await pool.read(body) }
    }

    @discardableResult
    func write<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) async throws(StoreError) -> T {
        let body = withKeys(body)
        return try await observed(.write) { try await commits.write(body) }
    }

    @discardableResult
    func delete<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) async throws(StoreError) -> T {
        let body = withKeys(body)
        return try await observed(.write) {
            do throws(StoreError) {
                return try await commits.write(as: .deletion, body)
            } catch .full {
                guard let reserve else { throw StoreError.full }
                return try await reserve.using { () async throws(StoreError) in
                    // Frees the space in the log that the deletion needs.
                    _ = try? await log.empty()
                    let result = try await commits.write(as: .deletion, body)
                    await returnFreePages()
                    return result
                }
            }
        }
    }

    private func withKeys<T>(_ body: @escaping @Sendable (Transaction) throws -> T) -> @Sendable (GRDB.Database) throws -> T {
        let keychain = keychain
        return { db in try body(Transaction(connection: db, keychain: keychain)) }
    }

    // MARK: Space

    func eraseSoon() { log.emptySoon() }

    /// Returns free pages to the file system and truncates the write-ahead log. Until then deleted data may be in the log, encrypted.
    func compact() async throws(StoreError) {
        do {
            while try await freePages() {}
            var attempts = 1
            while try await !log.empty() {
                guard attempts < StoreLimits.logAttemptsMax else { throw StoreError.busy }
                attempts += 1
                try await Task.sleep(for: StoreLimits.logPause)
            }
        } catch {
            throw StoreError(error)
        }
    }

    func compactUnlessRead() async throws(StoreError) {
        do { try await compact() } catch .busy {} catch .full { log.emptySoon() }
    }

    /// Returns free pages of a full disk's store to the file system, with little space for the log. Failures are ignored: the next
    /// compaction returns what is left.
    private func returnFreePages() async {
        repeat { _ = try? await log.empty() } while (try? await freePages()) == true
        _ = try? await log.empty()
    }

    /// Frees a few pages.
    ///
    /// - Returns: whether there may be more.
    private func freePages() async throws -> Bool {
        try await pool.writeWithoutTransaction { db in
            guard let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count"), free > 0 else { return false }
            try db.execute(sql: "PRAGMA incremental_vacuum(500)")
            return true
        }
    }

    func copy<T: Sendable>(to path: String, reading body: @escaping @Sendable (Transaction) throws -> T) async throws -> T {
        let body = withKeys(body)
        return try await withCheckedThrowingContinuation { continuation in
            // Copying takes long, and the store's threads are few.
            DispatchQueue.global().async { [pool] in
                continuation.resume(
                    with: Result {
                        let copy = try DatabaseQueue(path: path)
                        try pool.backup(to: copy)
                        let result = try copy.read(body)
                        try copy.close()
                        return result
                    })
            }
        }
    }
}
