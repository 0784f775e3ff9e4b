import Foundation
import TestStore
import Testing

@testable import Store

/// Errors have their kind, and contain no values.
@Suite(.enabled(if: PostgresServer.isInstalled))
struct PostgresErrorTests {
    private let target: String
    private let connection: PostgresConnection

    init() throws {
        target = try PostgresServer.shared().makeDatabase()
        connection = try PostgresConnection(PostgresSettings(target: target))
        try connection.run(
            """
            CREATE TABLE users (email text CONSTRAINT users_email UNIQUE CHECK (email <> 'forbidden'));
            CREATE TABLE letters (email text REFERENCES users (email))
            """)
    }

    private func error(_ sql: String, _ parameters: PostgresParameter...) -> PostgresError? {
        #expect(throws: PostgresError.self) { try connection.execute(sql, parameters) }
    }

    @Test func aTakenNameIsAUniqueViolation() throws {
        _ = try connection.execute("INSERT INTO users VALUES ($1)", [.text("ann@example.org")])
        let error = error("INSERT INTO users VALUES ($1)", .text("ann@example.org"))
        #expect(error?.kind == .unique(constraint: "users_email") && error?.sqlState == "23505")
        #expect(!"\(error as Any)".contains("ann@"))
    }

    @Test func aMissingParentIsAForeignKeyViolation() {
        let error = error("INSERT INTO letters VALUES ($1)", .text("bob@example.org"))
        #expect(error?.kind == .foreignKey && !"\(error as Any)".contains("bob@"))
    }

    @Test(arguments: [
        ("SELECT $1::text::int8", "topsecret"), ("SELECT ($1::text || '99999999999999999999')::int8", "31415"),
        ("INSERT INTO users VALUES ($1)", "forbidden"), ("SELECT $1", "nul\u{0}topsecret"),
    ])
    func messagesDoNotQuoteValues(_ sql: String, _ value: String) {
        let error = error(sql, .text(value))
        #expect(error?.kind == .other && !"\(error as Any)".contains(value) && !"\(error as Any)".contains("topsecret"))
    }

    /// Errors that cannot be caused here: a function raises their code.
    @Test(
        arguments: [
            ("40001", .retry), ("40P01", .retry), ("53100", .full), ("57P03", .unreachable), ("25006", .unreachable),
            ("08006", .unreachable),
            ("57014", .timeout), ("42P01", .missing), ("42703", .missing), ("XX001", .damaged), ("XX002", .damaged), ("53200", .retry),
            ("42501", .other),
        ] as [(String, PostgresError.Kind)])
    func codesHaveTheirKind(_ code: String, _ kind: PostgresError.Kind) throws {
        let error = #expect(throws: PostgresError.self) {
            try connection.run("DO $$ BEGIN RAISE 'raised' USING ERRCODE = '\(code)'; END $$")
        }
        #expect(error?.kind == kind && error?.sqlState == code && error?.description == "PostgreSQL \(code): raised")
    }

    @Test func aConnectionWorksAfterErrors() throws {
        #expect(error("SELECT nothing FROM nowhere")?.sqlState == "42P01")
        #expect(error("SELEC")?.sqlState == "42601")
        #expect(try connection.execute("SELECT 1").integer(0, 0) == 1)
    }

    @Test func aLongStatementIsCancelled() async throws {
        let pool = PostgresPool(PostgresSettings(target: target), size: 1)
        let error = await #expect(throws: PostgresError.self) {
            try await pool.run(timeout: .milliseconds(50)) { _ = try $0.execute("SELECT pg_sleep(60)") }
        }
        #expect(error?.kind == .timeout)
        #expect(try await pool.run { try $0.execute("SELECT 1").integer(0, 0) } == 1)
        pool.close()
    }

    @Test func copyIsNotSupportedAndDoesNotHang() {
        let error = error("COPY users FROM STDIN")
        #expect(error?.kind == .other && !connection.isOpen)
        #expect(self.error("SELECT 1")?.kind == .unreachable)
    }

    // MARK: Connecting

    private func connecting(to target: String, password: String? = nil) -> PostgresError? {
        #expect(throws: PostgresError.self) { try PostgresConnection(PostgresSettings(target: target, password: password)) }
    }

    @Test func aWrongPasswordIsNotInTheError() throws {
        let target = try PostgresServer.shared().target(of: "postgres", role: PostgresServer.lockedRole)
        let error = connecting(to: target, password: "wr0ng")
        #expect(error?.kind == .unreachable && error?.message.contains("password authentication failed") == true)
        #expect(!"\(error as Any)".contains("wr0ng"))
        let opened = try PostgresConnection(PostgresSettings(target: target, password: "tops3cret"))
        #expect(try opened.execute("SELECT current_user").text(0, 0) == PostgresServer.lockedRole)
        #expect(try PostgresConnection(PostgresSettings(target: target + " password=tops3cret")).isOpen)
        #expect(connecting(to: target + " password=tops3cret", password: "wr0ng")?.kind == .unreachable)
    }

    @Test(arguments: [
        "postgresql://user:tops3cret@127.0.0.1:1/db", "host=/nonexistent password=tops3cret",
        "postgresql://user:tops3cret@127.0.0.1:1,[::1]:1/db",
    ])
    func anUnreachableServerIsNamedWithoutThePassword(_ target: String) {
        let error = connecting(to: target)
        #expect(error?.kind == .unreachable && error?.message.contains("connection to server") == true, "\(error as Any)")
        #expect(!"\(error as Any)".contains("tops3cret"))
    }

    @Test(arguments: ["postgresql://user:tops3cret%zz@host/db", "password=tops3cret tops3cret", "host='tops3cret"])
    func anInvalidConnectionStringIsNotQuoted(_ target: String) {
        let error = connecting(to: target)
        #expect(error?.kind == .other && !"\(error as Any)".contains("tops3cret"), "\(error as Any)")
    }

    @Test func aServerThatOnlyReadsIsUnreachable() throws {
        let name = try #require(target.split(separator: "=").last)
        try connection.run("ALTER DATABASE \(name) SET default_transaction_read_only = on")
        #expect(connecting(to: target)?.kind == .unreachable)
    }
}
