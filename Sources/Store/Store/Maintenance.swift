internal import Foundation
internal import Glibc
package import Identity

extension Store {
    /// Reads everything: SQLite's integrity checks, foreign keys, and every encrypted value. Other operations continue meanwhile. What is
    /// damaged is reported, and the rest is read nevertheless.
    package func verify() async throws(StoreError) -> StoreReport {
        try await database.readLong { db in
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
            let recordings = try await database.copy(to: unfinished, reading: Sessions.recordings)
            try FileManager.default.moveItem(atPath: unfinished, toPath: path)
            return recordings
        } catch {
            try? FileManager.default.removeItem(atPath: unfinished)
            throw StoreError(error)
        }
    }

    /// Rewraps all keys with another master key in one commit. Encrypted data is unchanged.
    package func rotate(to key: MasterKey) async throws(StoreError) {
        database.adopt(key)
        try await database.write { db in try db.keychain.rewrapAll(with: key, in: db) }
        // Removes the old wrapped keys from the write-ahead log.
        try await compact()
    }

    /// Deletes expired data: ended sessions, calls and events of conversations by `retentionDays`, closed webhooks, expired codes and
    /// tokens, unused speech clips, old epochs of rooms, and users whose deletion was interrupted. At the end no byte of it remains. Call
    /// hourly. Returns the number of deleted sessions.
    @discardableResult
    package func expire(at now: WallTime) async throws(StoreError) -> Int {
        let count = try await sessions.expire(at: now)
        try await calls.expire(at: now)
        try await conversations.expire(at: now)
        try await accounts.finishDeletions()
        try await database.delete { db in
            try Webhooks.expire(in: db, at: now)
            try Accounts.expire(in: db, at: now)
            try Sessions.expire(in: db, at: now)
            try Clips.expire(in: db, at: now)
            try RoomEpochs.expire(in: db, at: now)
        }
        try await database.compactUnlessRead()
        return count
    }

    /// Removes what was deleted from the files now, instead of within seconds.
    ///
    /// - Throws: `busy` if a long read (`verify()`, `backup(to:)`) blocks the log.
    package func compact() async throws(StoreError) { try await database.compact() }
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
}

/// Reads everything in a store. Records damage and continues with the rest.
final class Verification {
    let db: Transaction
    var report = StoreReport()

    init(_ db: Transaction) { self.db = db }

    func note(_ problem: String) { if report.problems.count < StoreReport.problemsMax { report.problems.append(problem) } }

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
        } catch  where !(error is any EngineError) {
            switch StoreError(error) {
            case .damaged(let location): note("Cannot be read: \(location).")
            case .notFound: note("A record is missing that another one refers to.")
            default: throw error
            }
        }
    }

    func each(_ part: String, _ sql: String, _ values: (any SQLValue)..., check: (Row) throws -> Void) throws {
        try read(part) {
            try db.each(sql, with: values) { row in try self.check { try check(row) } }
        }
    }

    /// Notes how many rows have a problem.
    func count(_ problem: String, _ sql: String) throws {
        try read("lists") {
            if let count = try db.value(Int.self, sql), count > 0 { note("\(count) \(problem).") }
        }
    }

    func run() throws {
        try read("the database") {
            for fault in try db.connection.findFaults(atMost: StoreReport.problemsMax) { note(fault) }
        }
        try Accounts.verify(self)
        try Webhooks.verify(self)
        try Sessions.verify(self)
        try Assistants.verify(self)
        try Conversations.verify(self)
        try Clips.verify(self)
    }
}
