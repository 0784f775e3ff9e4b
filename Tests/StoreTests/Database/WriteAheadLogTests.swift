import Foundation
import GRDB
import Store
import Testing

/// Deleted data stays in the write-ahead log for a while, encrypted.
@Suite(.onlyOnSQLite) struct WriteAheadLogTests {
    let world: StoreWorld
    var store: Store { world.store }

    init() throws { world = try StoreWorld() }

    @Test(.timeLimit(.minutes(1))) func aDeletedSessionLeavesTheDiskWithinSeconds() async throws {
        let user = try await world.makeUser()
        let session = try await world.talk(user, ["hello"])
        let turn = try world.sealedTurn(of: session)
        #expect(try world.files(with: turn) != [])
        try await store.sessions.delete(session.id, of: user.id)
        try await untilNothingIsLeft(of: turn)
        #expect(try world.files(with: session.id.text.utf8) == [])
    }

    @Test(.timeLimit(.minutes(1))) func aDeletedSessionLeavesTheDiskDuringContinuousUse() async throws {
        let user = try await world.makeUser()
        let session = try await world.talk(user, ["hello"])
        let turn = try world.sealedTurn(of: session)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { while !Task.isCancelled { try await world.talk(user, ["and", "on"]) } }
                group.addTask { while !Task.isCancelled { _ = try await store.sessions.list(of: user.id) } }
            }
            group.addTask {
                try await store.sessions.delete(session.id, of: user.id)
                try await untilNothingIsLeft(of: turn)
            }
            // The others never end by themselves.
            try await group.next()
            group.cancelAll()
            do { try await group.waitForAll() } catch StoreError.cancelled {}
        }
        #expect(try await store.verify().isClean)
    }

    /// A command deletes while the gateway runs, and exits at once. The gateway's connection keeps SQLite from removing the log.
    @Test func closingRightAfterADeletionLeavesNothing() async throws {
        let user = try await world.makeUser()
        let session = try await world.talk(user, ["hello"])
        let turn = try world.sealedTurn(of: session)
        let beside = try Store(directory: world.directory, masterKeys: [world.masterKey], access: .beside)
        try await beside.sessions.delete(session.id, of: user.id)
        try beside.close()
        #expect(try world.files(with: turn) == [])
    }

    @Test(.timeLimit(.minutes(1))) func remainsInTheLogAreRemovedAfterTheNextStart() async throws {
        let user = try await world.makeUser()
        let session = try await world.talk(user, ["hello"])
        let turn = try world.sealedTurn(of: session)
        try store.close()
        // As a gateway that was killed right after a deletion leaves it.
        let other = try world.makeConnection()
        try await other.write { db in try db.execute(sql: "PRAGMA secure_delete = ON; DELETE FROM sessions") }
        #expect(try world.files(with: turn) != [])
        let next = try Store(directory: world.directory, masterKeys: [world.masterKey])
        try await untilNothingIsLeft(of: turn)
        try next.close()
    }

    /// The log is truncated without a pause in the writes.
    @Test func theLogStaysShortDuringContinuousWrites() async throws {
        let user = try await world.makeUser()
        let sessions = [try await world.startSession(of: user), try await world.startSession(of: user)]
        let text = String(repeating: "many words ", count: 5_900)
        let longest = try await withThrowingTaskGroup(of: Int.self) { group in
            for session in sessions + sessions {
                group.addTask {
                    var longest = 0
                    for _ in 0..<300 {
                        _ = try await store.sessions.append(world.turn(text, in: session), of: user.id)
                        longest = try max(longest, world.logSize())
                    }
                    return longest
                }
            }
            return try await group.reduce(0, max)
        }
        #expect(longest < 50 << 20, "80 MB were written")
        #expect(try await store.verify().isClean)
    }

    private func untilNothingIsLeft(of bytes: Data) async throws {
        while try !world.files(with: bytes).isEmpty { try await Task.sleep(for: .milliseconds(50)) }
    }
}
