import CPostgres
import Foundation
import Glibc
import Synchronization
import TestStore
import Testing

@testable import Store

/// Transactions that meet each other, and connections that do not know what they prepared.
@Suite(.enabled(if: PostgresServer.isInstalled))
final class PostgresTransactionTests: Sendable {
    private let pool: PostgresPool

    init() throws {
        pool = PostgresPool(PostgresSettings(target: try PostgresServer.shared().makeDatabase()), size: 4)
        let connection = try PostgresConnection(pool.settings)
        try connection.run(
            "CREATE TABLE counters (name text PRIMARY KEY, value int8 NOT NULL); INSERT INTO counters VALUES ('a', 0), ('b', 0)")
    }

    deinit { pool.close() }

    private static func value(_ name: String, _ connection: PostgresConnection) throws -> Int64? {
        try connection.execute("SELECT value FROM counters WHERE name = $1", [.text(name)]).integer(0, 0)
    }

    private static func set(_ name: String, _ value: Int64, _ connection: PostgresConnection) throws {
        _ = try connection.execute("UPDATE counters SET value = $2 WHERE name = $1", [.text(name), .int8(value)])
    }

    private static func increase(_ name: String, _ connection: PostgresConnection) throws {
        try set(name, (value(name, connection) ?? 0) + 1, connection)
    }

    private func values() async throws -> [Int64?] {
        try await pool.run(.read) { db in [try Self.value("a", db), try Self.value("b", db)] }
    }

