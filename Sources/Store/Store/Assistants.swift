internal import Foundation
internal import Identity
package import Wire

/// The repository of definitions of assistants. They belong to the operator: ids are stored in the clear, the definitions encrypted.
package struct Assistants: Sendable {
    let database: any Database

    /// Adds a definition or replaces the one with its id.
    ///
    /// - Throws: `refused` beyond `StoreLimits.assistantsMax`.
    package func save(_ definition: AssistantDefinition, at now: WallTime) async throws(StoreError) {
        try await database.write { db in
            let sealed = try db.shared.seal(definition, at: Self.location(definition.id))
            let update = "UPDATE assistants SET definition = ?, updated_at = ? WHERE id = ?"
            if try db.execute(update, sealed, now, definition.id) == 1 { return }
            let count = try db.value(Int.self, "SELECT count(*) FROM assistants") ?? 0
            guard count < StoreLimits.assistantsMax else {
                throw StoreError.refused("The store has \(StoreLimits.assistantsMax) assistants; delete one first.")
            }
            try db.execute("INSERT INTO assistants VALUES (?, ?, ?)", definition.id, sealed, now)
        }
    }

    package func delete(_ id: String) async throws(StoreError) {
        try await database.delete { db in
            guard try db.execute("DELETE FROM assistants WHERE id = ?", id) == 1 else { throw StoreError.notFound }
        }
        database.eraseSoon()
    }

    /// All definitions, by id.
    package func list() async throws(StoreError) -> [AssistantDefinition] {
        try await database.read { db in
            try db.all("SELECT id, definition FROM assistants ORDER BY id").map { row in
                try db.shared.open(row[1], as: AssistantDefinition.self, at: Self.location(row[0]))
            }
        }
    }

    private static func location(_ id: String) -> String { "assistants.definition.\(id)" }

    static func verify(_ v: Verification) throws {
        try v.each("assistants", "SELECT id, definition FROM assistants") { row in
            _ = try v.db.shared.open(row[1], as: AssistantDefinition.self, at: location(row[0]))
        }
    }
}
