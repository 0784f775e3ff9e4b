import Foundation
import Store
import Testing
import Wire

struct WebhookTests {
    let world: StoreWorld
    var store: Store { world.store }

    init() throws { world = try StoreWorld() }

    func webhook(
        _ event: String, room: String = "r1", endpoint: String = "https://a", user: UserID? = nil, session: SessionID? = nil
    ) -> OutgoingWebhook {
        OutgoingWebhook(event: event, endpoint: endpoint, room: room, body: #"{"event":"\#(event)"}"#, userID: user, sessionID: session)
    }

    func lease(for endpoint: String = "https://a", at time: WallTime? = nil) async throws -> [StoredWebhook] {
        try await store.webhooks.lease(to: endpoint, limit: 10, for: .seconds(30), at: time ?? world.now)
    }

    @Test func webhooksOfARoomAreSentInOrder() async throws {
        try await store.webhooks.enqueue([webhook("one"), webhook("two"), webhook("three")], at: world.now)
        for event in ["one", "two", "three"] {
            let due = try await lease()
            #expect(due.map(\.webhook.event) == [event])
            #expect(try await lease().isEmpty, "the room's next one waits")
            #expect(try await store.webhooks.delivered(due[0], at: world.now))
        }
        #expect(try await lease().isEmpty)
    }

    @Test func theRequestThatCausedAWebhookIsKeptAndSealed() async throws {
        var caused = webhook("one")
        caused.requestID = "request-of-a-client"
        try await store.webhooks.enqueue([caused, webhook("two", room: "r2")], at: world.now)
        #expect(try await lease().map(\.webhook.requestID).sorted { ($0 ?? "") < ($1 ?? "") } == [nil, "request-of-a-client"])
        let stored = try world.blobs("SELECT request FROM webhooks WHERE request IS NOT NULL")
        #expect(stored.count == 1 && stored[0].range(of: Data("request-of-a-client".utf8)) == nil)
        #expect(try await store.verify().isClean)
    }

    @Test func theTraceOfAWebhookIsKept() async throws {
        let trace = TraceContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
        var (both, traced) = (webhook("one"), webhook("two", room: "r2"))
        (both.requestID, both.trace, traced.trace) = ("request-of-a-client", trace, trace)
        try await store.webhooks.enqueue([both, traced], at: world.now)
        let leased = try await lease().map(\.webhook).sorted { $0.event < $1.event }
        #expect(leased.map(\.trace) == [trace, trace] && leased.map(\.requestID) == ["request-of-a-client", nil])
    }

    @Test func whatWaitsIsCountedWithItsAge() async throws {
        func expect(_ count: Int, since oldest: WallTime?) async throws {
            let waiting = try await store.webhooks.waiting()
            #expect(waiting.count == count && waiting.oldest == oldest)
        }
        try await expect(0, since: nil)
        try await store.webhooks.enqueue([webhook("one")], at: world.now)
        try await store.webhooks.enqueue([webhook("two")], at: world.now + .seconds(60))
        try await expect(2, since: world.now)
        #expect(try await store.webhooks.delivered(lease()[0], at: world.now + .seconds(61)))
        try await expect(1, since: world.now + .seconds(60))
    }

    @Test func aFailingRoomDoesNotBlockOtherRooms() async throws {
        try await store.webhooks.enqueue([webhook("one"), webhook("two"), webhook("one", room: "r2")], at: world.now)
        let due = try await lease()
        #expect(due.map(\.webhook.room).sorted() == ["r1", "r2"])
        let stuck = try #require(due.first { $0.webhook.room == "r1" })
        try await store.webhooks.retry(stuck, due: world.now + .seconds(60), reason: "refused")
        #expect(try await lease(at: world.now + .seconds(59)).allSatisfy { $0.webhook.room != "r1" })
        let again = try await lease(at: world.now + .seconds(60)).filter { $0.webhook.room == "r1" }
        #expect(again.map(\.webhook.event) == ["one"] && again.map(\.attempts) == [2] && again.map(\.reason) == ["refused"])
    }

    @Test func aDeadEndpointDoesNotBlockOthers() async throws {
        var event = webhook("one")
        var events = [event]
        event.endpoint = "https://b"
        events.append(event)
        try await store.webhooks.enqueue(events, at: world.now)
        let due = try await lease() + lease(for: "https://b")
        #expect(due.map(\.webhook.endpoint) == ["https://a", "https://b"] && Set(due.map(\.webhook.id)).count == 1)
    }

    @Test func manyRoomsOfOneEndpointDoNotStarveOthers() async throws {
        try await store.webhooks.enqueue((0..<40).map { webhook("one", room: "r\($0)", endpoint: "https://dead") }, at: world.now)
        try await store.webhooks.enqueue([webhook("one")], at: world.now)
        #expect(try await lease().map(\.webhook.endpoint) == ["https://a"])
    }

    @Test func anAbandonedWebhookAdvancesItsLane() async throws {
        try await store.webhooks.enqueue([webhook("one"), webhook("two")], at: world.now)
        let first = try await lease()[0]
        try await store.webhooks.giveUp(first, reason: "status 410", at: world.now)
        let dead = try await store.webhooks.list(.dead)
        #expect(dead.map(\.webhook.event) == ["one"] && dead.map(\.reason) == ["status 410"])
        #expect(try await lease().map(\.webhook.event) == ["two"])
    }

    @Test func webhooksOfARemovedEndpointExpire() async throws {
        try await store.webhooks.enqueue([webhook("one", endpoint: "https://former"), webhook("one")], at: world.now)
        try await store.webhooks.enqueue([webhook("two")], at: world.now + .seconds(3_600))
        try await store.expire(at: world.now + .seconds(86_400))
        #expect(try await store.webhooks.list(.dead).map(\.webhook.endpoint).sorted() == ["https://a", "https://former"])
        #expect(try await lease(at: world.now + .seconds(86_400)).map(\.webhook.event) == ["two"])
        #expect(try await store.verify().isClean)
        try await store.expire(at: world.now + .seconds(4 * 86_400))
        #expect(try await store.webhooks.list().allSatisfy { $0.webhook.endpoint == "https://a" })
    }

    @Test func aReplayedWebhookGetsANewLifetime() async throws {
        try await store.webhooks.enqueue([webhook("one")], at: world.now)
        let later = world.now + .seconds(90_000)
        #expect(try await lease(at: later).isEmpty)
        let id = try await store.webhooks.list(.dead)[0].webhook.id
        try await store.webhooks.replay(id, at: later)
        let again = try #require(try await lease(at: later).first)
        #expect(again.expiresAt == later + .seconds(86_400))
    }

    @Test func anExpiredWebhookIsDeadAndItsLaneAdvances() async throws {
        try await store.webhooks.enqueue([webhook("old")], at: world.now)
        try await store.webhooks.enqueue([webhook("new")], at: world.now + .seconds(3_600))
        #expect(try await lease(at: world.now + .seconds(86_400)).map(\.webhook.event) == ["new"])
        #expect(try await store.webhooks.list(.dead).map(\.webhook.event) == ["old"])
    }

    @Test func anExpiredLeaseIsTakenOver() async throws {
        try await store.webhooks.enqueue([webhook("one")], at: world.now)
        let first = try await lease()[0]
        let second = try #require(try await lease(at: world.now + .seconds(30)).first)
        #expect(second.webhook == first.webhook)
        #expect(try await store.webhooks.delivered(first, at: world.now) == false)
        #expect(try await store.webhooks.delivered(second, at: world.now))
    }

    @Test func aDeliveredWebhookCanBeReplayed() async throws {
        try await store.webhooks.enqueue([webhook("one")], at: world.now)
        let sent = try await lease()[0]
        try await store.webhooks.delivered(sent, at: world.now)
        try await store.webhooks.replay(sent.webhook.id, at: world.now)
        #expect(try await lease().map(\.webhook) == [sent.webhook])
        await #expect(throws: StoreError.notFound) { try await store.webhooks.replay(WebhookID(), at: world.now) }
    }

    @Test func aWebhookIsStoredWithItsChange() async throws {
        let user = try await world.makeUser()
        let webhooks: @Sendable (Session) -> [OutgoingWebhook] = {
            [webhook("session_ended", room: $0.roomName, user: $0.userID, session: $0.id)]
        }
        let session = try await world.startSession(of: user)
        _ = try await store.sessions.end(session.id, of: user.id, webhooks: webhooks, at: world.now)
        _ = try await store.sessions.end(session.id, of: user.id, webhooks: webhooks, at: world.now)
        #expect(try await store.webhooks.list().map(\.webhook.room) == [session.roomName])
    }

    @Test func aRolledBackChangeEnqueuesNoWebhook() async throws {
        let user = try await world.makeUser()
        await #expect(throws: StoreError.notFound) {
            try await store.sessions.end(SessionID(), of: user.id, webhooks: { _ in [webhook("session_ended")] }, at: world.now)
        }
        #expect(try await store.webhooks.list().isEmpty)
    }

    @Test func webhooksAreDeletedWithTheirUserOrSession() async throws {
        let user = try await world.makeUser()
        let session = try await world.startSession(of: user)
        try await store.webhooks.enqueue([webhook("a", user: user.id), webhook("b", session: session.id), webhook("c")], at: world.now)
        try await store.sessions.delete(session.id, of: user.id)
        #expect(try await store.webhooks.list().map(\.webhook.event) == ["c", "a"])
        try await store.accounts.deleteUser(user.id)
        try await store.webhooks.enqueue([webhook("d", user: user.id)], at: world.now)
        #expect(try await store.webhooks.list().map(\.webhook.event) == ["c"])
        #expect(try await lease().map(\.webhook.event) == ["c"])
        #expect(try await store.verify().isClean)
    }
}
