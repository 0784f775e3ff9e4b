internal import Foundation
internal import GRDB
internal import Glibc
package import Identity
internal import Wire

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

    fileprivate static let problemsMax = 100
}

/// Reads everything in a store. What is damaged is noted, and the rest is read nevertheless.
private final class Verification {
    let db: Transaction
    var report = StoreReport()

    init(_ db: Transaction) {
        self.db = db
    }

    func note(_ problem: String) {
        if report.problems.count < StoreReport.problemsMax { report.problems.append(problem) }
    }

    /// Reads a part of the store, as far as it can be read.
    func read(_ part: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            guard case .damaged = StoreError(error) else { throw error }
            note("Cannot be read to the end: \(part).")
        }
    }

    /// Notes what `body` finds damaged; other errors propagate, as does one of the database, of which nothing more may be readable.
    func check(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch  where !(error is DatabaseError) {
            switch StoreError(error) {
            case .damaged(let location): note("Cannot be read: \(location).")
            case .notFound: note("A record is missing that another one refers to.")
            default: throw error
            }
        }
    }

    func each(_ part: String, _ sql: String, _ values: (any SQLValue)..., check: (Row) throws -> Void) throws {
        try read(part) {
            try db.forEachRow(sql, with: values) { row in try self.check { try check(row) } }
        }
    }

    func run() throws {
        try read("the database") {
            for line in try db.values(String.self, "PRAGMA integrity_check(\(StoreReport.problemsMax))") where line != "ok" {
                note("SQLite says: \(line).")
            }
            for row in try db.rows("PRAGMA foreign_key_check") {
                note(try "A row of \(row["table"] as String) refers to one of \(row["parent"] as String) that is not there.")
            }
        }
        // Users without a key are being deleted and are meant to be unreadable.
        try each("users", "SELECT u.* FROM users u JOIN user_keys k ON k.user_id = u.id") { row in
            report.users += 1
            let id: UserID = try row["id"]
            let key = try db.key(of: id)
            try check { try SessionStore.checkUser(id, from: row, key) }
            try readSessions(of: id, key)
            try readLists(of: id, key)
        }
        try each("webhooks", "SELECT * FROM webhooks") { row in
            report.webhooks += 1
            _ = try SessionStore.webhook(from: row, attempts: 0, in: db)
        }
        try each("jobs", "SELECT id, reason FROM jobs WHERE reason IS NOT NULL") { row in
            _ = try db.shared.openText(row[1], at: SessionStore.jobLocation(row[0]))
        }
        try each("assistants", "SELECT id, definition FROM assistants") { row in
            _ = try db.shared.open(row[1], as: AssistantDefinition.self, at: SessionStore.assistantLocation(row[0]))
        }
        try each("conversations", "SELECT id, name FROM conversations") { row in
            _ = try db.shared.openText(row[1], at: SessionStore.conversationLocation(row[0]))
        }
        try each("speech clips", "SELECT c.*, a.sealed FROM speech_clips c LEFT JOIN speech_audio a ON a.clip_id = c.id") { row in
            try SessionStore.checkClip(row, in: db)
        }
        try read("lists") {
            let misplaced = try db.value(
                Int.self,
                """
                SELECT count(*) FROM summaries m JOIN sessions s ON s.id = m.session_id
                WHERE m.user_id <> s.user_id OR m.started_at <> s.started_at
                """)
            let stuck = try db.value(
                Int.self,
                """
                SELECT count(*) FROM webhooks w WHERE closed_at IS NULL
                AND NOT EXISTS (SELECT 1 FROM webhook_lanes l WHERE l.lane = w.lane)
                """)
            if let misplaced, misplaced > 0 { note("\(misplaced) summaries stand where no list finds them.") }
            if let stuck, stuck > 0 { note("\(stuck) webhooks wait in no lane.") }
        }
    }

    private func readSessions(of user: UserID, _ key: SealingKey) throws {
        try each("sessions of user \(user)", "SELECT * FROM sessions WHERE user_id = ?", user) { row in
            report.sessions += 1
            let id: SessionID = try row["id"]
            try check { _ = try SessionStore.session(id, of: user, from: row, key) }
            try check { if try SessionStore.summary(of: id, key, in: db) != nil { report.summaries += 1 } }
            var turns = 0
            try each("turns of session \(id)", "SELECT id, text, audio FROM turns WHERE session_id = ?", id) { turn in
                turns += 1
                _ = try key.openText(turn[1], at: SessionStore.turnLocation(id, turn[0]))
                if let audio = try turn[2] as Data? { _ = try key.openText(audio, at: SessionStore.audioLocation(id, turn[0])) }
            }
            report.turns += turns
            if try turns != row["turn_count"] { note("Session \(id) has \(turns) turns and counts another number.") }
            if turns > 0, try !(row["is_logged"] as Bool) { note("Session \(id) is not logged and has turns.") }
        }
    }

    private func readLists(of user: UserID, _ key: SealingKey) throws {
        try each("contacts of user \(user)", "SELECT position, entry FROM contacts WHERE user_id = ?", user) { row in
            _ = try key.open(row[1], as: Contact.self, at: SessionStore.contactLocation(user, row[0]))
        }
        try each("calls of user \(user)", "SELECT id, ended_at, about FROM calls WHERE user_id = ?", user) { row in
            _ = try key.open(row[2], as: CallLogEntry.self, at: SessionStore.callLocation(user, row[0], row[1]))
        }
        try each("devices of user \(user)", "SELECT * FROM push_devices WHERE user_id = ?", user) { row in
            _ = try SessionStore.pushDevice(from: row, key)
        }
        try each("texts of user \(user)", "SELECT * FROM conversation_events WHERE user_id = ?", user) { row in
            _ = try SessionStore.event(from: row, of: user, key)
        }
    }
}

extension SessionStore {
    /// Reads everything: SQLite's integrity checks, foreign keys, and every encrypted value. Other operations continue meanwhile. What is
    /// damaged is reported, and the rest is read nevertheless.
    package func verify() async throws(StoreError) -> StoreReport {
        try await readingLong { db in
            let verification = Verification(db)
            try verification.run()
            return verification.report
        }
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
        try await writing { db in try db.keychain.rewrapAll(with: key, in: db.database) }
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
