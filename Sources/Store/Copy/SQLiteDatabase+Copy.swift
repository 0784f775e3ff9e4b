internal import Foundation
internal import GRDB
internal import Glibc
internal import Identity

extension SQLiteDatabase {
    /// - Throws: `refused` if there is a store, or a file of an earlier one: SQLite would apply another store's log.
    static func checkVacant(directory: String) throws(StoreError) {
        for suffix in ["", "-wal", "-journal"] where FileManager.default.fileExists(atPath: directory + "/" + fileName + suffix) {
            throw .refused("There is a store in \(directory) already (\(fileName)\(suffix)); choose another directory.")
        }
    }

    /// Calls `body` with one snapshot of a store, while the directory is locked.
    static func reading<T>(
        directory: String, _ masterKeys: [MasterKey], _ body: (any CopyConnection, Keychain) throws -> T
    ) throws -> T {
        let path = directory + "/" + fileName
        guard FileManager.default.fileExists(atPath: path) else { throw StoreError.missing(directory: directory) }
        let lock = try DirectoryLock(directory: directory)
        defer { lock.release() }
        guard let found = try readUnchanged(path: path, masterKeys: masterKeys) else { throw StoreError.missing(directory: directory) }
        guard found.isCurrent else { throw StoreError.isOlder(directory) }
        var configuration = configuration
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.read { db in try body(db, found.keys) }
    }

    /// Creates a store with the content that `body` writes, under another name until it is complete and on disk. Triggers are disabled
    /// meanwhile.
    static func writing(directory: String, _ body: (any CopyConnection) throws -> Void) throws {
        try PrivateFiles.makeDirectory(directory)
        let lock = try DirectoryLock(directory: directory)
        defer { lock.release() }
        try checkVacant(directory: directory)
        let path = directory + "/" + fileName
        let unfinished = path + ".unfinished"
        // An interrupted copy may have left it.
        try removeUnfinished(unfinished)
        do {
            Glibc.close(try PrivateFiles.create(unfinished))
            try fill(unfinished, body)
            try flush(unfinished)
            guard rename(unfinished, path) == 0 else { throw StoreError.failed("\(path): \(String(cString: strerror(errno)))") }
            try flush(directory)
        } catch {
            try? removeUnfinished(unfinished)
            throw error
        }
    }

    private static func fill(_ path: String, _ body: (any CopyConnection) throws -> Void) throws {
        var configuration = configuration
        configuration.prepareDatabase { db in
            // `flush` makes the finished file durable; an unfinished one is never opened.
            try db.execute(sql: "PRAGMA synchronous = OFF; PRAGMA cache_size = -\(StoreLimits.copyCacheMax >> 10)")
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try migrator { _ in }.migrate(queue)
        try queue.write { db in
            // SQLite cannot disable triggers.
            let triggers = try GRDB.Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid")
            for trigger in triggers { try db.execute(sql: "DROP TRIGGER \(trigger[0] as String)") }
            try body(db)
            for trigger in triggers { try db.execute(sql: trigger[1]) }
        }
        try queue.close()
    }

    private static func removeUnfinished(_ path: String) throws {
        for file in [path, path + "-journal"] where FileManager.default.fileExists(atPath: file) {
            try FileManager.default.removeItem(atPath: file)
        }
    }

    /// Writes a file or directory to disk.
    private static func flush(_ path: String) throws {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        defer { Glibc.close(descriptor) }
        guard descriptor >= 0, fsync(descriptor) == 0 else { throw StoreError.full }
    }
}

extension StoreError {
    static func isOlder(_ store: String) -> StoreError {
        .refused("The store in \(store) was written by an earlier version; run `patchbay store migrate` first.")
    }
}

extension GRDB.Database: CopyConnection {
    func lastNumber(of table: String, _ column: String) throws -> Int64 {
        try one("SELECT seq FROM sqlite_sequence WHERE name = ?", [table])?[0] ?? 0
    }

    func setLastNumber(of table: String, _ column: String, to number: Int64) throws {
        _ = try execute("DELETE FROM sqlite_sequence WHERE name = ?", [table] as [any SQLValue])
        _ = try execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [table, number] as [any SQLValue])
    }
}
