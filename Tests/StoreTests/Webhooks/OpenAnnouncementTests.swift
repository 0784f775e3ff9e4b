import Store
import Testing
import Wire

/// Rooms and calls that are open at nodes of a cluster.
struct OpenAnnouncementTests {
    private let world: StoreWorld
    private var webhooks: Webhooks { world.store.webhooks }

    init() throws { world = try StoreWorld() }

    private func open(_ key: String, at node: String?) async throws {
        let open = OpenAnnouncement(key: key, content: "about \(key)", node: node)
        try await webhooks.announce(Announcement([], effect: .opens(open)), at: world.now)
    }

    private func keys(_ prefix: String = "", except nodes: String...) async throws -> [String] {
        try await webhooks.openAnnouncements(prefix, except: nodes).map(\.key)
    }

    private func end(of open: OpenAnnouncement) -> Announcement {
        Announcement(
            [OutgoingWebhook(event: "room_finished", endpoint: "https://a", room: "r", body: "{}")], effect: .recovers(open))
    }

    @Test func whatIsOpenAtOtherNodesIsFound() async throws {
        try await open("room 1", at: "a/1")
        try await open("room 2", at: "b/1")
        try await open("room 3", at: "a/2")
        try await open("room 4", at: nil)
        try await open("call 1", at: "b/1")
        #expect(try await keys().count == 5)
        #expect(try await keys("room ", except: "a/1", "a/2") == ["room 2", "room 4"])
        #expect(try await keys("call ", except: "a/1") == ["call 1"])
        #expect(try await keys(except: "a/1", "a/2", "b/1") == ["room 4"])
        let all = try await webhooks.openAnnouncements()
        #expect(all.map(\.node) == ["b/1", "a/1", "b/1", "a/2", nil] && all[0].content == "about call 1")
    }

    @Test func aRoomThatMovesIsOpenAtItsNewHome() async throws {
        try await open("room 1", at: "a/1")
        let (old, new) = (RoomEpoch(number: 1, claim: 9), RoomEpoch(number: 2, claim: 3))
        try await webhooks.move("room 1", to: "b/1", fencedBy: RoomFence("den", new, at: world.now))
        #expect(try await keys(except: "b/1") == [])
        await #expect(throws: StoreError.superseded(byNumber: 2)) {
            try await webhooks.move("room 1", to: "a/1", fencedBy: RoomFence("den", old, at: world.now))
        }
        try await webhooks.move("room 2", to: "b/1", fencedBy: RoomFence("attic", old, at: world.now))
        #expect(try await keys() == ["room 1"], "a room that was not announced is not open")
    }

    @Test func ofSeveralNodesOneAnnouncesTheEnd() async throws {
        try await open("room 1", at: "a/1")
        let found = try await webhooks.openAnnouncements()[0]
        await withTaskGroup { group in
            for _ in 1...5 { group.addTask { try? await webhooks.announce(end(of: found), at: world.now) } }
        }
        #expect(try await webhooks.list().map(\.webhook.event) == ["room_finished"])
        #expect(try await keys() == [])
    }

    @Test func theEndOfARoomThatHasMovedMeanwhileIsNotAnnounced() async throws {
        try await open("room 1", at: "a/1")
        let found = try await webhooks.openAnnouncements()[0]
        try await webhooks.move("room 1", to: "b/1", fencedBy: RoomFence("den", RoomEpoch(number: 2, claim: 3), at: world.now))
        try await webhooks.announce(end(of: found), at: world.now)
        #expect(try await webhooks.list().isEmpty)
        #expect(try await keys() == ["room 1"])
    }
}
