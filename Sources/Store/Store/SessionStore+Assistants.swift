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
        let keychain = keychain
        try await writing { db in
            let sealed = try keychain.shared.seal(definition, at: Self.assistantLocation(definition.id))
            try db.execute(
                sql: "UPDATE assistants SET definition = ?, updated_at = ? WHERE id = ?",
                arguments: [sealed, now.milliseconds, definition.id])
            if db.changesCount == 1 { return }
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM assistants") ?? 0
            guard count < StoreLimits.assistantsMax else {
                throw StoreError.refused("The store has \(StoreLimits.assistantsMax) assistants; delete one first.")
            }
            try db.execute(sql: "INSERT INTO assistants VALUES (?, ?, ?)", arguments: [definition.id, sealed, now.milliseconds])
        }
    }

    /// - Throws: `notFound`.
    package func deleteAssistant(_ id: String) async throws(StoreError) {
        try await writing { db in
            try db.execute(sql: "DELETE FROM assistants WHERE id = ?", arguments: [id])
            guard db.changesCount == 1 else { throw StoreError.notFound }
        }
        log.emptySoon()
    }

    /// All definitions, by id.
    package func assistants() async throws(StoreError) -> [AssistantDefinition] {
        let keychain = keychain
        return try await reading { db in
            try Row.fetchAll(db, sql: "SELECT id, definition FROM assistants ORDER BY id").map { row in
                try keychain.shared.open(row[1], as: AssistantDefinition.self, at: Self.assistantLocation(row[0]))
            }
        }
    }

    static func assistantLocation(_ id: String) -> String { "assistants.definition.\(id)" }
}
