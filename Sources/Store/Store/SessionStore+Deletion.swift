internal import Foundation
internal import GRDB

extension SessionStore {
    /// Takes a user away with everything that is his. First goes his key, in a commit of its own, and with it every word; the rest follows in steps,
    /// so that nobody waits long for the disk. Should the process end meanwhile, `expire(at:)` goes on. At the end no byte is left (but see `compactUnlessRead()`).
    ///
    /// - Throws: `notFound`.
    package func deleteUser(_ id: UserID) async throws(StoreError) {
        try await writing { db in
            try db.execute(sql: "DELETE FROM user_keys WHERE user_id = ?", arguments: [id.text])
            guard db.changesCount == 1 else { throw StoreError.notFound }
            // The address is free at once.
            try db.execute(
                sql: "UPDATE users SET lookup = randomblob(32), profile = x'', password = NULL WHERE id = ?", arguments: [id.text])
            try db.execute(sql: "DELETE FROM refresh_families WHERE user_id = ?", arguments: [id.text])
        }
        try await deleteRemains(of: id)
        try await compactUnlessRead()
    }

    /// What is left of it in the log, sealed, goes within seconds.
    ///
    /// - Throws: `notFound`.
    package func deleteSession(_ id: SessionID, of user: UserID) async throws(StoreError) {
        try await writing { db in
            try db.cachedStatement(sql: "DELETE FROM sessions WHERE id = ? AND user_id = ?").execute(arguments: [id.text, user.text])
            guard db.changesCount == 1 else { throw StoreError.notFound }
        }
        log.emptySoon()
    }

    /// All of a user's sessions, those that go on too. At the end no byte is left.
    ///
    /// - Returns: how many.
    @discardableResult
    package func deleteSessions(of user: UserID) async throws(StoreError) -> Int {
        let count = try await deleteInSteps("SELECT id FROM sessions WHERE user_id = ?", [user.text])
        if count > 0 { try await compactUnlessRead() }
        return count
    }

    func deleteRemains(of id: UserID) async throws(StoreError) {
        try await deleteInSteps("SELECT id FROM sessions WHERE user_id = ?", [id.text])
        try await writing { db in try db.execute(sql: "DELETE FROM users WHERE id = ?", arguments: [id.text]) }
    }

    /// Deletes the sessions that `selection` finds, a few in each commit.
    ///
    /// - Returns: how many.
    @discardableResult
    func deleteInSteps(_ selection: String, _ arguments: StatementArguments) async throws(StoreError) -> Int {
        var count = 0
        while true {
            let deleted = try await writing { db in
                try db.execute(
                    sql: "DELETE FROM sessions WHERE id IN (\(selection) LIMIT \(StoreLimits.deletionsPerCommit))", arguments: arguments)
                return db.changesCount
            }
            guard deleted > 0 else { return count }
            count += deleted
        }
    }
}

// MARK: - Files

extension SessionStore {
    /// Names of recordings that nothing refers to any more. Whoever has removed the files says so with `forgetFiles(_:)`.
    package func unwantedFiles() async throws(StoreError) -> [String] {
        try await reading { db in try String.fetchAll(db, sql: "SELECT name FROM unwanted_files ORDER BY name LIMIT 1000") }
    }

    /// To be called when the files are gone from the disk.
    package func forgetFiles(_ names: [String]) async throws(StoreError) {
        guard !names.isEmpty else { return }
        try await writing { db in
            for name in names { try db.execute(sql: "DELETE FROM unwanted_files WHERE name = ?", arguments: [name]) }
        }
    }
}
