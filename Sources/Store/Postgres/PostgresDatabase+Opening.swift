internal import Identity

extension PostgresDatabase {
    /// The key of the lock that keeps processes from migrating at the same time.
    private static let migrationLock: Int64 = 0x7061_7463_6862_6179
    private static let steps = "schema_steps"

    /// Opens the store in a database. An owner or node creates or updates its schema.
    static func open(
        _ settings: PostgresSettings, masterKeys: [MasterKey], access: Store.Access, observing observe: @escaping StoreObserver
    ) throws(StoreError) -> PostgresDatabase {
        let pool = PostgresPool(settings)
        do {
            let keychain = try pool.transaction(.migration, timeout: StoreLimits.longReadTimeout) { connection in
                if access != .beside { try migrate(connection, masterKeys) }
                guard try doneSteps(connection).contains(Schema.steps[0].name) else { throw StoreError.missing(directory: "the database") }
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
                return (done.count == Schema.steps.count ? .current : .older, version, latency)
            }
        } catch {
            throw explained(error)
        }
    }

    /// Converts an error of opening a store. It keeps the reason why the server cannot be reached, which operators need at start-up.
    private static func explained(_ error: any Error) -> StoreError {
        guard let error = error as? PostgresError, error.kind == .unreachable else { return StoreError(error) }
        return .failed(error.description)
    }

    private static func migrate(_ connection: PostgresConnection, _ masterKeys: [MasterKey]) throws {
        _ = try connection.all("SELECT pg_advisory_xact_lock(?)::text", [migrationLock])
        try connection.run("CREATE TABLE IF NOT EXISTS \(steps) (name text PRIMARY KEY)")
        let done = try doneSteps(connection)
        for (index, step) in Schema.steps.enumerated() where !done.contains(step.name) {
            try connection.run(PostgresDialect.definition(step.sql))
            if index == 0 { try Keychain.make(in: connection, with: masterKeys) }
            _ = try connection.execute("INSERT INTO \(steps) VALUES (?)", [step.name])
        }
    }

    /// Empty if there is no store.
    ///
    /// - Throws: `fromTheFuture` if this program does not know all of them.
    private static func doneSteps(_ connection: PostgresConnection) throws -> Set<String> {
        guard try connection.one("SELECT 1 WHERE to_regclass(?) IS NOT NULL", [steps]) != nil else { return [] }
        let done = Set(try connection.all("SELECT name FROM \(steps)", []).map { try $0[0] as String })
        guard done.isSubset(of: Schema.steps.map(\.name)) else { throw StoreError.fromTheFuture }
        return done
    }
}
