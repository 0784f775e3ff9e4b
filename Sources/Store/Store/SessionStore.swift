internal import Foundation
internal import GRDB
internal import Glibc
package import Identity
internal import Synchronization

/// Persistent storage of users and their conversations: one SQLite file, with everything users said, wrote or are called encrypted
/// (`Keychain`).
///
/// **Durability**: a function that writes returns after its commit is on disk. **Isolation**: functions take the user whose data they
/// access; another user's records are reported as `notFound`. **Deletion**: deleted bytes are overwritten with zeros, and the write-ahead
/// log is truncated. Time is an argument.
///
/// One process owns a store. Others may open it with `Access.beside`, as the command line does while the gateway runs.
package final class SessionStore: Sendable {
    package enum Access: Sendable {
        /// Creates or migrates the store and locks its directory against other owners.
        case owner
        /// Reads and writes an existing store, next to its owner.
        case beside
    }

    let pool: DatabasePool
    let log: WriteAheadLog
    private let readers: Readers
    private let commits: CommitQueue
    /// Nil for a process that does not own the store.
    private let reserve: DeletionReserve?
    private let keys: Mutex<Keychain>
    private let lock: DirectoryLock?
    private let observe: StoreObserver
    let passwords: PasswordHasher

    /// - Parameters:
    ///   - masterKeys: at least one; must include the key that the store is locked with. A new store is locked with the first.
    ///   - passwordCost: the scrypt parameters of new password hashes.
    ///   - sizeMax: maximum size of the database in bytes; writes beyond it throw `full`. Nil: limited by the disk only.
    ///   - observe: called after each operation, on any thread.
    /// - Throws: before anything is modified: `alreadyOpen`, `wrongMasterKey`, `missing`, `fromTheFuture`; later: `damaged`, `full`,
    ///   `failed`.
    package init(
        directory: String, masterKeys: [MasterKey], access: Access = .owner, passwordCost: PasswordHash.Cost = .standard,
        sizeMax: Int? = nil, observing observe: @escaping StoreObserver = { _, _, _ in }
    ) throws(StoreError) {
        precondition(!masterKeys.isEmpty, "a store needs a master key")
        let path = directory + "/" + Self.fileName
        let pagesMax = sizeMax.map { max(1, $0 / StoreLimits.pageSize) }
        do {
            switch access {
            case .owner:
                try PrivateFiles.makeDirectory(directory)
                lock = try DirectoryLock(directory: directory)
                try PrivateFiles.restrict(["", "-wal", "-shm", "-journal"].map { path + $0 })
            case .beside:
                lock = nil
            }
            let known = try Self.readUnchanged(path: path, masterKeys: masterKeys)
            guard known != nil || access == .owner else { throw StoreError.missing(directory: directory) }
            // SQLite's other files get the mode of this one.
            if !FileManager.default.fileExists(atPath: path) { Glibc.close(try PrivateFiles.create(path)) }

            let pool = try DatabasePool(path: path, configuration: Self.configuration)
            let migrator = DatabaseSchema.migrator { db in _ = try Keychain.make(in: db, with: masterKeys) }
            if access == .owner {
                try migrator.migrate(pool)
                try pool.write(DatabaseSchema.releaseLeases)
            }
            try pool.writeWithoutTransaction { db in
                // GRDB's pool sets NORMAL, which may lose commits on power failure.
                try db.execute(sql: "PRAGMA synchronous = FULL")
                if let pagesMax { try db.limitPages(to: pagesMax) }
            }
            keys = Mutex(try pool.read { db in try Keychain.open(in: db, with: masterKeys) })
            log = try WriteAheadLog(of: pool, configuration: Self.configuration)
            readers = try Readers(path: path, configuration: Self.configuration)
            self.pool = pool
        } catch {
            throw StoreError(error).naming(path)
        }
        self.observe = observe
        reserve = access == .owner ? DeletionReserve(directory: directory) : nil
        commits = CommitQueue(pool: pool, log: log, reserve: reserve, pagesMax: pagesMax, observing: observe)
        passwords = PasswordHasher(cost: passwordCost)
        // The previous owner may have ended right after a deletion.
        if access == .owner { log.emptySoon() }
    }

    static let fileName = "patchbay.sqlite"

    /// Reads the store at `path` without writing anything; nil if there is none.
    private static func readUnchanged(path: String, masterKeys: [MasterKey]) throws -> (keys: Keychain, isCurrent: Bool)? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        var configuration = Self.configuration
        configuration.readonly = true
        return try DatabaseQueue(path: path, configuration: configuration).read { db in
            guard try db.tableExists("store_keys") else { return nil }
            let migrator = DatabaseSchema.migrator { _ in }
            guard try !migrator.hasBeenSuperseded(db) else { throw StoreError.fromTheFuture }
            return (try Keychain.open(in: db, with: masterKeys), try migrator.hasCompletedMigrations(db))
        }
    }

    /// The condition of a store's files, read without opening the store.
    package enum Condition: Sendable, Hashable {
        /// There is no store yet.
        case missing
        case current
        /// Written by an earlier version; opening it as owner updates its schema.
        case older
    }

    /// Tests whether the store could be opened as owner. Creates and changes nothing.
    ///
    /// - Throws: `alreadyOpen`, `wrongMasterKey`, `fromTheFuture`, `damaged`, `failed`.
    package static func condition(directory: String, masterKeys: [MasterKey]) throws(StoreError) -> Condition {
        let path = directory + "/" + fileName
        do {
            guard FileManager.default.fileExists(atPath: path) else { return .missing }
            try DirectoryLock(directory: directory).release()
            guard let found = try readUnchanged(path: path, masterKeys: masterKeys) else { return .missing }
            return found.isCurrent ? .current : .older
        } catch {
            throw StoreError(error).naming(path)
        }
    }

    private static var configuration: Configuration {
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

    /// Waits for running operations and closes the files. Call once; later operations fail.
    package func close() throws(StoreError) {
        do {
            try log.close()
            try readers.close()
            try pool.close()
        } catch {
            throw StoreError(error)
        }
        lock?.release()
    }
}

