internal import Foundation
internal import GRDB

extension SessionStore {
    /// Deletes a user with all data. The key is deleted first, in its own commit, which makes everything unreadable; the rest follows in
    /// small transactions. `expire(at:)` resumes an interrupted deletion. At the end no byte remains (but see `compactUnlessRead()`).
    ///
    /// - Throws: `notFound`.
    package func deleteUser(_ id: UserID) async throws(StoreError) {
        try await deleting { db in
            guard try db.execute("DELETE FROM user_keys WHERE user_id = ?", id) == 1 else { throw StoreError.notFound }
            // Frees the address and the handle.
            try db.execute("UPDATE users SET lookup = randomblob(32), profile = x'', password = NULL, handle = NULL WHERE id = ?", id)
            try db.execute("DELETE FROM refresh_families WHERE user_id = ?", id)
            try db.execute("DELETE FROM account_codes WHERE user_id = ?", id)
            // Clips are encrypted with the store's key, so they do not become unreadable with the user's.
            try db.execute("DELETE FROM speech_requests WHERE user_id = ?", id)
        }
        try await deleteRemainingRows(of: id)
        try await compactUnlessRead()
    }

    /// Deletes a session. Its encrypted data leaves the write-ahead log within seconds.
    ///
    /// - Throws: `notFound`.
    package func deleteSession(_ id: SessionID, of user: UserID) async throws(StoreError) {
        try await deleting { db in
            guard try db.execute("DELETE FROM sessions WHERE id = ? AND user_id = ?", id, user) == 1 else { throw StoreError.notFound }
        }
        log.emptySoon()
    }

    /// Deletes all sessions of a user, including open ones. At the end no byte remains.
    ///
    /// - Returns: the number of deleted sessions.
    @discardableResult
    package func deleteSessions(of user: UserID) async throws(StoreError) -> Int {
        let count = try await deleteSessions("SELECT id FROM sessions WHERE user_id = ?", user)
        if count > 0 { try await compactUnlessRead() }
        return count
    }

    private func deleteRemainingRows(of id: UserID) async throws(StoreError) {
        try await deleteSessions("SELECT id FROM sessions WHERE user_id = ?", id)
        try await deleteInSteps(
            of: StoreLimits.linesPerPageMax,
            """
            DELETE FROM conversation_events WHERE (conversation_id, number) IN (
                SELECT conversation_id, number FROM conversation_events WHERE user_id = ? LIMIT ?)
            """, [id])
        try await deleting { db in try db.execute("DELETE FROM users WHERE id = ?", id) }
    }

    /// Deletes the sessions that `selection` returns, a few per commit.
    ///
    /// - Returns: the number of deleted sessions.
    @discardableResult
    private func deleteSessions(_ selection: String, _ values: (any SQLValue)...) async throws(StoreError) -> Int {
        try await deleteInSteps(
            of: StoreLimits.deletionsPerCommit, "DELETE FROM sessions WHERE id IN (\(selection) LIMIT ?)", values)
    }

    /// Repeats a deletion until it finds nothing more, with a commit for each step, so that other writes do not wait for all of them.
    ///
    /// - Parameters:
    ///   - limit: the number of rows in a step. If they are too much for a full disk, rows are deleted one by one.
    ///   - deletion: a statement whose last argument is the number of rows that it deletes at most.
    /// - Returns: the number of deleted rows.
    @discardableResult
    private func deleteInSteps(of limit: Int, _ deletion: String, _ values: [any SQLValue]) async throws(StoreError) -> Int {
        var (limit, count) = (limit, 0)
        while true {
            let deleted: Int
            do throws(StoreError) {
                let step = values + [limit]
                deleted = try await deleting { db in try db.execute(deletion, with: step) }
            } catch .full where limit > 1 {
                limit = 1
                continue
            }
            guard deleted > 0 else { return count }
            count += deleted
        }
    }

    // MARK: - Files

    /// Names of recordings whose session is gone. Call `removeOrphanedFiles(_:)` after deleting the files.
    package func orphanedFiles() async throws(StoreError) -> [String] {
        try await reading { db in try db.values(String.self, "SELECT name FROM unwanted_files ORDER BY name LIMIT 1000") }
    }

