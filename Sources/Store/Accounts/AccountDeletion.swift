internal import Foundation
internal import Wire

/// The deletion of accounts, and of what has expired.
extension Accounts {
    /// Deletes a user with all data. The key is deleted first, in its own commit, which makes everything unreadable; the rest follows in
    /// small transactions. `Store.expire(at:)` resumes an interrupted deletion. At the end no byte remains (but see
    /// `Database.compactUnlessRead()`).
    package func deleteUser(_ id: UserID) async throws(StoreError) {
        let unused = Data(randomBytes(32))
        try await database.delete { db in
            guard try db.execute("DELETE FROM user_keys WHERE user_id = ?", id) == 1 else { throw StoreError.notFound }
            // Frees the address and the handle.
            try db.execute("UPDATE users SET lookup = ?, profile = ?, password = NULL, handle = NULL WHERE id = ?", unused, Data(), id)
            try db.execute("DELETE FROM refresh_families WHERE user_id = ?", id)
            try db.execute("DELETE FROM account_codes WHERE user_id = ?", id)
            // Clips are encrypted with the store's key, so they do not become unreadable with the user's.
            try Clips.forgetAll(of: id, in: db)
        }
        try await deleteRemainingRows(of: id)
        try await database.compactUnlessRead()
    }

    /// Deletes users whose deletion was interrupted.
    func finishDeletions() async throws(StoreError) {
        let ids = try await database.read { db in
            try db.values(UserID.self, "SELECT id FROM users WHERE NOT EXISTS (SELECT 1 FROM user_keys k WHERE k.user_id = users.id)")
        }
        for id in ids { try await deleteRemainingRows(of: id) }
    }

    private func deleteRemainingRows(of id: UserID) async throws(StoreError) {
        try await Sessions(database: database).deleteRows(of: id)
        try await Conversations(database: database).deleteEvents(of: id)
        try await database.delete { db in try db.execute("DELETE FROM users WHERE id = ?", id) }
    }

    /// Deletes expired tokens and codes.
    static func expire(in db: Transaction, at now: WallTime) throws {
        try db.execute("DELETE FROM refresh_families WHERE expires_at <= ?", now)
        try db.execute("DELETE FROM account_codes WHERE expires_at <= ?", now)
    }

    /// Deletes rows of another repository whose `time` is past the retention of their user, `limit` per commit, and returns their number.
    static func deleteExpired(
        from table: String, _ key: String..., time: String, limit: Int, in database: any Database, at now: WallTime
    ) async throws(StoreError) -> Int {
        // No user keeps anything for less; this condition lets SQLite use the index on the column.
        let latest = now - .seconds(UserSettings.retentionDaysRange.lowerBound * 86_400)
        return try await database.deleteInSteps(
            of: limit,
            """
            DELETE FROM \(table) WHERE (\(key.joined(separator: ", "))) IN (
                SELECT \(key.map { "t." + $0 }.joined(separator: ", ")) FROM \(table) t JOIN users u ON u.id = t.user_id
                WHERE t.\(time) < ?1 AND t.\(time) < ?2 - u.retention_days * 86400000 LIMIT ?)
            """, latest, now)
    }
}
