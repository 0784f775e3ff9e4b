import Store
import Testing

struct SnippetTests {
    /// As long as a snippet may be, one longer, with a blank at the edge, without any, with characters of several bytes, with line ends.
    static let texts = [
        String(repeating: "x", count: 160), String(repeating: "x", count: 161), String(repeating: "x", count: 159) + " y",
        String(repeating: "x", count: 160) + " y", String(repeating: "four ", count: 32), String(repeating: "four ", count: 33),
        String(repeating: "größer ", count: 30), String(repeating: "e\u{301} ", count: 79) + "the end is here",
        String(repeating: "ab\r\n", count: 53), String(repeating: "ab\r\n", count: 60), String(repeating: "👩‍👩‍👧 ", count: 90),
        String(repeating: "x", count: 158) + " é and more",
    ]

    @Test(arguments: texts)
    func aSummaryIsShortenedBetweenWordsNeverWithinACharacter(text: String) async throws {
        let world = try StoreWorld()
        let user = try await world.makeUser()
        let session = try await world.talk(user, ["hi"])
        var content = StoreWorld.content
        content.summaryText = text
        try await world.store.sessions.saveSummary(content, for: session.id, of: user.id, at: world.now)
        let snippet = try #require(try await world.store.sessions.list(of: user.id).elements[0].summarySnippet)
        let head = text.prefix(StoreLimits.snippetLength)
        let cut = head.endIndex == text.endIndex ? text : (head.lastIndex(of: " ").map { head[..<$0] } ?? head) + "…"
        #expect(snippet == cut)
    }
}
