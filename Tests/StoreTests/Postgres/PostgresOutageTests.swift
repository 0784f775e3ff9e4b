import Foundation
import Synchronization
import TestStore
import Testing

@testable import Store

/// Servers that die, restart and hang.
@Suite(.enabled(if: PostgresServer.isInstalled))
struct PostgresOutageTests {
    private let server: PostgresServer
    private let pool: PostgresPool

    init() throws {
        server = try PostgresServer()
        var settings = PostgresSettings(target: try server.makeDatabase())
        settings.connectTimeout = .seconds(3)
        pool = PostgresPool(settings, size: 2)
        try PostgresConnection(settings).run("CREATE TABLE kept (number int8)")
    }

    private func count() async throws -> Int64? {
        try await pool.run { try $0.execute("SELECT count(*) FROM kept").integer(0, 0) }
    }

    private static func keep(_ number: Int64, _ connection: PostgresConnection) throws {
        _ = try connection.execute("INSERT INTO kept VALUES ($1)", [.int8(number)])
    }

    @Test func aTransactionSurvivesARestartOfTheServer() async throws {
        let runs = Atomic(0)
        try await pool.run { db in
            try Self.keep(1, db)
            if runs.add(1, ordering: .relaxed).newValue == 1 {
                try server.kill()
                try server.start()
            }
            try Self.keep(2, db)
        }
        #expect(runs.load(ordering: .relaxed) == 2)
        #expect(try await count() == 2)
        pool.close()
    }

    @Test func callersFailAtOnceWhileThereIsNoServer() async throws {
        _ = try await count()
        try server.kill()
        for _ in 1...20 {
            let error = await #expect(throws: PostgresError.self) { try await count() }
            #expect(error?.kind == .unreachable)
        }
        try server.start()
        try await recover()
        #expect(try await count() == 0)
        pool.close()
    }

    /// An idle connection that broke is noticed before a statement is sent.
    @Test func idleConnectionsAreReplacedAfterARestart() async throws {
        _ = try await count()
        try server.kill()
        try server.start()
        let runs = Atomic(0)
        try await pool.run { db in
            runs.add(1, ordering: .relaxed)
            try Self.keep(1, db)
        }
        #expect(runs.load(ordering: .relaxed) == 1)
        pool.close()
    }

    @Test func aHangingServerFailsWithinTheDeadline() async throws {
        var settings = pool.settings
        (settings.connectTimeout, settings.statementTimeout, settings.grace) = (.seconds(1), .milliseconds(500), .milliseconds(300))
        let impatient = PostgresPool(settings, size: 1)
        let runs = Atomic(0)
        let began = ContinuousClock.now
        var error = await #expect(throws: PostgresError.self) {
            try await impatient.run { db in
                runs.add(1, ordering: .relaxed)
                server.freeze()
                try Self.keep(1, db)
            }
        }
        #expect(error == .noAnswer)
        #expect(runs.load(ordering: .relaxed) == 1)
        // It accepts connections, but does not answer.
        error = await #expect(throws: PostgresError.self) { try await impatient.run { try Self.keep(2, $0) } }
        #expect(error == .noAnswer)
        // Both deadlines and a generous rest for a busy machine.
        #expect(ContinuousClock.now - began < .seconds(15))
        server.thaw()
        try await recover()
        #expect(try await count() == 0)
        impatient.close()
        pool.close()
    }

    /// The commit may have been written before the connection broke: to run again could write twice.
    @Test func aConnectionThatBreaksDuringTheCommitEndsTheTransaction() async throws {
        try PostgresConnection(pool.settings).run(
            """
            CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER leave AFTER INSERT ON kept DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION leave()
            """)
        let runs = Atomic(0)
        let error = await #expect(throws: PostgresError.self) {
            try await pool.run { db in
                runs.add(1, ordering: .relaxed)
                try Self.keep(1, db)
            }
        }
        #expect(error?.kind == .unreachable && error?.sqlState == "57P01")
        #expect(runs.load(ordering: .relaxed) == 1)
        #expect(try await count() == 0)
        pool.close()
    }

    @Test func aServerThatIsNotThereYetIsAwaited() async throws {
        try server.kill()
        await #expect(throws: PostgresError.self) { try await count() }
        try server.start()
        try await recover()
        pool.close()
    }

    /// Waits for the pool's next attempt to connect.
    private func recover() async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            do { return _ = try await count() } catch let error as PostgresError where error.kind == .unreachable && .now < deadline {}
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
