internal import Foundation
internal import GRDB
internal import Identity
package import Wire

/// Definitions of assistants. They belong to the operator: ids are stored in the clear, the definitions encrypted.
extension SessionStore {
    /// Adds a definition or replaces the one with its id.
    ///
    /// - Throws: `refused` beyond `StoreLimits.assistantsMax`.
    package func save(_ definition: AssistantDefinition, at now: WallTime) async throws(StoreError) {
        try await writing { db in
            let sealed = try db.shared.seal(definition, at: Self.assistantLocation(definition.id))
            let update = "UPDATE assistants SET definition = ?, updated_at = ? WHERE id = ?"
            if try db.execute(update, sealed, now, definition.id) == 1 { return }
            let count = try db.value(Int.self, "SELECT count(*) FROM assistants") ?? 0
            guard count < StoreLimits.assistantsMax else {
                throw StoreError.refused("The store has \(StoreLimits.assistantsMax) assistants; delete one first.")
            }
            try db.execute("INSERT INTO assistants VALUES (?, ?, ?)", definition.id, sealed, now)
        }
    }

    /// - Throws: `notFound`.
    package func deleteAssistant(_ id: String) async throws(StoreError) {
        try await deleting { db in
            guard try db.execute("DELETE FROM assistants WHERE id = ?", id) == 1 else { throw StoreError.notFound }
        }
        log.emptySoon()
    }

    /// All definitions, by id.
    package func assistants() async throws(StoreError) -> [AssistantDefinition] {
        try await reading { db in
            try db.rows("SELECT id, definition FROM assistants ORDER BY id").map { row in
                try db.shared.open(row[1], as: AssistantDefinition.self, at: Self.assistantLocation(row[0]))
            }
        }
    }

    static func assistantLocation(_ id: String) -> String { "assistants.definition.\(id)" }
}
