internal import Foundation
internal import GRDB
package import Identity

/// What `verify()` found.
package struct StoreReport: Sendable, Hashable, Codable {
    package var users = 0
    package var sessions = 0
    package var turns = 0
    package var summaries = 0
    package var webhooks = 0
    /// One sentence for each thing that is wrong, at most a hundred.
    package var problems: [String] = []

    package var isClean: Bool { problems.isEmpty }

    static let problemsMax = 100

    fileprivate mutating func note(_ problem: String?) {
        if let problem, problems.count < Self.problemsMax { problems.append(problem) }
    }
}

/// What `check` finds damaged, in a sentence; other errors go on.
private func damage(_ check: () throws -> Void) throws -> String? {
    do {
        try check()
        return nil
    } catch let error as StoreError {
        return error.description
    }
}

extension SessionStore {
    /// Reads everything: SQLite's own checks of the file, the references between tables, and every sealed value. Others go on meanwhile.
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
            // Whoever has no key is being deleted, and what is left of him is meant to be unreadable.
            let users = try Row.fetchCursor(db, sql: "SELECT u.* FROM users u JOIN user_keys k ON k.user_id = u.id")
            while let row = try users.next() {
                guard let id = UserID(text: row["id"]) else { continue }
                report.users += 1
                var key: SealingKey?
                report.note(try damage { key = try keychain.userKey(of: id, in: db) })
                guard let key else { continue }
                report.note(try damage { try Self.checkUser(id, from: row, key) })
                try Self.checkSessions(of: id, key, in: db, into: &report)
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
                report.note(try damage { _ = try key.openText(turn[1], at: turnPlace(id, turn[0])) })
            }
            report.turns += turns
            if turns != row["turn_count"] { report.note("Session \(id) has \(turns) turns and counts another number.") }
            if turns > 0, !(row["is_logged"] as Bool) { report.note("Session \(id) is not logged and has turns.") }
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
            report.note(try damage { _ = try keychain.shared.openText(row[1], at: jobPlace(row[0])) })
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

    /// Writes a copy of the store as it is now to a new file, while others go on. The copy is as sealed as the store, and opens with the same master key
    /// under the name `patchbay.sqlite` in a directory of its own.
    ///
    /// - Throws: `refused` if there is a file already.
    package func backup(to path: String) async throws(StoreError) {
        guard !FileManager.default.fileExists(atPath: path) else { throw .refused("There is a file at \(path) already.") }
        // Half a copy must not look like a whole one.
        let unfinished = path + ".unfinished"
        do {
            try? FileManager.default.removeItem(atPath: unfinished)
            guard FileManager.default.createFile(atPath: unfinished, contents: nil, attributes: [.posixPermissions: 0o600]) else {
                throw StoreError.refused("\(path) can't be written.")
            }
            try await onOwnThread { [pool] in
                let copy = try DatabaseQueue(path: unfinished)
                try pool.backup(to: copy)
                try copy.close()
            }
            try FileManager.default.moveItem(atPath: unfinished, toPath: path)
        } catch {
            try? FileManager.default.removeItem(atPath: unfinished)
            throw StoreError(error)
        }
    }

    /// Wraps all keys with another master key, in one commit: either key opens the store, and never both. What is sealed stays as it is.
    package func rotate(to key: MasterKey) async throws(StoreError) {
        adopt(key)
        let keychain = keychain
        try await writing { db in try keychain.rewrapAll(with: key, in: db) }
        // The keys as they were wrapped before stand in the write-ahead log.
        try await compact()
    }

    /// Copying takes as long as the file is big, and everybody's threads are few.
    private func onOwnThread(_ work: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue.global().async { continuation.resume(with: Result(catching: work)) }
        }
    }
}
