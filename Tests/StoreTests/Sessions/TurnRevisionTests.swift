import Store
import Testing

struct TurnRevisionTests {
    let world: StoreWorld
    var store: Store { world.store }

    init() throws { world = try StoreWorld() }

    private func texts(of session: Session, _ user: User) async throws -> [String] {
        try await store.sessions.record(of: session.id, of: user.id).turns.map(\.text)
    }

    @Test func aLaterRevisionReplacesATurn() async throws {
        let user = try await world.makeUser()
        let session = try await world.startSession(of: user)
        var turn = world.turn("I saw a whale", in: session, after: .seconds(4))
        turn.audioRef = "r.ogg"
        turn.durationMs = 900
        turn.revision = 2
        #expect(try await store.sessions.append(turn, of: user.id) == .stored)
        _ = try await store.sessions.append(world.turn("Really?", in: session, after: .seconds(5), by: .assistant), of: user.id)

        var corrected = turn
        corrected.text = "I saw a wall"
        corrected.timestamp = session.startedAt + .seconds(3)
        corrected.durationMs = 700
        corrected.revision = 3
        #expect(try await store.sessions.append(corrected, of: user.id) == .replaced)
        #expect(try await store.sessions.record(of: session.id, of: user.id).turns[0] == corrected)
        #expect(try await texts(of: session, user) == ["I saw a wall", "Really?"])
        #expect(try await store.verify().problems == [])
    }

    @Test func theSameOrALowerRevisionNeverOverwrites() async throws {
        let user = try await world.makeUser()
        let session = try await world.startSession(of: user)
        var turn = world.turn("third", in: session)
        turn.revision = 3
        #expect(try await store.sessions.append(turn, of: user.id) == .stored)
        for (revision, text) in [(3, "again"), (2, "second"), (0, "first")] {
            turn.revision = revision
            turn.text = text
            #expect(try await store.sessions.append(turn, of: user.id) == .unchanged)
        }
        #expect(try await texts(of: session, user) == ["third"])
    }

    @Test func anUnplayedTurnIsDeletedAndStaysDeleted() async throws {
        let user = try await world.makeUser()
        let session = try await world.startSession(of: user)
        var turn = world.turn("never played", in: session, by: .assistant)
        turn.revision = 1
        _ = try await store.sessions.append(turn, of: user.id)
        turn.revision = 2
        turn.text = ""
        #expect(try await store.sessions.append(turn, of: user.id) == .replaced)
        #expect(try await texts(of: session, user) == [])
        turn.revision = 1
        turn.text = "never played"
        #expect(try await store.sessions.append(turn, of: user.id) == .unchanged)
        #expect(try await texts(of: session, user) == [])
        #expect(try await store.verify().problems == [])
    }

    @Test func aRevisionAfterTheSummaryRepeatsTheSummary() async throws {
        let user = try await world.makeUser()
        let session = try await world.startSession(of: user)
        var turn = world.turn("Buy twenty apples, please.", in: session)
        _ = try await store.sessions.append(turn, of: user.id)
        let end = world.now + .seconds(60)
        _ = try await store.sessions.end(session.id, of: user.id, at: end)
        let worker = SummaryWorker(store: store.sessions, summarizer: ExtractiveSummarizer())
        #expect(try await worker.runNext { end } == .stored(session.id, of: user.id, isFirst: true))
        #expect(try await store.sessions.record(of: session.id, of: user.id).summary?.content.title == "Buy twenty apples, please.")
        #expect(try await worker.runNext { end } == .idle)

        _ = try await store.sessions.append(turn, of: user.id)
        #expect(try await worker.runNext { end } == .idle, "the same revision changes nothing")
        #expect(try await store.sessions.session(session.id, of: user.id).summaryStatus == .ready)
        turn.revision = 1
        turn.text = "Buy twelve apples, please."
        _ = try await store.sessions.append(turn, of: user.id)
        let changed = try await store.sessions.record(of: session.id, of: user.id)
        #expect(changed.session.summaryStatus == .pending && changed.summary != nil, "the earlier one remains until then")
        #expect(try await worker.runNext { end } == .stored(session.id, of: user.id, isFirst: false))
        #expect(try await store.sessions.record(of: session.id, of: user.id).summary?.content.title == "Buy twelve apples, please.")
    }

    @Test func aSummaryOfAnEarlierRevisionIsNotStoredOverALaterOne() async throws {
        let user = try await world.makeUser()
        let session = try await world.startSession(of: user)
        var turn = world.turn("first", in: session)
        _ = try await store.sessions.append(turn, of: user.id)
        let end = world.now + .seconds(60)
        _ = try await store.sessions.end(session.id, of: user.id, at: end)
        let slow = try #require(try await store.sessions.lease(.summary, for: .seconds(60), at: end))
        turn.revision = 1
        turn.text = "second"
        _ = try await store.sessions.append(turn, of: user.id)
        let fresh = try #require(
            try await store.sessions.lease(.summary, for: .seconds(60), at: end), "due at once, whoever holds the old lease")
        await #expect(throws: StoreError.notFound) {
            try await store.sessions.saveSummary(StoreWorld.content, for: session.id, of: user.id, finishing: slow, at: end)
        }
        try await store.sessions.saveSummary(StoreWorld.content, for: session.id, of: user.id, finishing: fresh, at: end)
    }
}
