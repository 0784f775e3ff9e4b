import Testing

@testable import Store

/// Lasting conversations.
struct ConversationTests {
    private let world: StoreWorld
    private let (ann, bob, eve): (User, User, User)
    private var store: Store { world.store }

    init() async throws {
        world = try StoreWorld()
        ann = try await world.makeUser("ann@example.org")
        bob = try await world.makeUser("bob@example.org")
        eve = try await world.makeUser("eve@example.org")
    }

    /// A conversation of Ann and Bob.
    private func talk() async throws -> ConversationID {
        let id = try await store.conversations.make(named: "Secret Santa", by: ann.id, at: world.now).id
        try await store.conversations.invite(bob.id, to: id, by: ann.id, at: world.now)
        _ = try await store.conversations.join(id, of: bob.id, at: world.now)
        return id
    }

    private func kinds(_ id: ConversationID, for user: User) async throws -> [ConversationEvent.Kind] {
        try await store.conversations.events(of: id, for: user.id).events.map(\.kind)
    }

    @Test func eventsTellWhatHasHappenedInOrder() async throws {
        let id = try await talk()
        _ = try await store.conversations.say("hello", in: id, by: bob.id, at: world.now + .seconds(1))
        try await store.conversations.leave(id, of: bob.id, at: world.now + .seconds(2))
        let events = try await store.conversations.events(of: id, for: ann.id).events
        #expect(events.map(\.kind) == [.joined, .invited, .joined, .text, .left])
        #expect(events.map(\.user) == [ann.id, bob.id, bob.id, bob.id, bob.id])
        #expect(events.map(\.number) == [1, 2, 3, 4, 5] && events[3].text == "hello")
        let page = try await store.conversations.events(of: id, for: ann.id, after: 3, limit: 1)
        #expect(page.events.map(\.number) == [4] && page.hasMore)
    }

    @Test func aConversationDoesNotExistForOthers() async throws {
        let id = try await talk()
        await #expect(throws: StoreError.notFound) { try await store.conversations.conversation(id, of: eve.id) }
        await #expect(throws: StoreError.notFound) { try await store.conversations.members(of: id, for: eve.id) }
        await #expect(throws: StoreError.notFound) { try await store.conversations.events(of: id, for: eve.id) }
        await #expect(throws: StoreError.notFound) { try await store.conversations.join(id, of: eve.id, at: world.now) }
        await #expect(throws: StoreError.notFound) { try await store.conversations.leave(id, of: eve.id, at: world.now) }
        await #expect(throws: StoreError.notFound) { try await store.conversations.invite(eve.id, to: id, by: eve.id, at: world.now) }
        await #expect(throws: StoreError.notFound) { try await store.conversations.say("psst", in: id, by: eve.id, at: world.now) }
        #expect(try await store.conversations.list(of: eve.id).elements.isEmpty)
    }

