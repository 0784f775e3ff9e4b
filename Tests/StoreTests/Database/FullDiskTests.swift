import GRDB
import Glibc
import Store
import Testing

@Suite(.onlyOnSQLite) struct FullDiskTests {
    @Test func aFullStoreKeepsReadingAndRecovers() async throws {
        let world = try StoreWorld(sizeMax: 400_000)
        let store = world.store
        let user = try await world.makeUser()
        let first = try await world.talk(user, ["hello"])
        let session = try await world.startSession(of: user)
        var kept: [TurnID] = []
        var isFull = false
        while !isFull, kept.count < 1_000 {
            let turn = world.turn(String(repeating: "many words ", count: 100), in: session, after: .milliseconds(kept.count))
            do {
                _ = try await store.sessions.append(turn, of: user.id)
                kept.append(turn.id)
            } catch {
                #expect(error == StoreError.full)
                isFull = true
            }
        }
        #expect(isFull)
        #expect(try await store.sessions.record(of: session.id, of: user.id).turns.map(\.id) == kept)
        #expect(try await store.verify().isClean)

        try await store.sessions.delete(session.id, of: user.id)
        #expect(try await store.sessions.append(world.turn("there is room", in: first), of: user.id) == .stored)
    }

    /// Writes share a commit, and the one that is too big must not take the others with it.
    @Test func aFullDiskFailsOnlyTheWritesThatDoNotFit() async throws {
        // Room for two big turns and all small ones, however large an empty store is.
        let world = try StoreWorld(sizeMax: try Self.emptySize() + 160_000)
        let user = try await world.makeUser()
        let session = try await world.startSession(of: user)
        let outcomes = await withTaskGroup { group in
            for index in 0..<60 {
                let text = index.isMultiple(of: 6) ? String(repeating: "x", count: 60_000) : "small"
                let turn = world.turn(text, in: session, after: .milliseconds(index))
                group.addTask { (text, try? await world.store.sessions.append(turn, of: user.id)) }
            }
            return await group.reduce(into: [(String, TurnOutcome?)]()) { $0.append($1) }
        }
        #expect(outcomes.contains { $0.1 == nil })
        #expect(outcomes.allSatisfy { $0.0 != "small" || $0.1 == .stored })
        let kept = outcomes.count { $0.1 == .stored }
        #expect(try await world.store.sessions.record(of: session.id, of: user.id).turns.count == kept)
    }

    /// In bytes.
    private static func emptySize() throws -> Int {
        let world = try StoreWorld()
        return try world.sqliteThief { db in
            let (count, size) = (try Int.fetchOne(db, sql: "PRAGMA page_count"), try Int.fetchOne(db, sql: "PRAGMA page_size"))
            return (count ?? 0) * (size ?? 0)
        }
    }

    /// In a process of its own, since the limit is a process's.
    @Test func aFullDiskIsReportedAndWritesResumeWhenThereIsSpace() async throws {
        await #expect(processExitsWith: .success) {
            let world = try StoreWorld()
            let user = try await world.makeUser()
            let session = try await world.startSession(of: user)
            FullDiskTests.limitFiles(to: 1 << 20)
            var kept: [TurnID] = []
            var failure: StoreError?
            while failure == nil, kept.count < 2_000 {
                let turn = world.turn(String(repeating: "many words ", count: 100), in: session, after: .milliseconds(kept.count))
                do throws(StoreError) {
                    _ = try await world.store.sessions.append(turn, of: user.id)
                    kept.append(turn.id)
                } catch {
                    failure = error
                }
            }
            #expect(failure == .full)
            #expect(try await world.store.sessions.record(of: session.id, of: user.id).turns.map(\.id) == kept)

            FullDiskTests.limitFiles(to: 64 << 20)
            let turn = world.turn("there is room", in: session, after: .seconds(60))
            #expect(try await world.store.sessions.append(turn, of: user.id) == .stored)
            #expect(try await world.store.sessions.record(of: session.id, of: user.id).turns.map(\.id) == kept + [turn.id])
            #expect(try await world.store.verify().isClean)
        }
    }

    /// The log has no space left, and the file of the reserve cannot be made again.
    @Test func deletionsAreWrittenOnAFullDiskAndOthersOnceTheReserveIsBack() async throws {
        await #expect(processExitsWith: .success) {
            let world = try StoreWorld()
            let (store, ann, bob) = (world.store, try await world.makeUser(), try await world.makeUser("bob@example.org"))
            let sessions = [try await world.talk(ann, ["hello"]), try await world.talk(ann, ["again"])]
            FullDiskTests.limitFiles(to: 1 << 20)
            var failure: StoreError?
            for number in 0..<10_000 where failure == nil {
                do throws(StoreError) { _ = try await store.accounts.updateSettings(of: bob.id) { $0.voice = "voice \(number)" } } catch {
                    failure = error
                }
            }
            #expect(failure == .full)

            try await store.sessions.delete(sessions[0].id, of: ann.id)
            #expect(try await store.sessions.list(of: ann.id).elements.map(\.id) == [sessions[1].id])
            await #expect(throws: StoreError.full) { try await store.sessions.append(world.turn("no", in: sessions[1]), of: ann.id) }
            try await store.accounts.deleteUser(ann.id)
            await #expect(throws: StoreError.notFound) { try await store.accounts.user(ann.id) }

            FullDiskTests.limitFiles(to: 64 << 20)
            var isWritten = false
            for _ in 0..<300 where !isWritten {
                isWritten = (try? await store.accounts.updateSettings(of: bob.id) { $0.voice = "alto" }) != nil
                if !isWritten { try await Task.sleep(for: .milliseconds(50)) }
            }
            #expect(isWritten)
            #expect(try await store.verify().isClean)
        }
    }

    /// Filled up to different bytes of the last page.
    @Test(arguments: [400_000, 420_000, 440_000, 460_000]) func everythingCanBeDeletedFromAFullStore(_ size: Int) async throws {
        let world = try StoreWorld(sizeMax: size)
        let (store, user) = (world.store, try await world.makeUser())
        let sessions = [try await world.startSession(of: user), try await world.startSession(of: user)]
        var names = 0
        for length in [30_000, 3_000, 300, 30] {
            await #expect(throws: StoreError.full) {
                while true {
                    _ = try await store.sessions.append(world.turn(String(repeating: "x", count: length), in: sessions[0]), of: user.id)
                }
            }
        }
        await #expect(throws: StoreError.full) {
            while true {
                names += 1
                _ = try await store.sessions.addRecording(SessionRecording(name: "recording \(names)"), to: sessions[1].id, of: user.id)
            }
        }
        // The names of its recordings move to another table.
        try await store.sessions.delete(sessions[1].id, of: user.id)
        #expect(try await store.sessions.orphanedFiles().count == names - 1)
        try await store.sessions.removeOrphanedFiles(try await store.sessions.orphanedFiles())
        try await store.accounts.deleteUser(user.id)
        await #expect(throws: StoreError.notFound) { try await store.accounts.user(user.id) }
        _ = try await world.talk(try await world.makeUser("bob@example.org"), ["there is room"])
        #expect(try await store.verify().isClean)
    }

    private static func limitFiles(to bytes: UInt) {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
        limit.rlim_cur = bytes
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
    }
}
