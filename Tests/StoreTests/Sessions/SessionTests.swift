import Store
import Testing

struct SessionTests {
    let world: StoreWorld
    var store: Store { world.store }

    init() throws { world = try StoreWorld() }

    @Test func aStoredSessionIsReturnedUnchanged() async throws {
        let user = try await world.makeUser()
        let request = SessionRequest(context: "carplay", assistantID: "guide", clientContext: "on the road")
        let session = try await store.sessions.start(request, of: user.id, at: world.now).session
        let late = world.turn("second", in: session, after: .seconds(2), by: .assistant)
        var early = world.turn("first", in: session, after: .seconds(1))
        early.audioRef = "a1.ogg"
        early.durationMs = 900
        #expect(try await store.sessions.append(late, of: user.id) == .stored)
        #expect(try await store.sessions.append(early, of: user.id) == .stored)

        let record = try await store.sessions.record(of: session.id, of: user.id)
        #expect(record.session == session && record.session.context == "carplay" && record.session.assistantID == "guide")
        #expect(record.turns == [early, late])
        #expect(record.summary == nil && record.clientContext == "on the road")
    }

    @Test func laterSettingsDoNotChangeExistingSessions() async throws {
        let user = try await world.makeUser(isLogged: false)
        let session = try await world.startSession(of: user)
        _ = try await store.accounts.updateSettings(of: user.id) { ($0.loggingEnabled, $0.hasSeenOnboarding) = (true, true) }
        #expect(try await store.sessions.append(world.turn("psst", in: session), of: user.id) == .notLogged)
        #expect(try await store.sessions.addRecording(SessionRecording(name: "r.ogg"), to: session.id, of: user.id) == false)
        #expect(try await world.startSession(of: user).loggingEnabledSnapshot)
        #expect(try await store.sessions.record(of: session.id, of: user.id).turns.isEmpty)
    }

