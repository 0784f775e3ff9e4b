import Store
import Testing

struct SessionListTests {
    let world: StoreWorld
    var store: Store { world.store }

    init() throws { world = try StoreWorld() }

    @Test func sessionsAreListedNewestFirstWithTitleAndSnippet() async throws {
        let user = try await world.makeUser()
        let old = try await world.talk(user, ["hi"], at: world.now)
        let new = try await world.startSession(of: user, at: world.now + .seconds(100))
        try await store.sessions.saveSummary(StoreWorld.content, for: old.id, of: user.id, at: world.now)
        let page = try await store.sessions.list(of: user.id)
        #expect(page.elements.map(\.id) == [new.id, old.id] && page.next == nil)
        #expect(page.elements[0].title == nil && page.elements[0].endedAt == nil)
        #expect(page.elements[1].title == "Groceries" && page.elements[1].summarySnippet == "Apples were ordered.")
        #expect(page.elements[1].endedAt == old.endedAt)
    }

    @Test func aLongSummaryIsShortenedBetweenWords() async throws {
        let user = try await world.makeUser()
        let session = try await world.talk(user, ["hi"])
        var content = StoreWorld.content
        content.summaryText = String(repeating: "word ", count: 100)
        try await store.sessions.saveSummary(content, for: session.id, of: user.id, at: world.now)
        let snippet = try #require(try await store.sessions.list(of: user.id).elements[0].summarySnippet)
        #expect(snippet.hasSuffix("word…") && snippet.count <= StoreLimits.snippetLength + 1)
    }

    /// Many of them began in the same millisecond.
    @Test func pagingReturnsEverySessionOnce() async throws {
        let user = try await world.makeUser()
        var made: Set<SessionID> = []
        try await withThrowingTaskGroup { group in
            for index in 0..<1_000 {
                group.addTask { try await world.startSession(of: user, at: world.now + .milliseconds(index / 7)).id }
            }
            for try await id in group { made.insert(id) }
        }
        var (read, cursor, pages): ([SessionListing], TimeCursor?, Int) = ([], nil, 0)
        repeat {
            let page = try await store.sessions.list(of: user.id, after: cursor, limit: 64)
            read += page.elements
            cursor = try page.next.map { try TimeCursor(text: $0.text) }
            pages += 1
        } while cursor != nil
        #expect(pages == 16 && read.count == 1_000 && Set(read.map(\.id)) == made)
        #expect(zip(read, read.dropFirst()).allSatisfy { $0.startedAt >= $1.startedAt })
    }

    @Test func aPageThatIsExactlyFullIsTheLast() async throws {
        let user = try await world.makeUser()
        for index in 0..<4 { _ = try await world.startSession(of: user, at: world.now + .seconds(index)) }
        let first = try await store.sessions.list(of: user.id, limit: 2)
        let second = try await store.sessions.list(of: user.id, after: first.next, limit: 2)
        #expect(first.next != nil && second.elements.count == 2 && second.next == nil)
    }

    @Test(arguments: ["", "AAAA", "é", "MSAy", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OSBh"])
    func invalidCursorsAreRefused(text: String) {
        #expect(throws: StoreError.invalidCursor) { try TimeCursor(text: text) }
    }

    @Test(arguments: [0, -1, StoreLimits.sessionsPerPageMax + 1])
    func thePageSizeIsLimited(limit: Int) async throws {
        let user = try await world.makeUser()
        await #expect(throws: StoreError.self) { try await store.sessions.list(of: user.id, limit: limit) }
    }
}
