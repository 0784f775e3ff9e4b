import Foundation
import Testing

@testable import Store

/// What repositories may expect of a transaction on any database.
struct TransactionTests {
    private let world: StoreWorld
    private var database: any Database { world.store.database }

    init() throws { world = try StoreWorld() }

    @Test func valuesComeBackAsTheyWereGiven() async throws {
        let (id, time) = (SessionID(), world.now)
        try await database.read { db in
            let row = try #require(
                try db.one(
                    "SELECT ? AS id, ? AS time, ? AS text, ? AS bytes, ? AS flag, ? AS number, ? AS word, ? AS none", id, time, "é🎉",
                    Data([0, 255]), true, Int64.min, Turn.Speaker.user, String?.none))
            #expect(try row["id"] == id && row["time"] == time && row["text"] == "é🎉" && row["bytes"] == Data([0, 255]))
            #expect(try row["flag"] == true && row["number"] == Int64.min && row["word"] == Turn.Speaker.user)
            #expect(try row["none"] as String? == nil)
        }
    }

    @Test(arguments: ["7", "NULL", "'7'", "1.5"])
    func aValueOfAnotherTypeIsDamaged(sql: String) async throws {
        try await database.read { db in
            let row = try #require(try db.one("SELECT \(sql) AS a"))
            let damaged = StoreError.damaged(location: "the column a of a row")
            #expect(throws: damaged) { try row["a"] as Data }
            #expect(throws: damaged) { try row["a"] as SessionID }
            #expect(throws: damaged) { try row["a"] as Turn.Speaker }
            if sql != "7" { #expect(throws: damaged) { try row["a"] as Int } }
        }
    }

    @Test func rowsAreReadOneByOneWhileOthersAreReadByTheSameStatement() async throws {
        let numbers = "SELECT 1 AS n UNION ALL SELECT 2 ORDER BY n"
        let pairs = try await database.read { db in
            var pairs: [[Int]] = []
            try db.each(numbers, with: []) { outer in
                try db.each(numbers, with: []) { inner in pairs.append([try outer[0], try inner[0]]) }
            }
            return pairs
        }
        #expect(pairs == [[1, 1], [1, 2], [2, 1], [2, 2]])
    }

    @Test func aBodyThatThrowsLeavesNothingBehind() async throws {
        let user = try await world.makeUser()
        await #expect(throws: StoreError.keyReused) {
            try await database.write { db in
                try db.execute("DELETE FROM users WHERE id = ?", user.id)
                throw StoreError.keyReused
            }
        }
        #expect(try await world.store.accounts.user(user.id) == user)
    }
}
