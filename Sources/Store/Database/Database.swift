internal import Foundation
internal import Identity

/// The seam between the repositories and an engine. Nothing else of the engine is visible to repositories.
///
/// The body of a write may run twice, and changes nothing but the database: what else a change causes follows when the function has
/// returned, that is when its commit is on disk.
protocol Database: AnyObject, Sendable {
    var keychain: Keychain { get }
    /// Identifies this process as the holder of leases.
    var node: NodeID { get }
    /// The executor of short reads.
    var threads: StoreThreads { get }
    /// Called after each operation, on any thread.
    var observe: StoreObserver { get }

    func adopt(_ key: MasterKey)

    /// For short reads.
    func read<T: Sendable>(_ body: @Sendable (Transaction) throws -> T) async throws(StoreError) -> T
    /// For long reads, which must not delay short ones.
    func readLong<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) async throws(StoreError) -> T
    @discardableResult
    func write<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) async throws(StoreError) -> T
    /// For writes that free space or revoke something: they have a reserve in a full store.
    @discardableResult
    func delete<T: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> T) async throws(StoreError) -> T

    /// Removes what was deleted from the engine's files within seconds, as far as the engine can.
    func eraseSoon()
    /// Removes it now. Writes continue in between.
    ///
    /// - Throws: `busy` if a long read blocks it.
    func compact() async throws(StoreError)
    /// Compacts after a deletion, unless a long read or a full disk prevents it: what remains goes with the next compaction.
    func compactUnlessRead() async throws(StoreError)

    /// Copies the database to an empty file while other operations continue.
    ///
    /// - Returns: what `body` reads in the copy.
    func copy<T: Sendable>(to path: String, reading body: @escaping @Sendable (Transaction) throws -> T) async throws -> T

    /// Waits for running operations. Later operations fail.
    func close() throws
}

extension Database {
    /// Repeats a deletion until it finds nothing more, with a commit for each step, so that other writes do not wait for all of them.
    ///
    /// - Parameters:
    ///   - limit: the number of rows in a step. If they are too much for a full disk, rows are deleted one by one.
    ///   - deletion: a statement whose last argument is the number of rows that it deletes at most.
    /// - Returns: the number of deleted rows.
    @discardableResult
    func deleteInSteps(of limit: Int, _ deletion: String, _ values: any SQLValue...) async throws(StoreError) -> Int {
        var (limit, count) = (limit, 0)
        while true {
            let deleted: Int
            do throws(StoreError) {
                let step = values + [limit]
                deleted = try await delete { db in try db.execute(deletion, with: step) }
            } catch .full where limit > 1 {
                limit = 1
                continue
            }
            guard deleted > 0 else { return count }
            count += deleted
        }
    }

    /// Runs an operation and reports its duration and error to `observe`.
    func observed<T>(_ operation: StoreOperation, _ body: () async throws -> T) async throws(StoreError) -> T {
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

/// Called on any thread: with the reason when the database server can no longer be reached and when the reason changes, and with nil when it
/// can be reached again.
package typealias StoreOutageObserver = @Sendable (String?) -> Void
