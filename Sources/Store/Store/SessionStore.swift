internal import Foundation
internal import GRDB
package import Identity
internal import Synchronization

/// What is kept of users and their conversations, in one SQLite file; what must not be read by others is sealed (`Keychain`).
///
/// **Acknowledged means on disk**: a function that changes something returns after the commit has reached the disk. **Nobody sees what is not theirs**:
/// each function about a user's things takes the user, and what is another's is as absent as what never was (`notFound`). **What is deleted is gone**: SQLite
/// overwrites it with zeros, and the write-ahead log is emptied. Time is an argument.
///
/// One process owns a store. Another may look into it beside the owner (`Access.beside`), as the command line does while the gateway runs.
package final class SessionStore: Sendable {
    package enum Access: Sendable {
        /// Makes the store if there is none, brings its tables up to date, and keeps other owners out.
        case owner
        /// Reads and writes what is there.
        case beside
    }

    let pool: DatabasePool
    let log: WriteAheadLog
    private let readers: Readers
    private let commits: CommitQueue
    private let keys: Mutex<Keychain>
    private let lock: DirectoryLock?
    let passwords: PasswordHasher

    /// - Parameters:
    ///   - masterKeys: among them the one that the store is locked with; a new store is locked with the first. At least one.
    ///   - passwordCost: what hashing a password costs.
    ///   - sizeMax: of the database in bytes; what would be more is refused with `full`. Nil: as long as there is room on the disk.
    /// - Throws: `alreadyOpen`, `wrongMasterKey`, `missing`, `fromTheFuture` before anything is touched; `damaged`, `full`, `failed`.
    package init(
        directory: String, masterKeys: [MasterKey], access: Access = .owner, passwordCost: PasswordHash.Cost = .standard,
        sizeMax: Int? = nil
    ) throws(StoreError) {
        precondition(!masterKeys.isEmpty, "a store needs a master key")
        let path = directory + "/" + Self.fileName
        do {
            switch access {
            case .owner:
                try FileManager.default.createDirectory(
                    atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                lock = try DirectoryLock(directory: directory)
            case .beside:
                lock = nil
            }
            let known = try Self.keysWithoutTouching(path: path, masterKeys: masterKeys)
            guard known != nil || access == .owner else { throw StoreError.missing(directory: directory) }

            let pool = try DatabasePool(path: path, configuration: Self.configuration)
            let migrator = Schema.migrator { db in _ = try Keychain.make(in: db, with: masterKeys) }
            if access == .owner {
                try migrator.migrate(pool)
                try pool.write(CrashRecovery.releaseLeases)
            }
            try pool.writeWithoutTransaction { db in
                // The pool has put it to NORMAL, with which a commit may be lost when the power goes.
                try db.execute(sql: "PRAGMA synchronous = FULL")
                if let sizeMax {
                    let pageSize = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 4_096
                    try db.execute(sql: "PRAGMA max_page_count = \(max(1, sizeMax / pageSize))")
                }
            }
            keys = Mutex(try pool.read { db in try Keychain.open(in: db, with: masterKeys) })
            log = try WriteAheadLog(of: pool, configuration: Self.configuration)
            readers = try Readers(path: path, configuration: Self.configuration)
            self.pool = pool
        } catch {
            throw StoreError(error)
        }
        commits = CommitQueue(pool: pool, log: log)
        passwords = PasswordHasher(cost: passwordCost)
        // Who had the store before may have ended right after a deletion.
        if access == .owner { log.emptySoon() }
    }

    static let fileName = "patchbay.sqlite"

    /// The keys of the store at `path`, for which nothing is written; nil if there is no store yet.
    private static func keysWithoutTouching(path: String, masterKeys: [MasterKey]) throws -> Keychain? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        var configuration = Self.configuration
        configuration.readonly = true
        return try DatabaseQueue(path: path, configuration: configuration).read { db in
            guard try db.tableExists("store_keys") else { return nil }
            guard try !Schema.migrator(fill: { _ in }).hasBeenSuperseded(db) else { throw StoreError.fromTheFuture }
            return try Keychain.open(in: db, with: masterKeys)
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "Store"
        configuration.busyMode = .timeout(StoreLimits.lockPatience)
        configuration.foreignKeysEnabled = true
        configuration.observesSuspensionNotifications = false
        configuration.prepareDatabase { db in
            guard !db.configuration.readonly else { return }
            try db.execute(sql: "PRAGMA secure_delete = ON")
            // Has to be said before there is a first page.
            if try Int.fetchOne(db, sql: "PRAGMA page_count") == 0 { try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
        }
        return configuration
    }

    /// Waits for what is under way and closes the files. To be called once; whatever is asked afterwards fails.
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
    /// Where what asks the store all the time is best done as a whole.
    package var threads: StoreThreads { readers.threads }

    var keychain: Keychain { keys.withLock { $0 } }

    func adopt(_ key: MasterKey) {
        keys.withLock { $0.add(key) }
    }

    /// For what is found at once.
    func reading<T: Sendable>(_ body: @Sendable (Database) throws -> T) async throws(StoreError) -> T {
        do {
            return try await withTaskExecutorPreference(readers.threads) { try readers.read(body) }
        } catch {
            throw StoreError(error)
        }
    }

    /// Beside those who ask for something short.
    func readingLong<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(StoreError) -> T {
        do { return try await pool.read(body) } catch { throw StoreError(error) }
    }

    /// - Parameter body: may run twice (`CommitQueue`).
    func writing<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(StoreError) -> T {
        try await commits.write(body)
    }
}
