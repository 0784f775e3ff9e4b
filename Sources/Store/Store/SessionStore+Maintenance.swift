internal import Foundation
internal import GRDB
internal import Glibc
package import Identity
internal import Wire

extension SessionStore {
    /// Deletes a user with all data. The key is deleted first, in its own commit, which makes everything unreadable; the rest follows in
    /// small transactions. `expire(at:)` resumes an interrupted deletion. At the end no byte remains (but see `compactUnlessRead()`).
    ///
    /// - Throws: `notFound`.
    package func deleteUser(_ id: UserID) async throws(StoreError) {
        try await writing { db in
            try db.execute(sql: "DELETE FROM user_keys WHERE user_id = ?", arguments: [id.text])
            guard db.changesCount == 1 else { throw StoreError.notFound }
            // Frees the address and the handle.
            try db.execute(
                sql: "UPDATE users SET lookup = randomblob(32), profile = x'', password = NULL, handle = NULL WHERE id = ?",
                arguments: [id.text])
            try db.execute(sql: "DELETE FROM refresh_families WHERE user_id = ?", arguments: [id.text])
            try db.execute(sql: "DELETE FROM account_codes WHERE user_id = ?", arguments: [id.text])
            // Clips are encrypted with the store's key, so they do not become unreadable with the user's.
            try db.execute(sql: "DELETE FROM speech_requests WHERE user_id = ?", arguments: [id.text])
        }
        try await deleteRemainingRows(of: id)
        try await compactUnlessRead()
    }

    /// Deletes a session. Its encrypted data leaves the write-ahead log within seconds.
    ///
    /// - Throws: `notFound`.
    package func deleteSession(_ id: SessionID, of user: UserID) async throws(StoreError) {
        try await writing { db in
            try db.cachedStatement(sql: "DELETE FROM sessions WHERE id = ? AND user_id = ?").execute(arguments: [id.text, user.text])
            guard db.changesCount == 1 else { throw StoreError.notFound }
        }
        log.emptySoon()
    }

    /// Deletes all sessions of a user, including open ones. At the end no byte remains.
    ///
    /// - Returns: the number of deleted sessions.
    @discardableResult
    package func deleteSessions(of user: UserID) async throws(StoreError) -> Int {
        let count = try await deleteSessions("SELECT id FROM sessions WHERE user_id = ?", [user.text])
        if count > 0 { try await compactUnlessRead() }
        return count
    }

    func deleteRemainingRows(of id: UserID) async throws(StoreError) {
        try await deleteSessions("SELECT id FROM sessions WHERE user_id = ?", [id.text])
        try await deleteInSteps(
            """
            DELETE FROM conversation_events WHERE (conversation_id, number) IN (
                SELECT conversation_id, number FROM conversation_events WHERE user_id = ? LIMIT \(StoreLimits.linesPerPageMax))
            """, [id.text])
        try await writing { db in try db.execute(sql: "DELETE FROM users WHERE id = ?", arguments: [id.text]) }
    }

    /// Deletes the sessions that `selection` returns, a few per commit.
    ///
    /// - Returns: the number of deleted sessions.
    @discardableResult
    private func deleteSessions(_ selection: String, _ arguments: StatementArguments = []) async throws(StoreError) -> Int {
        try await deleteInSteps("DELETE FROM sessions WHERE id IN (\(selection) LIMIT \(StoreLimits.deletionsPerCommit))", arguments)
    }

    /// Repeats a deletion until it finds nothing more, with a commit for each step, so that other writes do not wait for all of them.
    ///
    /// - Parameter deletion: deletes a limited number of rows.
    /// - Returns: the number of deleted rows.
    @discardableResult
    private func deleteInSteps(_ deletion: String, _ arguments: StatementArguments = []) async throws(StoreError) -> Int {
        var count = 0
        while true {
            let deleted = try await writing { db in
                try db.execute(sql: deletion, arguments: arguments)
                return db.changesCount
            }
            guard deleted > 0 else { return count }
            count += deleted
        }
    }
}

// MARK: - Files

