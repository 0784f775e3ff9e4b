import Foundation
import Gateway
import Testing

/// `GET /v1/me/export`.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct AccountExportTests {
    @Test func exportHasEverythingOfTheUserAndNothingOfOthers() throws {
        let backend = try TestBackend()
        let (ann, bob) = (try AppUser(backend), try AppUser(backend, "bob@example.org"))
        let (first, second) = (try ann.start(clientContext: "orders").session, try ann.start().session)
        try ann.say("meet me at the harbour", in: first)
        try bob.say("at the station", in: try bob.start().session)
        let answer = try ann.ask("GET", "/v1/me/export")
        #expect(answer.status == 200 && answer.fields["content-disposition"]?.contains("attachment") == true)
        #expect((answer.json?["user"] as? [String: Any])?["email"] as? String == ann.email)
        let sessions = try #require(answer.json?["sessions"] as? [[String: Any]])
        #expect(Set(sessions.compactMap { ($0["session"] as? [String: Any])?["id"] as? String }) == [first, second])
        let told = try #require(sessions.first { ($0["turns"] as? [Any])?.isEmpty == false })
        #expect((told["turns"] as? [[String: Any]])?.first?["text"] as? String == "meet me at the harbour")
        #expect(told["client_context"] as? String == "orders")
        #expect(!answer.text.contains("station") && answer.fields["link"] == nil)
    }

    @Test func exportContinuesAfterACursor() throws {
        let backend = try TestBackend()
        let ann = try AppUser(backend)
        let sessions = try (0..<3).map { _ in
            // Timestamps have a resolution of 1 ms.
            Thread.sleep(forTimeInterval: 0.002)
            return try ann.start().session
        }
        let list = try ann.ask("GET", "/v1/sessions?limit=1")
        let cursor = try #require(list.fields["link"]?.firstMatch(of: /cursor=([^>]*)>/)).1
        let answer = try ann.ask("GET", "/v1/me/export?cursor=\(cursor)")
        let rest = (answer.json?["sessions"] as? [[String: Any]])?.compactMap { ($0["session"] as? [String: Any])?["id"] as? String }
        #expect(rest == [sessions[1], sessions[0]])
        #expect(try ann.ask("GET", "/v1/me/export?cursor=x").status == 400)
    }
}
