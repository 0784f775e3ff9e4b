internal import Foundation
internal import GRDB
internal import Glibc
internal import Identity

extension SQLiteDatabase {
    static let fileName = "patchbay.sqlite"

    /// Opens the store in a directory; see `Store.init(directory:)`.
    static func open(
        directory: String, masterKeys: [MasterKey], access: Store.Access, sizeMax: Int?, observing observe: @escaping StoreObserver
    ) throws(StoreError) -> SQLiteDatabase {
        let path = directory + "/" + fileName
        do {
            let lock = access != .beside ? try lock(directory, path) : nil
            let known = try readUnchanged(path: path, masterKeys: masterKeys)
            guard known != nil || access != .beside else { throw StoreError.missing(directory: directory) }
            // SQLite's other files get the mode of this one.
            if !FileManager.default.fileExists(atPath: path) { Glibc.close(try PrivateFiles.create(path)) }

            let pool = try DatabasePool(path: path, configuration: configuration)
            if access != .beside {
                try migrator { db in try Keychain.make(in: db, with: masterKeys) }.migrate(pool)
                // The directory is locked, so the processes that took leases are dead.
                try pool.write { db in try Nodes.releaseAll(in: db) }
            }
            return try SQLiteDatabase(
                pool, try pool.read { db in try Keychain.open(in: db, with: masterKeys) }, lock: lock,
                reserve: access != .beside ? DeletionReserve(directory: directory) : nil, sizeMax: sizeMax, observing: observe)
        } catch {
            throw StoreError(error).naming(path)
        }
    }

    private static func lock(_ directory: String, _ path: String) throws -> DirectoryLock {
        try PrivateFiles.makeDirectory(directory)
        let lock = try DirectoryLock(directory: directory)
        try PrivateFiles.restrict(["", "-wal", "-shm", "-journal"].map { path + $0 })
        return lock
    }

    /// Tests whether the store could be opened as owner. Creates and changes nothing.
    static func condition(directory: String, masterKeys: [MasterKey]) throws(StoreError) -> Store.Condition {
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

    /// Updates the schema of an existing store, unless `isDryRun`.
    static func migrate(directory: String, masterKeys: [MasterKey], isDryRun: Bool) throws(StoreError) -> MigrationReport {
        let path = directory + "/" + fileName
        do {
            guard FileManager.default.fileExists(atPath: path) else { throw StoreError.missing(directory: directory) }
            let lock = isDryRun ? nil : try lock(directory, path)
            defer { lock?.release() }
            guard let found = try readUnchanged(path: path, masterKeys: masterKeys) else {
                throw StoreError.missing(directory: directory)
            }
            if !isDryRun {
                let queue = try DatabaseQueue(path: path, configuration: configuration)
                try migrator { _ in }.migrate(queue)
                try queue.close()
            }
            return MigrationReport(done: found.steps)
        } catch {
            throw StoreError(error).naming(path)
        }
    }

    /// Reads the store at `path` without writing anything; nil if there is none.
    static func readUnchanged(
        path: String, masterKeys: [MasterKey]
    ) throws -> (keys: Keychain, steps: Set<String>, isCurrent: Bool)? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        var configuration = configuration
        configuration.readonly = true
        return try DatabaseQueue(path: path, configuration: configuration).read { db in
            guard try db.tableExists("store_keys") else { return nil }
            let migrator = migrator { _ in }
            guard try !migrator.hasBeenSuperseded(db) else { throw StoreError.fromTheFuture }
            let steps = try migrator.appliedIdentifiers(db)
            return (try Keychain.open(in: db, with: masterKeys), steps, try migrator.hasCompletedMigrations(db))
        }
    }

    /// - Parameter fill: runs once, in the transaction that creates the tables.
    static func migrator(fill: @escaping @Sendable (GRDB.Database) throws -> Void) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for (index, step) in Schema.steps.enumerated() {
            migrator.registerMigration(step.name) { db in
                try db.execute(sql: step.sql)
                if index == 0 { try fill(db) }
            }
        }
        return migrator
    }
}