// MARK: - For the store's parts

extension SessionStore {
    /// Executor for callers that make many store requests, so that they need no thread switch per request.
    package var threads: StoreThreads { readers.threads }

    var keychain: Keychain { keys.withLock { $0 } }

    func adopt(_ key: MasterKey) {
        keys.withLock { $0.add(key) }
    }

    /// For short reads.
    func reading<T: Sendable>(_ body: @Sendable (Transaction) throws -> T) async throws(StoreError) -> T {
        let keychain = keychain
        return try await observed(.read) {
            try await withTaskExecutorPreference(readers.threads) {
                try readers.read { db in try body(Transaction(database: db, keychain: keychain)) }
            }
        }
    }

    /// For long reads, which must not delay short ones.
    func readingLong<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) async throws(StoreError) -> T {
        let body = withKeys(body)
        return try await observed(.longRead) { try await pool.read(body) }
    }

    /// - Parameter body: may run twice (`CommitQueue`).
    @discardableResult
    func writing<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) async throws(StoreError) -> T {
        let body = withKeys(body)
        return try await observed(.write) { try await commits.write(body) }
    }

    /// For writes that free space or revoke something: they have a reserve in a full store.
    ///
    /// - Parameter body: may run twice.
    @discardableResult
    func deleting<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) async throws(StoreError) -> T {
        let body = withKeys(body)
        return try await observed(.write) {
            do throws(StoreError) {
                return try await commits.write(as: .deletion, body)
            } catch .full {
                guard let reserve else { throw StoreError.full }
                return try await reserve.using { () async throws(StoreError) in
                    // What is in the log may take up the space that the deletion needs there.
                    _ = try? await log.empty()
                    let result = try await commits.write(as: .deletion, body)
                    await returnFreePages()
                    return result
                }
            }
        }
    }

    private func withKeys<T>(_ body: @escaping @Sendable (Transaction) throws -> T) -> @Sendable (Database) throws -> T {
        let keychain = keychain
        return { db in try body(Transaction(database: db, keychain: keychain)) }
    }

    private func observed<T>(_ operation: StoreOperation, _ body: () async throws -> T) async throws(StoreError) -> T {
        let began = ContinuousClock.now
        do {
            let result = try await body()
            observe(operation, began.duration(to: .now), nil)
            return result
        } catch {
            let error = StoreError(error)
            observe(operation, began.duration(to: .now), error)
            throw error
        }
    }
}

/// Kinds of operations that a `StoreObserver` distinguishes.
package enum StoreOperation: String, Sendable, CaseIterable {
    /// From the call to the result, including the wait for a thread.
    case read
    /// Verification and other reads of everything.
    case longRead = "long_read"
    /// From the call to the commit on disk, which several writes share.
    case write
    /// One transaction, including the wait for the disk.
    case commit
}

/// Called after each operation with its duration and its error, if any.
package typealias StoreObserver = @Sendable (StoreOperation, Duration, StoreError?) -> Void

extension SessionStore {
    /// The key that signs users' access tokens. It belongs to the store, so tokens survive restarts and end with the store.
    package var userTokenKey: SealingKey { keychain.shared.derived(for: "user tokens") }
}

/// Locks a directory for one process. The kernel releases the lock when the process ends.
final class DirectoryLock: Sendable {
    private let descriptor: Int32

    /// - Throws: `alreadyOpen`.
    init(directory: String) throws(StoreError) {
        let descriptor = open(directory + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failed("\(directory)/lock can't be made: \(String(cString: strerror(errno)))") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            defer { close(descriptor) }
            throw .alreadyOpen(directory: directory, process: Self.owner(in: descriptor))
        }
        self.descriptor = descriptor
        // For the message of a process that finds the directory locked; nothing depends on it.
        let owner = Array("\(getpid())\n".utf8)
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, owner, owner.count, 0) }
    }

    private static func owner(in descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return Int32(String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).trimmingCharacters(in: .newlines))
    }

    func release() {
        flock(descriptor, LOCK_UN)
    }

    deinit {
        // A child process may have inherited the descriptor.
        release()
        close(descriptor)
    }
}