    @Test func anInvitedUserSeesItsInviterAndNeitherMembersNorEvents() async throws {
        let id = try await talk()
        try await store.conversations.invite(eve.id, to: id, by: bob.id, at: world.now)
        try await store.conversations.invite(eve.id, to: id, by: ann.id, at: world.now)
        let invitation = try await store.conversations.conversation(id, of: eve.id)
        #expect(invitation.state == .invited && invitation.inviter == bob.id && invitation.memberCount == 3)
        await #expect(throws: StoreError.notFound) { try await store.conversations.members(of: id, for: eve.id) }
        await #expect(throws: StoreError.notFound) { try await store.conversations.events(of: id, for: eve.id) }
        await #expect(throws: StoreError.notFound) { try await store.conversations.say("psst", in: id, by: eve.id, at: world.now) }
        for _ in 0..<2 { #expect(try await store.conversations.join(id, of: eve.id, at: world.now).state == .joined) }
        #expect(try await kinds(id, for: eve) == [.joined, .invited, .joined, .invited, .joined], "repeating changes nothing")
        #expect(try await store.conversations.conversation(id, of: eve.id).inviter == nil, "it matters only for the invitation")
        #expect(try await store.conversations.members(of: id, for: eve.id).elements.map(\.user) == [ann.id, bob.id, eve.id])
    }

    @Test func aDeletedInvitersInvitationStaysWithoutItsName() async throws {
        let id = try await talk()
        try await store.conversations.invite(eve.id, to: id, by: bob.id, at: world.now)
        try await store.accounts.deleteUser(bob.id)
        let invitation = try await store.conversations.conversation(id, of: eve.id)
        #expect(invitation.state == .invited && invitation.inviter == nil && invitation.memberCount == 2)
    }

    // MARK: Limits

    /// Makes conversations of Ann with one more member, as if by as many requests.
    private func fill(_ count: Int, with user: User, _ state: ConversationMember.State) throws {
        try world.thief { db in
            for _ in 0..<count {
                let id = ConversationID().text
                _ = try db.execute("INSERT INTO conversations SELECT ?, created_at, name, 1 FROM conversations LIMIT 1", [id])
                for (member, state) in [(ann, ConversationMember.State.joined), (user, state)] {
                    _ = try db.execute(
                        "INSERT INTO conversation_members (conversation_id, user_id, state, since, position) VALUES (?, ?, ?, 1, 1)",
                        [id, member.id, state])
                }
            }
        }
    }

    @Test func pendingInvitationsNeitherFillAUsersConversationsNorGrowWithoutLimit() async throws {
        let id = try await talk()
        try fill(StoreLimits.invitationsPerUserMax - 1, with: eve, .invited)
        try await store.conversations.invite(eve.id, to: id, by: bob.id, at: world.now)
        let one = try await store.conversations.make(named: "", by: bob.id, at: world.now).id
        await #expect(throws: StoreError.notFound) { try await store.conversations.invite(eve.id, to: one, by: bob.id, at: world.now) }
        _ = try await store.conversations.make(named: "Eve's own", by: eve.id, at: world.now)
        _ = try await store.conversations.join(id, of: eve.id, at: world.now)
        try await store.conversations.invite(eve.id, to: one, by: bob.id, at: world.now)
    }

    @Test func aUserJoinsOnlySoManyConversations() async throws {
        let id = try await talk()
        try fill(StoreLimits.conversationsPerUserMax, with: eve, .joined)
        try await store.conversations.invite(eve.id, to: id, by: bob.id, at: world.now)
        func isRefused(_ error: any Error) -> Bool { if case StoreError.refused = error { true } else { false } }
        await #expect { try await store.conversations.join(id, of: eve.id, at: world.now) } throws: { isRefused($0) }
        await #expect { try await store.conversations.make(named: "", by: eve.id, at: world.now) } throws: { isRefused($0) }
        #expect(try await store.conversations.conversation(id, of: eve.id).state == .invited)
    }

    @Test func aFullConversationDropsOnlyEventsOfTheUserWithTheMost() async throws {
        let id = try await talk()
        _ = try await store.conversations.say("from Ann", in: id, by: ann.id, at: world.now)
        try world.thief { db in
            _ = try db.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 5 UNION ALL SELECT i + 1 FROM n WHERE i < ?3)
                INSERT INTO conversation_events (conversation_id, number, user_id, kind, at)
                SELECT ?1, i, ?2, 'member:joined', ?4 FROM n
                """, [id, bob.id, StoreLimits.eventsPerConversationMax, world.now])
            _ = try db.execute("UPDATE conversations SET last_event = ?", [StoreLimits.eventsPerConversationMax])
        }
        for _ in 0..<5 { _ = try await store.conversations.say("flood", in: id, by: bob.id, at: world.now) }
        _ = try await store.conversations.say("still here", in: id, by: ann.id, at: world.now)
        let events = try await store.conversations.events(of: id, for: ann.id, limit: StoreLimits.eventsPerConversationMax + 1).events
        #expect(events.count == StoreLimits.eventsPerConversationMax)
        #expect(events.filter { $0.user == ann.id }.map(\.number) == [1, 4, 10_006], "Bob cannot displace Ann's")
        // Invitation and join, numbers 2 and 3, are Bob's oldest events.
        #expect(events.first { $0.user == bob.id }?.number == 9)
    }

    @Test func whoLeftReturnsOnlyByInvitation() async throws {
        let id = try await talk()
        try await store.conversations.leave(id, of: bob.id, at: world.now)
        await #expect(throws: StoreError.notFound) { try await store.conversations.join(id, of: bob.id, at: world.now) }
        try await store.conversations.invite(bob.id, to: id, by: ann.id, at: world.now)
        #expect(try await store.conversations.join(id, of: bob.id, at: world.now).state == .joined)
    }

    @Test func theLastMembersLeaveDeletesTheConversation() async throws {
        let id = try await talk()
        for user in [ann, bob] { try await store.conversations.leave(id, of: user.id, at: world.now) }
        let left = try world.count("SELECT (SELECT count(*) FROM conversations) + (SELECT count(*) FROM conversation_events)")
        #expect(left == 0)
    }

    @Test func membersAndConversationsArePaged() async throws {
        let id = try await talk()
        let first = try await store.conversations.members(of: id, for: ann.id, limit: 1)
        let rest = try await store.conversations.members(of: id, for: ann.id, after: first.next, limit: 1)
        #expect(first.elements.map(\.user) == [ann.id] && rest.elements.map(\.user) == [bob.id] && rest.next == nil)
        let later = try await store.conversations.make(named: "", by: ann.id, at: world.now + .seconds(1)).id
        let page = try await store.conversations.list(of: ann.id, limit: 1)
        let cursor = try page.next.map { try TimeCursor(text: $0.text) }
        #expect(page.elements.map(\.id) == [later])
        #expect(try await store.conversations.list(of: ann.id, after: cursor, limit: 1).elements.map(\.id) == [id])
    }

    @Test func textsAreSealedAndDeletedWithTheirWriter() async throws {
        let id = try await talk()
        _ = try await store.conversations.say("meet me at the harbour", in: id, by: bob.id, at: world.now)
        for words in ["harbour", "Secret Santa"] { #expect(try world.files(with: words.utf8).isEmpty) }
        #expect(try await store.verify().isClean)
        #expect(try await store.conversations.texts(of: bob.id).map(\.event.text) == ["meet me at the harbour"])
        try await store.accounts.deleteUser(bob.id)
        #expect(try await kinds(id, for: ann) == [.joined])
        #expect(try await store.conversations.members(of: id, for: ann.id).elements.map(\.user) == [ann.id])
        #expect(try await store.verify().isClean)
        try await store.accounts.deleteUser(ann.id)
        #expect(try world.count("SELECT count(*) FROM conversations") == 0, "it has no members")
    }

    @Test func eventsAreKeptAsLongAsTheirUserWants() async throws {
        let id = try await talk()
        _ = try await store.accounts.updateSettings(of: ann.id) { $0.retentionDays = 60 }
        _ = try await store.conversations.say("from Bob", in: id, by: bob.id, at: world.now)
        _ = try await store.conversations.say("from Ann", in: id, by: ann.id, at: world.now)
        try await store.expire(at: world.now + .seconds(30 * 86_400 + 1))
        #expect(try await store.conversations.events(of: id, for: bob.id).events.map(\.user) == [ann.id, ann.id])
        #expect(try await store.conversations.conversation(id, of: bob.id).lastEvent == 5, "numbers go on")
    }
}
