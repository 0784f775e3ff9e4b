import Identity
import Testing
import Wire

@testable import Store

/// The history of a user's calls.
struct CallHistoryTests {
    private let world: StoreWorld
    private var store: Store { world.store }

    init() throws { world = try StoreWorld() }

    private func entry(_ id: String, endedAt: WallTime) -> CallLogEntry {
        let ann = CallParty.user(Identity(text: "ann"))
        return CallLogEntry(
            id: CallID(text: id), caller: ann, callerName: "Secret Santa", status: .completed,
            members: [.init(party: ann, status: .completed)], startedAt: endedAt - .seconds(60), answeredAt: nil, endedAt: endedAt)
    }

    private func note(_ id: String, of user: User, at time: WallTime) async throws {
        var announcement = Announcement()
        announcement.call = (user.id, entry(id, endedAt: time))
        try await store.webhooks.announce(announcement, at: time)
    }

    @Test func callsAreListedNewestFirstAndKeptAsLongAsSessions() async throws {
        let (ann, bob) = (try await world.makeUser(), try await world.makeUser())
        _ = try await store.accounts.updateSettings(of: bob.id) { $0.retentionDays = 60 }
        for (index, id) in ["CA_a", "CA_b", "CA_c"].enumerated() {
            for user in [ann, bob] { try await note(id, of: user, at: world.now + .seconds(index)) }
        }
        let first = try await store.calls.list(of: ann.id, limit: 2)
        #expect(first.elements.map(\.id.text) == ["CA_c", "CA_b"])
        let rest = try await store.calls.list(of: ann.id, after: try first.next.map { try TimeCursor(text: $0.text) }, limit: 2)
        #expect(rest.elements == [entry("CA_a", endedAt: world.now)] && rest.next == nil)
        #expect(try await store.verify().isClean)
        #expect(try world.files(with: "Secret Santa".utf8).isEmpty)
        try await store.expire(at: world.now + .seconds(30 * 86_400 + 2))
        #expect(try await store.calls.list(of: ann.id).elements.map(\.id.text) == ["CA_c"])
        #expect(try await store.calls.list(of: bob.id).elements.count == 3)
    }

    @Test func historyAndContactsAreDeletedWithTheirUser() async throws {
        let ann = try await world.makeUser()
        try await store.accounts.setContacts([Contact(address: "bob@example.org")], of: ann.id)
        try await note("CA_a", of: ann, at: world.now)
        try await store.accounts.deleteUser(ann.id)
        try await note("CA_b", of: ann, at: world.now)
        let left = try world.count("SELECT (SELECT count(*) FROM calls) + (SELECT count(*) FROM contacts)")
        #expect(left == 0)
    }
}
