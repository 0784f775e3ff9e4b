internal import Foundation
internal import GRDB
internal import Glibc
package import Identity

/// Persistent storage of users and their conversations: one SQLite file, with everything users said, wrote or are called encrypted
/// (`Keychain`). Each subject has a repository, which owns its tables; a service receives the repositories that it needs.
///
/// **Durability**: a function that writes returns after its commit is on disk. **Isolation**: functions take the user whose data they
/// access, and throw `notFound` for a record that does not exist and for another user's. **Deletion**: deleted bytes are overwritten with
/// zeros, and the write-ahead log is truncated. Time is an argument.
///
/// One process owns a store. Others may open it with `Access.beside`, as the command line does while the gateway runs.
package final class Store: Sendable {
    package enum Access: Sendable {
        /// Creates or migrates the store and locks its directory against other owners.
        case owner
        /// Reads and writes an existing store, next to its owner.
        case beside
    }

    package let accounts: Accounts
    package let sessions: Sessions
    package let conversations: Conversations
    package let calls: Calls
    package let webhooks: Webhooks
    package let clips: Clips
    package let assistants: Assistants
    let database: Database
    private let lock: DirectoryLock?

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

            let pool = try DatabasePool(path: path, configuration: Database.configuration)
            if access == .owner {
                try DatabaseSchema.migrator { db in _ = try Keychain.make(in: db, with: masterKeys) }.migrate(pool)
                try pool.write(DatabaseSchema.releaseLeases)
            }
            database = try Database(
                pool, try pool.read { db in try Keychain.open(in: db, with: masterKeys) },
                reserve: access == .owner ? DeletionReserve(directory: directory) : nil, sizeMax: sizeMax, observing: observe)
        } catch {
            throw StoreError(error).naming(path)
        }
        accounts = Accounts(database: database, passwords: PasswordHasher(cost: passwordCost))
        sessions = Sessions(database: database)
        conversations = Conversations(database: database)
        calls = Calls(database: database)
        webhooks = Webhooks(database: database)
        clips = Clips(database: database)
        assistants = Assistants(database: database)
        // The previous owner may have ended right after a deletion.
        if access == .owner { database.eraseSoon() }
    }

    static let fileName = "patchbay.sqlite"

    /// Reads the store at `path` without writing anything; nil if there is none.
    private static func readUnchanged(path: String, masterKeys: [MasterKey]) throws -> (keys: Keychain, isCurrent: Bool)? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        var configuration = Database.configuration
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

    /// The key that signs users' access tokens. It belongs to the store, so tokens survive restarts and end with the store.
    package var userTokenKey: SealingKey { database.keychain.shared.derived(for: "user tokens") }

    /// Waits for running operations and closes the files. Call once; later operations fail.
    package func close() throws(StoreError) {
        do { try database.close() } catch { throw StoreError(error) }
        lock?.release()
    }
}
