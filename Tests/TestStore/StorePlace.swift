internal import Foundation
package import Identity
package import Store
internal import TestProcesses

/// The place of a test's store: a directory or, with `PATCHBAY_TEST_STORE=postgres` in the environment, a PostgreSQL database.
///
/// `Codable`, so that another process can open the same store.
package struct StorePlace: Sendable, Codable {
    package static let isOnSQLite = ProcessInfo.processInfo.environment["PATCHBAY_TEST_STORE"] != "postgres"

    /// Of SQLite's files; unused otherwise.
    package let directory: String
    /// The connection string of the database; nil on SQLite.
    package let target: String?

    package init(directory: String) throws {
        self.directory = directory
        target = Self.isOnSQLite ? nil : try PostgresServer.shared().makeDatabase()
    }

    /// Nil on SQLite.
    package var database: PostgresSettings? {
        target.map { target in
            var settings = PostgresSettings(target: target)
            settings.ownerTimeout = .seconds(1)
            return settings
        }
    }

    /// - Parameter sizeMax: on SQLite, the maximum size of the store in bytes.
    package func open(
        masterKeys: [MasterKey], access: Store.Access = .owner, passwordCost: PasswordHash.Cost = .standard, sizeMax: Int? = nil,
        observing observe: @escaping StoreObserver = { _, _, _ in }
    ) throws(StoreError) -> Store {
        guard let database else {
            return try Store(
                directory: directory, masterKeys: masterKeys, access: access, passwordCost: passwordCost, sizeMax: sizeMax,
                observing: observe)
        }
        return try Store(postgres: database, masterKeys: masterKeys, access: access, passwordCost: passwordCost, observing: observe)
    }

    /// Whether any file of the directory, or a dump of the database, contains these bytes.
    package func holds(_ bytes: [UInt8]) throws -> Bool {
        if let target {
            let dump = Data(try PostgresDump(of: target).text.utf8)
            // Bytes are in a dump as hexadecimal digits.
            let digits = bytes.map { (($0 < 16 ? "0" : "") + String($0, radix: 16)) }.joined()
            if dump.range(of: Data(bytes)) != nil || dump.range(of: Data(digits.utf8)) != nil { return true }
        }
        let files = FileManager.default
        // Beside a database there are only recordings, if any.
        let paths = target == nil ? try files.subpathsOfDirectory(atPath: directory) : files.subpaths(atPath: directory) ?? []
        return paths.contains { path in
            // Nil for directories and files deleted meanwhile.
            files.contents(atPath: directory + "/" + path)?.range(of: Data(bytes)) != nil
        }
    }
}

/// The content of a database as `pg_dump` writes it.
package struct PostgresDump: Sendable {
    package let text: String

    /// Dumps the database of a connection string.
    package init(of target: String) throws {
        text = try Self.withFile { path in
            try Self.client("pg_dump", "--file", path, "--dbname", target)
            // Without the random tokens of the first and last lines.
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
            return lines.filter { !$0.hasPrefix("\\restrict") && !$0.hasPrefix("\\unrestrict") }.joined(separator: "\n")
        }
    }

    /// Runs the dump in an empty database.
    package func restore(to target: String) throws {
        try Self.withFile { path in
            try Data(text.utf8).write(to: URL(filePath: path))
            try Self.client("psql", "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", "--file", path, "--dbname", target)
        }
    }

    private static func withFile<T>(_ body: (String) throws -> T) throws -> T {
        let path = "/tmp/pb-\(UUID().uuidString.prefix(13)).sql"
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }

    private static func client(_ program: String, _ arguments: String...) throws {
        try Lifeline.run([(PostgresServer.programs ?? "") + "/" + program] + arguments)
    }
}
