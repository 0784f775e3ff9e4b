package import Identity

/// The location of a store.
package enum StoreLocation: Sendable {
    /// In a file of this directory.
    case directory(String)
    /// In a PostgreSQL database.
    case database(PostgresSettings)

    /// For messages, without a password.
    package var name: String {
        switch self {
        case .directory(let path): path
        case .database(let settings): settings.name
        }
    }
}

extension Store {
    /// Updates the schema of an existing store, as opening it as owner does.
    ///
    /// - Parameter isDryRun: whether to change nothing; then a gateway may use the store meanwhile.
    /// - Throws: `missing`, `alreadyOpen`, `wrongMasterKey`, `fromTheFuture`; `damaged`, `full`, `failed`.
    package static func migrate(
        _ location: StoreLocation, masterKeys: [MasterKey], isDryRun: Bool = false
    ) throws(StoreError) -> MigrationReport {
        switch location {
        case .directory(let path): try SQLiteDatabase.migrate(directory: path, masterKeys: masterKeys, isDryRun: isDryRun)
        case .database(let settings): try PostgresDatabase.migrate(settings, masterKeys: masterKeys, isDryRun: isDryRun)
        }
    }
}

/// The migrations of a store, in their order.
package struct MigrationReport: Sendable, Hashable, Codable {
    package struct Step: Sendable, Hashable, Codable {
        package var name: String
        /// Whether gateways without this step may still use the store.
        package var isExpansion: Bool
    }

    /// Steps that were applied before.
    package var done: [Step]
    /// Steps that this migration has applied or, in a dry run, would apply.
    package var pending: [Step]

    init(done names: Set<String>) {
        let steps = Schema.steps.map { (isDone: names.contains($0.name), step: Step(name: $0.name, isExpansion: $0.isExpansion)) }
        done = steps.filter(\.isDone).map(\.step)
        pending = steps.filter { !$0.isDone }.map(\.step)
    }
}