extension SessionStore {
    /// Names of recordings whose session is gone. Call `removeOrphanedFiles(_:)` after deleting the files.
    package func orphanedFiles() async throws(StoreError) -> [String] {
        try await reading { db in try String.fetchAll(db, sql: "SELECT name FROM unwanted_files ORDER BY name LIMIT 1000") }
    }

    /// Removes names from `orphanedFiles()`. Call after deleting the files.
    package func removeOrphanedFiles(_ names: [String]) async throws(StoreError) {
        guard !names.isEmpty else { return }
        try await writing { db in
            for name in names { try db.execute(sql: "DELETE FROM unwanted_files WHERE name = ?", arguments: [name]) }
        }
    }
}

extension SessionStore {
    /// Deletes expired data: ended sessions, calls and events of conversations by `retentionDays`, closed webhooks, expired codes and
    /// tokens, unused speech clips, and users whose deletion was interrupted. At the end no byte of it remains. Call hourly.
    ///
    /// - Returns: the number of deleted sessions.
    @discardableResult
    package func expire(at now: WallTime) async throws(StoreError) -> Int {
        let count = try await deleteSessions(
            "SELECT s.id FROM sessions s JOIN users u ON u.id = s.user_id WHERE \(Self.isPastRetention("s.ended_at", at: now))")
        try await deleteInSteps(
            """
            DELETE FROM calls WHERE (user_id, ended_at, id) IN (
                SELECT c.user_id, c.ended_at, c.id FROM calls c JOIN users u ON u.id = c.user_id
                WHERE \(Self.isPastRetention("c.ended_at", at: now)) LIMIT \(StoreLimits.linesPerPageMax))
            """)
        try await deleteInSteps(
            """
            DELETE FROM conversation_events WHERE (conversation_id, number) IN (
                SELECT e.conversation_id, e.number FROM conversation_events e JOIN users u ON u.id = e.user_id
                WHERE \(Self.isPastRetention("e.at", at: now)) LIMIT \(StoreLimits.linesPerPageMax))
            """)
        let forgotten = try await reading { db in
            try String.fetchAll(db, sql: "SELECT id FROM users WHERE NOT EXISTS (SELECT 1 FROM user_keys k WHERE k.user_id = users.id)")
        }
        for id in forgotten.compactMap(UserID.init(text:)) { try await deleteRemainingRows(of: id) }

        try await writing { db in
            try Self.expireWebhooks(in: db, at: now)
            for (table, time, span) in [
                ("refresh_families", "expires_at", Duration.zero), ("session_starts", "started_at", StoreLimits.idempotencyWindow),
                ("webhooks", "closed_at", StoreLimits.webhooksKept), ("jobs", "failed_at", StoreLimits.failedJobsKept),
                ("speech_clips", "used_at", StoreLimits.clipsKept), ("account_codes", "expires_at", Duration.zero),
            ] {
                try db.execute(
                    sql: "DELETE FROM \(table) WHERE \(time) <= ?", arguments: [(now - span).milliseconds])
            }
        }
        try await compactUnlessRead()
        return count
    }

    /// The SQL condition for rows whose time in `column` is past the retention of their user `u`.
    private static func isPastRetention(_ column: String, at now: WallTime) -> String {
        let latest = (now - .seconds(UserSettings.retentionDaysRange.lowerBound * 86_400)).milliseconds
        // The first condition lets SQLite use the index on the column: no user has fewer days.
        return "\(column) < \(latest) AND \(column) < \(now.milliseconds) - u.retention_days * 86400000"
    }
}

extension SessionStore {
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

