internal import Foundation
internal import GRDB
internal import Identity
internal import Wire

/// The history of a user's calls, sealed with the user's key and kept as long as its sessions.
extension SessionStore {
    /// A page of a user's calls, the last ended first.
    ///
    /// - Parameter limit: 1 to `StoreLimits.linesPerPageMax`.
    /// - Throws: `notFound` if there is no such user.
    package func calls(
        of user: UserID, after cursor: TimeCursor? = nil, limit: Int = 50
    ) async throws(StoreError) -> CallLogPage {
        let keychain = keychain
        return try await reading { db in
            let key = try keychain.userKey(of: user, in: db)
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT ended_at, id, about FROM calls WHERE user_id = ? AND (ended_at, id) < (?, ?)
                    ORDER BY ended_at DESC, id DESC LIMIT ?
                    """,
                arguments: [user.text, cursor?.time.milliseconds ?? .max, cursor?.id ?? "", limit + 1])
            let entries = try rows.prefix(limit).map { row in
                try key.open(row[2], as: CallLogEntry.self, at: Self.callLocation(user, row[1], row[0]))
            }
            let last = entries.last.map { TimeCursor(time: $0.endedAt, id: $0.id.text) }
            return CallLogPage(entries: entries, next: rows.count > limit ? last : nil)
        }
    }

    static func callLocation(_ user: UserID, _ id: String, _ endedAt: Int64) -> String { "calls.about.\(user) \(id) \(endedAt)" }

    /// Adds a call to a user's history, unless the user has been deleted. The oldest entries beyond `StoreLimits.callsPerUserMax` are
    /// dropped.
    static func append(_ entry: CallLogEntry, of user: UserID, _ keychain: Keychain, in db: Database) throws {
        let key: SealingKey
        do {
            key = try keychain.userKey(of: user, in: db)
        } catch StoreError.notFound {
            return
        }
        let sealed = try key.seal(entry, at: callLocation(user, entry.id.text, entry.endedAt.milliseconds))
        try db.execute(
            sql: "INSERT OR REPLACE INTO calls (user_id, ended_at, id, about) VALUES (?, ?, ?, ?)",
            arguments: [user.text, entry.endedAt.milliseconds, entry.id.text, sealed])
        try db.execute(
            sql: """
                DELETE FROM calls WHERE user_id = ?1 AND (ended_at, id) <= (
                    SELECT ended_at, id FROM calls WHERE user_id = ?1 ORDER BY ended_at DESC, id DESC LIMIT 1 OFFSET ?2)
                """,
            arguments: [user.text, StoreLimits.callsPerUserMax])
    }
}
