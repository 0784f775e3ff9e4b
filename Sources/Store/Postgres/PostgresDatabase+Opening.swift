internal import Identity

extension PostgresDatabase {
    /// The key of the lock that keeps processes from migrating at the same time.
    private static let migrationLock: Int64 = 0x7061_7463_6862_6179
    private static let stepsTable = "schema_steps"

    /// Opens the store in a database. An owner or node creates or updates its schema.
    ///
    /// - Parameter steps: the migrations that this program knows.
    static func open(
        _ settings: PostgresSettings, masterKeys: [MasterKey], access: Store.Access, steps: [Schema.Step] = Schema.steps,
        observing observe: @escaping StoreObserver, reporting report: @escaping StoreOutageObserver = { _ in }
    ) throws(StoreError) -> PostgresDatabase {
        let pool = PostgresPool(settings) { report($0?.explanation) }
        do {
            let keychain = try pool.transaction(.migration, timeout: StoreLimits.longReadTimeout) { connection in
                if access != .beside { try migrate(connection, steps) { try Keychain.make(in: connection, with: masterKeys) } }
                guard try doneSteps(connection, steps).contains(steps[0].name) else {
                    throw StoreError.missing(directory: "the database")
                }
                return try Keychain.open(in: connection, with: masterKeys)
            }
            let heartbeat = access == .beside ? nil : try NodeHeartbeat(pool)
            if access == .owner { try heartbeat?.waitUntilAlone() }
            heartbeat?.start()
            return PostgresDatabase(pool, keychain, heartbeat: heartbeat, observing: observe)
        } catch {
            pool.close()
            throw explained(error)
        }
    }

    /// Reads the condition of a store without changing it.
    static func condition(
        _ settings: PostgresSettings, masterKeys: [MasterKey]
    ) throws(StoreError) -> (Store.Condition, version: String, latency: Duration) {
        let pool = PostgresPool(settings, size: 1)
        defer { pool.close() }
        do {
            return try pool.transaction(.read) { connection in
                let began = ContinuousClock.now
                let version: String = try connection.one("SHOW server_version", [])?[0] ?? ""
                let latency = began.duration(to: .now)
                let done = try doneSteps(connection)
                guard done.contains(Schema.steps[0].name) else { return (.missing, version, latency) }
                _ = try Keychain.open(in: connection, with: masterKeys)
                return (done.isSuperset(of: Schema.steps.map(\.name)) ? .current : .older, version, latency)
            }
        } catch {
            throw explained(error)
        }
    }

    /// Updates the schema of an existing store, unless `isDryRun`.
    static func migrate(_ settings: PostgresSettings, masterKeys: [MasterKey], isDryRun: Bool) throws(StoreError) -> MigrationReport {
        let pool = PostgresPool(settings, size: 1)
        defer { pool.close() }
        do {
            return try pool.transaction(isDryRun ? .read : .migration, timeout: StoreLimits.longReadTimeout) { connection in
                let done = try doneSteps(connection)
                guard done.contains(Schema.steps[0].name) else { throw StoreError.missing(directory: "the database") }
                _ = try Keychain.open(in: connection, with: masterKeys)
                if !isDryRun { try migrate(connection) {} }
                return MigrationReport(done: done)
            }
        } catch {
            throw explained(error)
        }
    }

    /// Converts an error of opening a store. It keeps the reason why the server cannot be reached, which operators need at start-up.
    static func explained(_ error: any Error) -> StoreError {
        guard let error = error as? PostgresError, error.kind == .unreachable else { return StoreError(error) }
        return .failed(error.explanation)
    }

    /// Runs the pending steps, after other processes that are migrating the database.
    ///
    /// - Parameter fill: runs after the first step.
    static func migrate(_ connection: PostgresConnection, _ steps: [Schema.Step] = Schema.steps, fill: () throws -> Void) throws {
        try lockMigrations(connection)
        try connection.run("CREATE TABLE IF NOT EXISTS \(stepsTable) (name text PRIMARY KEY)")
        try addExpansions(connection)
        let done = try doneSteps(connection, steps)
        for (index, step) in steps.enumerated() where !done.contains(step.name) {
            try connection.run(PostgresDialect.definition(step.sql))
            if index == 0 { try fill() }
            _ = try connection.execute(
                "INSERT INTO \(stepsTable) (name, is_expansion) VALUES (?, ?)", [step.name, step.isExpansion])
        }
    }

    /// Keeps other processes from migrating the database and from copying a store into it, until the transaction ends.
    static func lockMigrations(_ connection: PostgresConnection) throws {
        _ = try connection.all("SELECT pg_advisory_xact_lock(?)::text", [migrationLock])
    }

    /// Adds the column `is_expansion`, which is 0 for existing steps. Skipped if the column exists, because `ALTER TABLE` waits for a running
    /// `pg_dump` even if it changes nothing.
    private static func addExpansions(_ connection: PostgresConnection) throws {
        let column = "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass(?) AND attname = 'is_expansion' AND NOT attisdropped"
        guard try connection.one(column, [stepsTable]) == nil else { return }
        try connection.run("ALTER TABLE \(stepsTable) ADD COLUMN IF NOT EXISTS is_expansion bigint NOT NULL DEFAULT 0")
    }

    /// All steps of the store, including expansions that this program does not know. Empty if there is no store.
    ///
    /// - Throws: `fromTheFuture` if there is an unknown step that is not an expansion.
    static func doneSteps(_ connection: PostgresConnection, _ steps: [Schema.Step] = Schema.steps) throws -> Set<String> {
        guard try connection.one("SELECT 1 WHERE to_regclass(?) IS NOT NULL", [stepsTable]) != nil else { return [] }
        // Read as JSON, because the column is missing until an owner adds it.
        let rows = try connection.all(
            "SELECT name, coalesce((to_jsonb(s) ->> 'is_expansion')::bigint, 0) FROM \(stepsTable) s", [])
        let known = Set(steps.map(\.name))
        return try Set(
            rows.map { row in
                let (name, isExpansion): (String, Bool) = (try row[0], try row[1])
                guard known.contains(name) || isExpansion else { throw StoreError.fromTheFuture }
                return name
            })
    }
}