    @Test func anUnloggedSessionKeepsNoText() async throws {
        let user = try await world.makeUser(isLogged: false)
        let request = SessionRequest(context: "phone", clientContext: "secret plan")
        let session = try await store.sessions.start(request, of: user.id, at: world.now).session
        _ = try await store.sessions.append(world.turn("psst", in: session), of: user.id)
        let ended = try await store.sessions.end(session.id, of: user.id, at: world.now).session
        let record = try await store.sessions.record(of: session.id, of: user.id)
        #expect(record.turns.isEmpty && record.clientContext == nil)
        #expect(session.summaryStatus == .notLogged && ended.summaryStatus == .notLogged)
        #expect(try await store.sessions.lease(.summary, for: .seconds(60), at: world.now) == nil)
        await #expect(throws: StoreError.notFound) {
            try await store.sessions.saveSummary(StoreWorld.content, for: session.id, of: user.id, at: world.now)
        }
    }

    @Test func anIdempotencyKeyReturnsTheSameSessionForADay() async throws {
        let (ann, bob) = (try await world.makeUser(), try await world.makeUser())
        let request = SessionRequest(context: "phone", idempotencyKey: "k1")
        let first = try await store.sessions.start(request, of: ann.id, at: world.now)
        let again = try await store.sessions.start(request, of: ann.id, at: world.now + .seconds(86_399))
        #expect(first.isNew && !again.isNew && again.session == first.session)
        #expect(try await store.sessions.start(request, of: bob.id, at: world.now).isNew)
        #expect(try await store.sessions.start(request, of: ann.id, at: world.now + .seconds(86_400)).isNew)
    }

    @Test func aKeyOfAnotherRequestIsRefused() async throws {
        let user = try await world.makeUser()
        let request = SessionRequest(context: "phone", clientContext: "orders", idempotencyKey: "k")
        let session = try await store.sessions.start(request, of: user.id, at: world.now).session
        var other = request
        other.clientContext = nil
        await #expect(throws: StoreError.keyReused) { try await store.sessions.start(other, of: user.id, at: world.now) }
        #expect(try await store.sessions.start(other, of: user.id, at: world.now + StoreLimits.idempotencyWindow).isNew)

        let turn = world.turn("hello", in: session)
        #expect(try await store.sessions.append(turn, of: user.id, isKeyed: true) == .stored)
        #expect(try await store.sessions.append(turn, of: user.id, isKeyed: true) == .unchanged)
        var changed = turn
        changed.text = "goodbye"
        await #expect(throws: StoreError.keyReused) { try await store.sessions.append(changed, of: user.id, isKeyed: true) }
        #expect(try await store.sessions.append(changed, of: user.id) == .unchanged, "a transcript may repeat a revision")
        #expect(try await store.sessions.record(of: session.id, of: user.id).turns == [turn])
    }

    @Test func aSessionKeepsTheLanguageOfItsStart() async throws {
        let user = try await world.makeUser()
        let request = SessionRequest(context: "phone", assistantID: "guide", assistantLanguage: "fr")
        let french = try await store.sessions.start(request, of: user.id, at: world.now).session
        _ = try await store.accounts.updateSettings(of: user.id) { $0.language = "de" }
        let german = try await store.sessions.start(request, of: user.id, at: world.now).session
        _ = try await store.accounts.updateSettings(of: user.id) { $0.language = nil }
        #expect(french.language == "fr" && german.language == "de")
        for session in [french, german] { #expect(try await store.sessions.session(session.id, of: user.id) == session) }
    }

    @Test func concurrentStartsWithOneKeyCreateOneSession() async throws {
        let user = try await world.makeUser()
        let ids = try await withThrowingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    try await store.sessions.start(SessionRequest(context: "web", idempotencyKey: "k"), of: user.id, at: world.now).session
                        .id
                }
            }
            return try await group.reduce(into: Set<SessionID>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
    }

    @Test func endingASessionIsIdempotent() async throws {
        let user = try await world.makeUser()
        let session = try await world.startSession(of: user)
        let first = try await store.sessions.end(session.id, of: user.id, at: world.now + .seconds(5))
        let second = try await store.sessions.end(session.id, of: user.id, at: world.now + .seconds(9))
        #expect(first.isEndedNow && !second.isEndedNow)
        #expect(second.session.endedAt == world.now + .seconds(5))
    }

    @Test func usersCannotReadOrChangeOthersSessions() async throws {
        let (ann, eve) = (try await world.makeUser(), try await world.makeUser())
        let session = try await world.talk(ann, ["hello"])
        await #expect(throws: StoreError.notFound) { try await store.sessions.record(of: session.id, of: eve.id) }
        await #expect(throws: StoreError.notFound) { try await store.sessions.session(session.id, of: eve.id) }
        await #expect(throws: StoreError.notFound) { try await store.sessions.end(session.id, of: eve.id, at: world.now) }
        await #expect(throws: StoreError.notFound) { try await store.sessions.append(world.turn("x", in: session), of: eve.id) }
        await #expect(throws: StoreError.notFound) { try await store.sessions.delete(session.id, of: eve.id) }
        await #expect(throws: StoreError.notFound) { try await store.sessions.recordings(of: session.id, of: eve.id) }
        await #expect(throws: StoreError.notFound) {
            try await store.sessions.addRecording(SessionRecording(name: "r"), to: session.id, of: eve.id)
        }
        await #expect(throws: StoreError.notFound) {
            try await store.sessions.saveSummary(StoreWorld.content, for: session.id, of: eve.id, at: world.now)
        }
        #expect(try await store.sessions.list(of: eve.id).elements.isEmpty)
        #expect(try await store.sessions.deleteAll(of: eve.id) == 0)
        await #expect(throws: StoreError.notFound) { try await store.sessions.background(of: session.id, of: eve.id) }
        #expect(try await store.sessions.record(of: session.id, of: ann.id).turns.count == 1)
    }

    @Test func aTurnIsStoredOncePerID() async throws {
        let user = try await world.makeUser()
        let session = try await world.startSession(of: user)
        let id = TurnID(session: session.id, segment: "SG_1")
        var turn = world.turn("hello", in: session)
        turn.id = id
        #expect(try await store.sessions.append(turn, of: user.id) == .stored)
        turn.text = "hello again"
        #expect(try await store.sessions.append(turn, of: user.id) == .unchanged)
        #expect(try await store.sessions.record(of: session.id, of: user.id).turns.map(\.text) == ["hello"])
        #expect(TurnID(session: session.id, segment: "SG_1") == id)
        #expect(TurnID(session: session.id, segment: "SG_2") != id)
        #expect(TurnID(session: SessionID(), segment: "SG_1") != id)
    }

    @Test func turnIDsAreScopedToTheSession() async throws {
        let (ann, bob) = (try await world.makeUser(), try await world.makeUser())
        let (one, two) = (try await world.startSession(of: ann), try await world.startSession(of: bob))
        var turn = world.turn("mine", in: one)
        #expect(try await store.sessions.append(turn, of: ann.id) == .stored)
        turn.sessionID = two.id
        #expect(try await store.sessions.append(turn, of: bob.id) == .stored)
    }

    @Test func textAboveTheLimitIsRefused() async throws {
        let user = try await world.makeUser()
        let session = try await world.startSession(of: user)
        let turn = world.turn(String(repeating: "x", count: StoreLimits.turnTextMax + 1), in: session)
        await #expect(throws: StoreError.self) { try await store.sessions.append(turn, of: user.id) }
        #expect(try await store.sessions.record(of: session.id, of: user.id).turns.isEmpty)
    }

    @Test(arguments: ["'; DROP TABLE turns; --", "\u{0}", "../../etc/passwd", "🙂", "\u{202E}evil", ""])
    func anyTextIsReturnedUnchanged(text: String) async throws {
        let user = try await world.makeUser()
        let request = SessionRequest(context: text, assistantID: text, clientContext: text, idempotencyKey: text)
        let session = try await store.sessions.start(request, of: user.id, at: world.now).session
        _ = try await store.sessions.append(world.turn(text, in: session), of: user.id)
        let record = try await store.sessions.record(of: session.id, of: user.id)
        #expect(record.turns.map(\.text) == [text] && record.session.context == text && record.clientContext == text)
    }

    @Test func userWithTooManyOpenSessionsStartsNoOther() async throws {
        let (user, other) = (try await world.makeUser(), try await world.makeUser())
        let repeated = SessionRequest(context: "phone", idempotencyKey: "tap")
        let first = try await store.sessions.start(repeated, of: user.id, at: world.now).session
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1..<StoreLimits.openSessionsPerUserMax { group.addTask { _ = try await world.startSession(of: user) } }
            try await group.waitForAll()
        }
        await #expect(throws: StoreError.tooManySessions) { try await world.startSession(of: user) }
        let again = try await store.sessions.start(repeated, of: user.id, at: world.now)
        #expect(again.session.id == first.id && !again.isNew)
        _ = try await world.startSession(of: other)
        _ = try await store.sessions.end(first.id, of: user.id, at: world.now)
        _ = try await world.startSession(of: user)
        await #expect(throws: StoreError.tooManySessions) { try await world.startSession(of: user) }
    }

    @Test func openSessionsAreFound() async throws {
        let user = try await world.makeUser()
        try await world.talk(user, [])
        let open = try await world.startSession(of: user)
        #expect(try await store.sessions.openSessions(startedBefore: world.now + .seconds(1)) == [open])
        #expect(try await store.sessions.openSessions(startedBefore: world.now).isEmpty)
    }
}
