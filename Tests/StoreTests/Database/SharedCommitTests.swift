import Foundation
import GRDB
import Identity
import Store
import Testing

/// Writes that arrive during a commit share the next one. Here another connection locks the database until enough writes are queued.
@Suite(.onlyOnSQLite) struct SharedCommitTests {
    let world: StoreWorld
    var store: Store { world.store }

    init() throws { world = try StoreWorld() }

    @Test func queuedWritesShareACommit() async throws {
        let user = try await world.makeUser()
        let session = try await world.startSession(of: user)
        try await store.compact()
        let holder = try world.holdWrites()
        let writes = 40
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<writes {
                let turn = world.turn("hello", in: session, after: .milliseconds(index))
                group.addTask {
                    let answer = try await store.sessions.append(turn, of: user.id)
                    #expect(answer == .stored)
                }
            }
            try holder.inDatabase { db in try db.commit() }
            try await group.waitForAll()
        }
        #expect(try world.commitsInLog() < writes)
    }

    @Test func aFailedWriteDoesNotAffectItsBatch() async throws {
        let user = try await world.makeUser()
        let session = try await world.startSession(of: user)
        let holder = try world.holdWrites()
        let failures = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<40 {
                let turn = world.turn("hello", in: session, after: .milliseconds(index))
                group.addTask {
                    guard index.isMultiple(of: 4) else {
                        let answer = try await store.sessions.append(turn, of: user.id)
                        #expect(answer == .stored)
                        return 0
                    }
                    await #expect(throws: StoreError.notFound) { try await store.sessions.delete(SessionID(), of: user.id) }
                    return 1
                }
            }
            try holder.inDatabase { db in try db.commit() }
            return try await group.reduce(0, +)
        }
        #expect(failures == 10)
        #expect(try await store.sessions.record(of: session.id, of: user.id).turns.count == 30)
        #expect(try await store.verify().isClean)
    }

    /// The turns have the same time, so that only the order of the writes tells them apart.
    @Test func writesOfOneCallerKeepTheirOrder() async throws {
        let user = try await world.makeUser()
        let sessions = try await (0..<8).asyncMap { _ in try await world.startSession(of: user) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for session in sessions {
                group.addTask {
                    for index in 0..<20 { _ = try await store.sessions.append(world.turn("\(index)", in: session), of: user.id) }
                }
            }
            try await group.waitForAll()
        }
        for session in sessions {
            #expect(try await store.sessions.record(of: session.id, of: user.id).turns.map(\.text) == (0..<20).map(String.init))
        }
    }

    @Test func writesBeyondTheQueueLimitAreRefusedAtOnce() async throws {
        let holder = try world.holdWrites()
        let count = StoreLimits.writesWaitingMax + StoreLimits.writesPerCommitMax + 20
        await withTaskGroup(of: StoreError?.self) { group in
            for index in 0..<count {
                group.addTask { () -> StoreError? in
                    do throws(StoreError) {
                        try await store.sessions.removeOrphanedFiles(["\(index).ogg"])
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            // No write can complete while the database is locked.
            #expect(await group.next() == .busy)
            #expect(throws: Never.self) { try holder.inDatabase { db in try db.commit() } }
            var kept = 0
            for await outcome in group {
                #expect(outcome == nil || outcome == .busy)
                if outcome == nil { kept += 1 }
            }
            #expect(kept >= StoreLimits.writesWaitingMax)
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<T>(_ transform: (Element) async throws -> T) async rethrows -> [T] {
        var all: [T] = []
        for element in self { all.append(try await transform(element)) }
        return all
    }
}
