internal import Identity

extension PostgresDatabase {
    /// - Throws: `refused` if there is a store.
    static func checkVacant(_ settings: PostgresSettings) throws {
        try inTransaction(settings, "READ ONLY") { connection in try checkVacant(connection, settings) }
    }

    private static func checkVacant(_ connection: PostgresConnection, _ settings: PostgresSettings) throws {
        let isVacant: Bool
        do { isVacant = try doneSteps(connection).isEmpty } catch StoreError.fromTheFuture { isVacant = false }
        guard isVacant else { throw StoreError.refused("There is a store in \(settings.name) already; choose another database.") }
    }

    /// Calls `body` with one snapshot of a store, while gateways are kept out.
    static func reading<T>(
        _ settings: PostgresSettings, _ masterKeys: [MasterKey], _ body: (any CopyConnection, Keychain) throws -> T
    ) throws -> T {
        let keychain = try inTransaction(settings, "READ ONLY") { connection in
            let (done, known) = (try doneSteps(connection), Set(Schema.steps.map(\.name)))
            guard done.contains(Schema.steps[0].name) else { throw StoreError.missing(directory: settings.name) }
            let keychain = try Keychain.open(in: connection, with: masterKeys)
            guard done.isSuperset(of: known) else { throw StoreError.isOlder(settings.name) }
            // This program would not copy the rows of an expansion that it does not know.
            guard done == known else { throw StoreError.fromTheFuture }
            return keychain
        }
        let pool = PostgresPool(settings, size: 2)
        defer { pool.close() }
        let owner = try NodeHeartbeat(pool)
        defer { owner.stop() }
        try owner.waitUntilAlone()
        owner.start()
        return try inTransaction(settings, "ISOLATION LEVEL REPEATABLE READ READ ONLY") { connection in try body(connection, keychain) }
    }

    /// Creates a store with the content that `body` writes, in one transaction. Triggers are disabled meanwhile.
    static func writing(_ settings: PostgresSettings, _ catalogue: Catalogue, _ body: (any CopyConnection) throws -> Void) throws {
        let tables = catalogue.tables.map(\.name)
        try inTransaction(settings, "ISOLATION LEVEL READ COMMITTED READ WRITE") { connection in
            try lockMigrations(connection)
            try checkVacant(connection, settings)
            try migrate(connection) {}
            for table in tables { try connection.run("ALTER TABLE \(table) DISABLE TRIGGER USER") }
            try body(connection)
            for table in tables { try connection.run("ALTER TABLE \(table) ENABLE TRIGGER USER") }
        }
        // Failures are ignored, because autovacuum collects the planner's statistics as well.
        let connection = try? PostgresConnection(settings)
        _ = try? connection?.run("ANALYZE " + tables.joined(separator: ", "))
    }

    /// Runs `body` once, on a connection of its own.
    private static func inTransaction<T>(_ settings: PostgresSettings, _ mode: String, _ body: (PostgresConnection) throws -> T) throws -> T
    {
        let connection = try PostgresConnection(settings)
        // Rolls back an uncommitted transaction.
        defer { connection.close() }
        connection.statementTimeout = StoreLimits.longReadTimeout
        // This transaction is idle while the other side of the copy works.
        try connection.run(
            """
            BEGIN \(mode); SET LOCAL statement_timeout = \(StoreLimits.longReadTimeout.milliseconds);
            SET LOCAL idle_in_transaction_session_timeout = 0
            """)
        let result = try body(connection)
        guard try connection.run("COMMIT") == "COMMIT" else { throw PostgresError(.other, "the transaction was rolled back") }
        return result
    }
}

extension PostgresConnection: CopyConnection {
    func lastNumber(of table: String, _ column: String) throws -> Int64 {
        let sequence = "pg_get_serial_sequence(?, ?)::regclass"
        return try one("SELECT coalesce(pg_sequence_last_value(\(sequence)), 0)", [table, column])?[0] ?? 0
    }

    func setLastNumber(of table: String, _ column: String, to number: Int64) throws {
        _ = try one("SELECT setval(pg_get_serial_sequence(?, ?)::regclass, ?)", [table, column, number])
    }
}
