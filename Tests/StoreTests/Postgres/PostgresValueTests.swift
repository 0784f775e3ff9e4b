import Foundation
import TestStore
import Testing

@testable import Store

/// Values reach the server and return unchanged.
@Suite(.enabled(if: PostgresServer.isInstalled))
struct PostgresValueTests {
    private let connection: PostgresConnection

    init() throws {
        connection = try PostgresConnection(PostgresSettings(target: PostgresServer.shared().makeDatabase()))
        try connection.run("CREATE TABLE kept (number int8, fraction float8, word text, bytes bytea)")
    }

    private func keep(_ number: Int64?, _ fraction: Double?, _ word: String?, _ bytes: Data?) throws -> PostgresResult {
        try connection.execute(
            "INSERT INTO kept VALUES ($1, $2, $3, $4) RETURNING *", [.int8(number), .float8(fraction), .text(word), .bytea(bytes)])
    }

    @Test(arguments: [0, 1, -1, .min, .max] as [Int64]) func integersReturn(_ number: Int64) throws {
        #expect(try keep(number, nil, nil, nil).integer(0, 0) == number)
    }

    @Test(arguments: [0, -0.0, 1.5, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude])
    func doublesReturn(_ fraction: Double) throws {
        #expect(try keep(nil, fraction, nil, nil).double(0, 1)?.bitPattern == fraction.bitPattern)
    }

    @Test(arguments: ["", "hello", "größer 你好 🎙", "'; DROP TABLE kept; --", "$1"]) func textReturns(_ word: String) throws {
        #expect(try keep(nil, nil, word, nil).text(0, 2) == word)
    }

    @Test(arguments: [Data(), Data([0]), Data(0...255), Data(repeating: 0xA5, count: 1 << 20)]) func bytesReturn(_ bytes: Data) throws {
        #expect(try keep(nil, nil, nil, bytes).data(0, 3) == bytes)
    }

    @Test func nullsOfAllKindsReturn() throws {
        let result = try keep(nil, nil, nil, nil)
        #expect((0..<4).allSatisfy { result.isNull(0, $0) && result.bytes(0, $0) == nil })
        #expect(try result.integer(0, 0) == nil && result.double(0, 1) == nil && result.text(0, 2) == nil && result.data(0, 3) == nil)
    }

    @Test func emptyBytesAreNotNull() throws {
        let result = try keep(nil, nil, "", Data())
        #expect(!result.isNull(0, 2) && !result.isNull(0, 3))
    }

    @Test func smallerNumbersAndTruthAreRead() throws {
        let result = try connection.execute("SELECT (-2)::int2, (-3)::int4, true, false, 1.5::float4, count(*) FROM kept")
        #expect(try (0..<4).map { try result.integer(0, $0) } == [-2, -3, 1, 0])
        #expect(try result.double(0, 4) == 1.5)
        #expect(try result.integer(0, 5) == 0)
    }

    @Test func aColumnOfAnotherTypeIsAnErrorWithoutItsValue() throws {
        let result = try connection.execute("SELECT 'secret'::text AS word, 7::numeric")
        let error = #expect(throws: PostgresError.self) { try result.integer(0, 0) }
        #expect(error?.kind == .other && "\(error as Any)".contains("secret") == false)
        #expect(throws: PostgresError.self) { try result.double(0, 1) }
        #expect(throws: PostgresError.self) { try result.text(0, 1) }
    }

    @Test func rowsAndColumnsAreCounted() throws {
        for number in 1...3 { _ = try keep(Int64(number), nil, nil, nil) }
        let result = try connection.execute("SELECT number, word FROM kept ORDER BY number")
        #expect(result.rowCount == 3 && result.columnCount == 2)
        #expect(result.column(named: "word") == 1 && result.column(named: "bytes") == nil)
        #expect(try (0..<3).map { try result.integer($0, 0) } == [1, 2, 3])
        #expect(try connection.execute("UPDATE kept SET word = $1 WHERE number > $2", [.text("x"), .int8(1)]).affectedRowCount == 2)
        #expect(try connection.execute("DELETE FROM kept").affectedRowCount == 3)
        #expect(try connection.execute("SELECT * FROM kept").rowCount == 0)
    }

    @Test func aStatementRunsWithNullsAndValuesInTurn() throws {
        let words = ["a", nil, "b", nil]
        let sql = "SELECT coalesce($1, 'none')"
        #expect(try words.map { try connection.execute(sql, [.text($0)]).text(0, 0) } == ["a", "none", "b", "none"])
    }

    @Test func moreStatementsThanStayPreparedRun() throws {
        for number in 0..<PostgresConnection.preparedMax + 10 {
            #expect(try connection.execute("SELECT $1 + \(number)", [.int8(1)]).integer(0, 0) == Int64(number) + 1)
        }
        #expect(
            try connection.execute("SELECT count(*) FROM pg_prepared_statements").integer(0, 0) == Int64(PostgresConnection.preparedMax))
    }
}