    @Test func conflictingWritesBothCount() async throws {
        let meeting = Meeting()
        try await withThrowingTaskGroup { group in
            for _ in 1...2 {
                group.addTask { [self] in
                    try await pool.run { db in
                        let value = try Self.value("a", db) ?? 0
                        try meeting.wait()
                        try Self.set("a", value + 1, db)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await values() == [2, 0])
        #expect(meeting.arrivals == 3)
    }

    /// Each reads what the other writes: only the commit can find that no order of the two explains what they read.
    @Test func writesThatReadEachOthersRowsRunInSomeOrder() async throws {
        let meeting = Meeting()
        try await withThrowingTaskGroup { group in
            for (read, written) in [("a", "b"), ("b", "a")] {
                group.addTask { [self] in
                    try await pool.run { db in
                        let value = try Self.value(read, db) ?? 0
                        try meeting.wait()
                        try Self.set(written, value + 1, db)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await values().compactMap(\.self).sorted() == [1, 2])
    }

    @Test func aDeadlockIsResolvedAndBothWritesCount() async throws {
        let meeting = Meeting()
        try await withThrowingTaskGroup { group in
            for names in [["a", "b"], ["b", "a"]] {
                group.addTask { [self] in
                    try await pool.run { db in
                        try Self.increase(names[0], db)
                        try meeting.wait()
                        try Self.increase(names[1], db)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await values() == [2, 2])
    }

    @Test func aConflictIsFoundAlsoIfTheBodyMakesAnotherErrorOfIt() async throws {
        let runs = Atomic(0)
        try await pool.run { db in
            guard runs.add(1, ordering: .relaxed).newValue < 3 else { return try Self.increase("a", db) }
            try db.run("SAVEPOINT s")
            #expect(throws: PostgresError.self) { try db.execute("INSERT INTO counters VALUES ('a', 1)") }
            try db.run("ROLLBACK TO s")
            do { try Self.conflict(db) } catch { throw StoreError.busy }
        }
        #expect(try await values() == [1, 0])
        #expect(runs.load(ordering: .relaxed) == 3)
    }

    @Test func endlessConflictsEnd() async throws {
        let runs = Atomic(0)
        let error = await #expect(throws: PostgresError.self) {
            try await pool.run { db in
                runs.add(1, ordering: .relaxed)
                try Self.conflict(db)
            }
        }
        #expect(error?.kind == .retry)
        #expect(runs.load(ordering: .relaxed) == PostgresPool.attemptsMax)
    }

    private static func conflict(_ connection: PostgresConnection) throws {
        try connection.run("DO $$ BEGIN RAISE 'conflict' USING ERRCODE = '40001'; END $$")
    }

    @Test func anErrorOfTheBodyRollsBack() async throws {
        await #expect(throws: StoreError.notFound) {
            try await pool.run { db in
                try Self.increase("a", db)
                throw StoreError.notFound
            }
        }
        #expect(try await values() == [0, 0])
    }

    @Test func aSwallowedErrorDoesNotPassAsACommit() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await pool.run { db in
                try Self.increase("a", db)
                _ = try? db.execute("INSERT INTO counters VALUES ('a', 1)")
                _ = try? db.execute("SELECT 1")
            }
        }
        #expect(error?.kind == .unique(constraint: "counters_pkey"))
        #expect(try await values() == [0, 0])
    }

    @Test func readsSeeOneSnapshotAndCannotWrite() async throws {
        let other = try PostgresConnection(pool.settings)
        let otherWrites = Mutex(Other(connection: other))
        let seen = try await pool.run(.read) { db in
            let first = try Self.value("a", db)
            try otherWrites.withLock { try Self.increase("a", $0.connection) }
            return [first, try Self.value("a", db)]
        }
        #expect(seen == [0, 0])
        let error = await #expect(throws: PostgresError.self) { try await pool.run(.read) { try Self.increase("a", $0) } }
        #expect(error?.sqlState == "25006")
        #expect(try await values() == [1, 0])
    }

    private struct Other: @unchecked Sendable { let connection: PostgresConnection }

    // MARK: Connections

    @Test func aTransactionLeftOpenDoesNotReachTheNextCaller() async throws {
        let pool = pool
        try await withTaskExecutorPreference(pool.threads) {
            try pool.with { db in
                try db.run("BEGIN")
                try Self.increase("a", db)
            }
            #expect(try pool.with { $0.transactionStatus } == PQTRANS_IDLE)
        }
        #expect(try await values() == [0, 0])
    }

    /// As behind a pooler that hands each transaction to another connection.
    @Test func forgottenStatementsAreNoLongerPrepared() async throws {
        let runs = Atomic(0)
        _ = try await values()
        try await pool.run { db in
            if runs.add(1, ordering: .relaxed).newValue == 1 { try db.run("DEALLOCATE ALL") }
            try Self.increase("a", db)
            if runs.load(ordering: .relaxed) > 1 { #expect(!db.isPreparing) }
        }
        #expect(try await values() == [1, 0])
        #expect(runs.load(ordering: .relaxed) == 2)
    }

    @Test func aChangedTableIsReadOnTheSecondAttempt() async throws {
        let all = "SELECT * FROM counters ORDER BY name"
        #expect(try await pool.run { try $0.execute(all).columnCount } == 2)
        try PostgresConnection(pool.settings).run("ALTER TABLE counters ADD COLUMN note text")
        #expect(try await pool.run { try $0.execute(all).columnCount } == 3)
        #expect(try await pool.run { $0.isPreparing })
    }

    @Test(.enabled(if: PostgresPooler.isInstalled)) func transactionsThroughAPoolerAllCount() async throws {
        let pooler = try PostgresPooler(before: PostgresServer.shared())
        let name = try #require(pool.settings.target.split(separator: "=").last)
        let through = PostgresPool(PostgresSettings(target: pooler.target(of: String(name))), size: 4)
        try await withThrowingTaskGroup { group in
            for index in 1...60 {
                group.addTask {
                    // Other statements in each transaction, so that each connection prepares others.
                    try await through.run { db in
                        _ = try db.execute("SELECT $1 + \(index % 7)", [.int8(1)])
                        try Self.increase(index.isMultiple(of: 2) ? "a" : "b", db)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await values() == [30, 30])
        through.close()
    }

    @Test func manyTransactionsShareFewConnections() async throws {
        try await withThrowingTaskGroup { group in
            for _ in 1...40 { group.addTask { [self] in try await pool.run { try Self.increase("b", $0) } } }
            try await group.waitForAll()
        }
        #expect(try await values() == [0, 40])
        let name = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'patchbay'"
        #expect(try await pool.run { try $0.execute(name).integer(0, 0) ?? 0 } <= 4)
    }

    @Test func aClosedPoolFails() async throws {
        _ = try await values()
        pool.close()
        let error = await #expect(throws: PostgresError.self) { try await self.values() }
        #expect(error == .poolIsClosed)
    }
}

/// Where two transactions wait for each other the first time.
private final class Meeting: Sendable {
    private let arrived = Atomic(0)

    var arrivals: Int { arrived.load(ordering: .sequentiallyConsistent) }

    func wait() throws {
        arrived.add(1, ordering: .sequentiallyConsistent)
        try until("both transactions have come") { arrivals >= 2 }
    }
}