    /// Removes names from `orphanedFiles()`. Call after deleting the files.
    package func removeOrphanedFiles(_ names: [String]) async throws(StoreError) {
        guard !names.isEmpty else { return }
        try await deleting { db in
            for name in names { try db.execute("DELETE FROM unwanted_files WHERE name = ?", name) }
        }
    }

    /// Deletes expired data: ended sessions, calls and events of conversations by `retentionDays`, closed webhooks, expired codes and
    /// tokens, unused speech clips, and users whose deletion was interrupted. At the end no byte of it remains. Call hourly.
    ///
    /// - Returns: the number of deleted sessions.
    @discardableResult
    package func expire(at now: WallTime) async throws(StoreError) -> Int {
        // No user keeps anything for less; this condition lets SQLite use the index on the column.
        let latest = now - .seconds(UserSettings.retentionDaysRange.lowerBound * 86_400)
        /// The condition for rows whose time in `column` is past the retention of their user `u`.
        func isPastRetention(_ column: String) -> String { "\(column) < ?1 AND \(column) < ?2 - u.retention_days * 86400000" }
        let count = try await deleteSessions(
            "SELECT s.id FROM sessions s JOIN users u ON u.id = s.user_id WHERE \(isPastRetention("s.ended_at"))", latest, now)
        try await deleteInSteps(
            of: StoreLimits.linesPerPageMax,
            """
            DELETE FROM calls WHERE (user_id, ended_at, id) IN (
                SELECT c.user_id, c.ended_at, c.id FROM calls c JOIN users u ON u.id = c.user_id
                WHERE \(isPastRetention("c.ended_at")) LIMIT ?)
            """, [latest, now])
        try await deleteInSteps(
            of: StoreLimits.linesPerPageMax,
            """
            DELETE FROM conversation_events WHERE (conversation_id, number) IN (
                SELECT e.conversation_id, e.number FROM conversation_events e JOIN users u ON u.id = e.user_id
                WHERE \(isPastRetention("e.at")) LIMIT ?)
            """, [latest, now])
        let forgotten = try await reading { db in
            try db.values(String.self, "SELECT id FROM users WHERE NOT EXISTS (SELECT 1 FROM user_keys k WHERE k.user_id = users.id)")
        }
        for id in forgotten.compactMap(UserID.init(text:)) { try await deleteRemainingRows(of: id) }

        try await deleting { db in
            try Self.expireWebhooks(in: db, at: now)
            for (table, time, span) in [
                ("refresh_families", "expires_at", Duration.zero), ("session_starts", "started_at", StoreLimits.idempotencyWindow),
                ("webhooks", "closed_at", StoreLimits.webhooksKept), ("jobs", "failed_at", StoreLimits.failedJobsKept),
                ("speech_clips", "used_at", StoreLimits.clipsKept), ("account_codes", "expires_at", Duration.zero),
            ] {
                try db.execute("DELETE FROM \(table) WHERE \(time) <= ?", now - span)
            }
        }
        try await compactUnlessRead()
        return count
    }

    /// Returns free pages to the file system and truncates the write-ahead log. Until then deleted data may be in the log, encrypted.
    /// Writes continue in between.
    ///
    /// - Throws: `busy` if a long read (`verify()`, `backup(to:)`) blocks the log.
    package func compact() async throws(StoreError) {
        do {
            while try await freePages() {}
            var attempts = 1
            while try await !log.empty() {
                guard attempts < StoreLimits.logAttemptsMax else { throw StoreError.busy }
                attempts += 1
                try await Task.sleep(for: StoreLimits.logPause)
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// Compacts after a deletion, unless a long read or a full disk prevents it: what remains in the log goes with the next compaction.
    func compactUnlessRead() async throws(StoreError) {
        do { try await compact() } catch .busy {} catch .full { log.emptySoon() }
    }

    /// Returns free pages of a full disk's store to the file system, with little space for the log. Failures are ignored: the next `expire`
    /// returns what is left.
    func returnFreePages() async {
        repeat { _ = try? await log.empty() } while (try? await freePages()) == true
        _ = try? await log.empty()
    }

    /// Frees a few pages.
    ///
    /// - Returns: whether there may be more.
    private func freePages() async throws -> Bool {
        try await pool.writeWithoutTransaction { db in
            guard let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count"), free > 0 else { return false }
            try db.execute(sql: "PRAGMA incremental_vacuum(500)")
            return true
        }
    }
}