    /// Compacts after a deletion, without waiting for long reads: what remains in the log goes with the next compaction.
    func compactUnlessRead() async throws(StoreError) {
        do { try await compact() } catch .busy {}
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

/// The result of `verify()`.
package struct StoreReport: Sendable, Hashable, Codable {
    package var users = 0
    package var sessions = 0
    package var turns = 0
    package var summaries = 0
    package var webhooks = 0
    /// One sentence per problem, at most a hundred.
    package var problems: [String] = []

    package var isClean: Bool { problems.isEmpty }

    static let problemsMax = 100

    fileprivate mutating func note(_ problem: String?) {
        if let problem, problems.count < Self.problemsMax { problems.append(problem) }
    }
}

/// The description of a `StoreError` thrown by `check`; other errors propagate.
private func damage(_ check: () throws -> Void) throws -> String? {
    do {
        try check()
        return nil
    } catch let error as StoreError {
        return error.description
    }
}

extension SessionStore {
    /// Reads everything: SQLite's integrity checks, foreign keys, and every encrypted value. Other operations continue meanwhile.
    package func verify() async throws(StoreError) -> StoreReport {
        let keychain = keychain
        return try await readingLong { db in
            var report = StoreReport()
            for line in try String.fetchAll(db, sql: "PRAGMA integrity_check(\(StoreReport.problemsMax))") where line != "ok" {
                report.note("SQLite says: \(line).")
            }
            for row in try Row.fetchAll(db, sql: "PRAGMA foreign_key_check") {
                report.note("A row of \(row["table"] as String) refers to one of \(row["parent"] as String) that is not there.")
            }
            // Users without a key are being deleted and are meant to be unreadable.
            let users = try Row.fetchCursor(db, sql: "SELECT u.* FROM users u JOIN user_keys k ON k.user_id = u.id")
            while let row = try users.next() {
                guard let id = UserID(text: row["id"]) else { continue }
                report.users += 1
                var key: SealingKey?
                report.note(try damage { key = try keychain.userKey(of: id, in: db) })
                guard let key else { continue }
                report.note(try damage { try Self.checkUser(id, from: row, key) })
                try Self.checkSessions(of: id, key, in: db, into: &report)
                try Self.checkLists(of: id, key, in: db, into: &report)
            }
            try Self.checkWork(keychain, in: db, into: &report)
            return report
        }
    }

    private static func checkSessions(of user: UserID, _ key: SealingKey, in db: Database, into report: inout StoreReport) throws {
        let rows = try Row.fetchCursor(db, sql: "SELECT * FROM sessions WHERE user_id = ?", arguments: [user.text])
        while let row = try rows.next() {
            guard let id = SessionID(text: row["id"]) else { continue }
            report.sessions += 1
            report.note(try damage { _ = try session(id, of: user, from: row, key) })
            var summary: Summary?
            report.note(try damage { summary = try Self.summary(of: id, key, in: db) })
            if summary != nil { report.summaries += 1 }
            var turns = 0
            let sealed = try Row.fetchCursor(db, sql: "SELECT id, text FROM turns WHERE session_id = ?", arguments: [id.text])
            while let turn = try sealed.next() {
                turns += 1
                report.note(try damage { _ = try key.openText(turn[1], at: turnLocation(id, turn[0])) })
            }
            report.turns += turns
            if turns != row["turn_count"] { report.note("Session \(id) has \(turns) turns and counts another number.") }
            if turns > 0, !(row["is_logged"] as Bool) { report.note("Session \(id) is not logged and has turns.") }
        }
    }

    /// Contacts, calls, devices and texts in conversations.
    private static func checkLists(of user: UserID, _ key: SealingKey, in db: Database, into report: inout StoreReport) throws {
        for row in try Row.fetchAll(db, sql: "SELECT position, entry FROM contacts WHERE user_id = ?", arguments: [user.text]) {
            report.note(try damage { _ = try key.open(row[1], as: Contact.self, at: contactLocation(user, row[0])) })
        }
        for row in try Row.fetchAll(db, sql: "SELECT id, ended_at, about FROM calls WHERE user_id = ?", arguments: [user.text]) {
            report.note(try damage { _ = try key.open(row[2], as: CallLogEntry.self, at: callLocation(user, row[0], row[1])) })
        }
        for row in try Row.fetchAll(db, sql: "SELECT * FROM push_devices WHERE user_id = ?", arguments: [user.text]) {
            report.note(try damage { _ = try pushDevice(from: row, key) })
        }
        let events = try Row.fetchCursor(db, sql: "SELECT * FROM conversation_events WHERE user_id = ?", arguments: [user.text])
        while let row = try events.next() {
            report.note(try damage { _ = try event(from: row, of: user, key) })
        }
    }

    private static func checkWork(_ keychain: Keychain, in db: Database, into report: inout StoreReport) throws {
        let webhooks = try Row.fetchCursor(db, sql: "SELECT * FROM webhooks")
        while let row = try webhooks.next() {
            report.webhooks += 1
            report.note(try damage { _ = try webhook(from: row, attempts: 0, keychain) })
        }
        let jobs = try Row.fetchCursor(db, sql: "SELECT id, reason FROM jobs WHERE reason IS NOT NULL")
        while let row = try jobs.next() {
            report.note(try damage { _ = try keychain.shared.openText(row[1], at: jobLocation(row[0])) })
        }
        for row in try Row.fetchAll(db, sql: "SELECT id, definition FROM assistants") {
            report.note(
                try damage { _ = try keychain.shared.open(row[1], as: AssistantDefinition.self, at: assistantLocation(row[0])) })
        }
        let conversations = try Row.fetchCursor(db, sql: "SELECT id, name FROM conversations")
        while let row = try conversations.next() {
            report.note(try damage { _ = try keychain.shared.openText(row[1], at: conversationLocation(row[0])) })
        }
        let clips = try Row.fetchCursor(
            db, sql: "SELECT c.*, a.sealed FROM speech_clips c LEFT JOIN speech_audio a ON a.clip_id = c.id")
        while let row = try clips.next() {
            report.note(try damage { try checkClip(row, keychain) })
        }
        let stuck = try Int.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM webhooks w WHERE closed_at IS NULL AND NOT EXISTS (SELECT 1 FROM webhook_lanes l WHERE l.lane = w.lane)
                """)
        let misplaced = try Int.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM summaries m JOIN sessions s ON s.id = m.session_id
                WHERE m.user_id <> s.user_id OR m.started_at <> s.started_at
                """)
        if let misplaced, misplaced > 0 { report.note("\(misplaced) summaries stand where no list finds them.") }
        if let stuck, stuck > 0 { report.note("\(stuck) webhooks wait in no lane.") }
    }

    /// Writes a snapshot of the store to a new file while other operations continue. It is encrypted with the same keys and opens as
    /// `patchbay.sqlite` in a directory of its own.
    ///
    /// - Returns: the names of the recordings that the snapshot refers to; their files are not part of it.
    /// - Throws: `refused` if the file exists.
    @discardableResult
    package func backup(to path: String) async throws(StoreError) -> [String] {
        guard !FileManager.default.fileExists(atPath: path) else { throw .refused("There is a file at \(path) already.") }
        // An interrupted copy must not look complete.
        let unfinished = path + ".unfinished"
        do {
            try? FileManager.default.removeItem(atPath: unfinished)
            Glibc.close(try PrivateFiles.create(unfinished))
            let recordings = try await onOwnThread { [pool] in
                let copy = try DatabaseQueue(path: unfinished)
                try pool.backup(to: copy)
                let recordings = try copy.read { db in try String.fetchAll(db, sql: "SELECT name FROM recordings ORDER BY name") }
                try copy.close()
                return recordings
            }
            try FileManager.default.moveItem(atPath: unfinished, toPath: path)
            return recordings
        } catch {
            try? FileManager.default.removeItem(atPath: unfinished)
            throw StoreError(error)
        }
    }

    /// Rewraps all keys with another master key in one commit. Encrypted data is unchanged.
    package func rotate(to key: MasterKey) async throws(StoreError) {
        adopt(key)
        let keychain = keychain
        try await writing { db in try keychain.rewrapAll(with: key, in: db) }
        // Removes the old wrapped keys from the write-ahead log.
        try await compact()
    }

    /// Copying takes long, and the store's threads are few.
    private func onOwnThread<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<T, any Error>) in
            DispatchQueue.global().async { continuation.resume(with: Result(catching: work)) }
        }
    }
}
