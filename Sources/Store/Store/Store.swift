internal import Foundation
package import Identity

/// Persistent storage of users and their conversations, in one SQLite file or a PostgreSQL database, with everything users said, wrote or
/// are called encrypted (`Keychain`). Each subject has a repository, which owns its tables; a service receives the repositories that it
/// needs.
///
/// **Durability**: a function that writes returns after its commit is on disk. **Isolation**: functions take the user whose data they
/// access, and throw `notFound` for a record that does not exist and for another user's. **Deletion**: in a file, deleted bytes are
/// overwritten with zeros, and the write-ahead log is truncated; PostgreSQL keeps deleted bytes, which are encrypted, until it reuses their
/// space. Time is an argument.
///
/// One process owns a store. Others may open it with `Access.beside`, as the command line does while the gateway runs.
package final class Store: Sendable {
    package enum Access: Sendable {
        /// Creates or migrates the store. Other owners are locked out.
        case owner
        /// Like `owner`, but several processes may have this access at the same time. In a directory, the same as `owner`.
        case node
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
    let database: any Database

    /// - Parameters:
    ///   - masterKeys: at least one; must include the key that the store is locked with. A new store is locked with the first.
    ///   - passwordCost: the scrypt parameters of new password hashes.
    ///   - sizeMax: maximum size of the database in bytes; writes beyond it throw `full`. Nil: limited by the disk only.
    ///   - observe: called after each operation, on any thread.
    /// - Throws: before anything is modified: `alreadyOpen`, `wrongMasterKey`, `missing`, `fromTheFuture`; later: `damaged`, `full`,
    ///   `failed`.
    package convenience init(
        directory: String, masterKeys: [MasterKey], access: Access = .owner, passwordCost: PasswordHash.Cost = .standard,
        sizeMax: Int? = nil, observing observe: @escaping StoreObserver = { _, _, _ in }
    ) throws(StoreError) {
        precondition(!masterKeys.isEmpty, "a store needs a master key")
        let database = try SQLiteDatabase.open(
            directory: directory, masterKeys: masterKeys, access: access, sizeMax: sizeMax, observing: observe)
        self.init(database, passwordCost: passwordCost)
        // The previous owner may have ended right after a deletion.
        if access != .beside { database.eraseSoon() }
    }

    /// Opens a store in PostgreSQL.
    ///
    /// - Parameter report: called about outages of the server after the store has been opened.
    /// - Throws: `wrongMasterKey`, `missing`, `fromTheFuture`, `alreadyOpen` after 15 seconds; `failed` with the reason if the server cannot
    ///   be reached.
    package convenience init(
        postgres settings: PostgresSettings, masterKeys: [MasterKey], access: Access = .owner, passwordCost: PasswordHash.Cost = .standard,
        observing observe: @escaping StoreObserver = { _, _, _ in }, reporting report: @escaping StoreOutageObserver = { _ in }
    ) throws(StoreError) {
        precondition(!masterKeys.isEmpty, "a store needs a master key")
        self.init(
            try PostgresDatabase.open(settings, masterKeys: masterKeys, access: access, observing: observe, reporting: report),
            passwordCost: passwordCost)
    }

    private init(_ database: any Database, passwordCost: PasswordHash.Cost) {
        self.database = database
        accounts = Accounts(database: database, passwords: PasswordHasher(cost: passwordCost))
        sessions = Sessions(database: database)
        conversations = Conversations(database: database)
        calls = Calls(database: database)
        webhooks = Webhooks(database: database)
        clips = Clips(database: database)
        assistants = Assistants(database: database)
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
        try SQLiteDatabase.condition(directory: directory, masterKeys: masterKeys)
    }

    /// The condition of a store in PostgreSQL, the server's version, and the duration of a request to it.
    ///
    /// - Throws: `wrongMasterKey`, `fromTheFuture`, `damaged`; `failed` with the reason if the server cannot be reached.
    package static func condition(
        postgres settings: PostgresSettings, masterKeys: [MasterKey]
    ) throws(StoreError) -> (Condition, version: String, latency: Duration) {
        try PostgresDatabase.condition(settings, masterKeys: masterKeys)
    }

    /// Reads from the database.
    ///
    /// - Throws: `unreachable` if its server does not answer. Otherwise as any read.
    package func check() async throws(StoreError) { _ = try await database.read { try $0.has("SELECT 1") } }

    /// The key that signs users' access tokens. It belongs to the store, so tokens survive restarts and end with the store.
    package var userTokenKey: SealingKey { database.keychain.shared.derived(for: "user tokens") }

    /// Waits for running operations and closes the database. Call once; later operations fail.
    package func close() throws(StoreError) {
        do { try database.close() } catch { throw StoreError(error) }
    }
}
