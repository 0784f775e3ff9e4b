internal import Foundation
internal import Identity
internal import Synchronization

/// A store in a PostgreSQL database, which several processes may use.
///
/// Writes are serializable: a body that has seen what another transaction changed meanwhile runs again. Reads are of one snapshot. Deleted
/// rows remain in the engine's files, sealed, until PostgreSQL reuses their space; the tables of keys are vacuumed at once.
final class PostgresDatabase: Database {
    let observe: StoreObserver
    let node: NodeID
    private let pool: PostgresPool
    private let keys: Mutex<Keychain>
    private let writes = Mutex(0)
    /// Nil for a process that does not own the store.
    private let heartbeat: NodeHeartbeat?

    /// - Parameter pool: of a database with the current schema.
    init(_ pool: PostgresPool, _ keychain: Keychain, heartbeat: NodeHeartbeat?, observing observe: @escaping StoreObserver) {
        self.pool = pool
        self.heartbeat = heartbeat
        node = heartbeat?.node ?? NodeID()
        self.observe = observe
        keys = Mutex(keychain)
    }

    var threads: StoreThreads { pool.threads }
    var keychain: Keychain { keys.withLock { $0 } }

    func adopt(_ key: MasterKey) { keys.withLock { $0.add(key) } }

    func close() {
        heartbeat?.stop()
        pool.close()
    }

    // MARK: Transactions

    func read<T: Sendable>(_ body: @Sendable (Transaction) throws -> T) async throws(StoreError) -> T {
        try await run(.read, .read, body)
    }

    func readLong<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) async throws(StoreError) -> T {
        try await run(.longRead, .read, timeout: StoreLimits.longReadTimeout, body)
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) async throws(StoreError) -> T {
        let isAccepted = writes.withLock { count in
            guard count < StoreLimits.writesWaitingMax else { return false }
            count += 1
            return true
        }
        guard isAccepted else { throw .busy }
        defer { writes.withLock { $0 -= 1 } }
        return try await run(.write, .write, body)
    }

    func delete<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) async throws(StoreError) -> T {
        try await write(body)
    }

    private func run<T: Sendable>(
        _ operation: StoreOperation, _ mode: PostgresPool.Mode, timeout: Duration? = nil, _ body: @Sendable (Transaction) throws -> T
    ) async throws(StoreError) -> T {
        let keychain = keychain
        return try await observed(operation) {
            try await withTaskExecutorPreference(pool.threads) {
                try pool.transaction(mode, timeout: timeout) { connection in
                    try body(Transaction(connection: connection, keychain: keychain))
                }
            }
        }
    }

    // MARK: Space

    /// Does nothing: PostgreSQL vacuums tables by itself. `compact()` vacuums the keys.
    func eraseSoon() {}

    func compact() async throws(StoreError) {
        do {
            _ = try await withTaskExecutorPreference(pool.threads) {
                try pool.with { connection in try connection.run("VACUUM user_keys, store_keys") }
            }
        } catch {
            throw StoreError(error)
        }
    }

    func compactUnlessRead() async throws(StoreError) {
        do { try await compact() } catch .busy {} catch .full {}
    }

    func copy<T: Sendable>(to path: String, reading body: @escaping @Sendable (Transaction) throws -> T) async throws -> T {
        throw StoreError.refused("This store is in PostgreSQL; back it up with `pg_dump`.")
    }
}
