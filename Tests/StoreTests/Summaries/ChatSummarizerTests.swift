import Foundation
import OutgoingHTTP
import Store
import Testing

@Suite("ChatSummarizer")
struct ChatSummarizerTests {
    private static let settings = ChatSummarizer.Settings(
        url: "https://chat.example/v1/chat/completions", model: "small", authorization: "Bearer key")

    private func answer(_ content: String, status: Int = 200, finish: String = "stop") async throws -> SummaryContent {
        let escaped = String(decoding: try JSONEncoder().encode(content), as: UTF8.self)
        let body = #"{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":\#(escaped)},"finish_reason":"\#(finish)"}]}"#
        let summarizer = ChatSummarizer(Self.settings) { _ in OutgoingResponse(status: status, body: Array(body.utf8)) }
        return try await summarizer.summary(of: Dialogues.session(), turns: [])
    }

    private static let good = #"{"title":"T","summary_text":"Some text.","action_items":["Do it"],"tags":["One"]}"#

    @Test("requests the schema, with the conversation as the user's message")
    func request() async throws {
        let (requests, arrivals) = AsyncStream<OutgoingHTTPRequest>.makeStream()
        let summarizer = ChatSummarizer(Self.settings) { request in
            arrivals.yield(request)
            return OutgoingResponse(status: 500)
        }
        let turns = Dialogues.turns(of: "user: Buy milk.\nassistant: Done.")
        await #expect(throws: ChatSummaryError.refused(status: 500)) { try await summarizer.summary(of: Dialogues.session(), turns: turns) }
        let request = try #require(await requests.first { _ in true })
        #expect(request.url == Self.settings.url)
        #expect(request.headers.contains(OutgoingHeader("authorization", "Bearer key")))
        let body = try #require(try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any])
        let format = try #require(body["response_format"] as? [String: Any])
        #expect(format["type"] as? String == "json_schema")
        let named = try #require(format["json_schema"] as? [String: Any])
        let schema = try #require(named["schema"] as? [String: Any])
        #expect(schema["additionalProperties"] as? Bool == false)
        #expect(schema["required"] as? [String] == ["title", "summary_text", "action_items", "tags"])
        let messages = try #require(body["messages"] as? [[String: String]])
        #expect(messages.last == ["role": "user", "content": "User: Buy milk.\nAssistant: Done."])
    }

    @Test("decodes the response")
    func answer() async throws {
        let summary = try await answer(Self.good)
        #expect(summary == SummaryContent(title: "T", summaryText: "Some text.", actionItems: ["Do it"], tags: ["one"]))
    }

    @Test("decodes a response in a Markdown fence")
    func fence() async throws {
        #expect(try await answer("```json\n\(Self.good)\n```").title == "T")
    }

    @Test("shortens fields that are too long")
    func long() async throws {
        let items = (0..<50).map { #""item \#($0)""# }.joined(separator: ",")
        let summary = try await answer(
            #"{"title":"\#(String(repeating: "word ", count: 100))","summary_text":"s","action_items":[\#(items)],"tags":["a"," "]}"#)
        #expect(summary.title == Array(repeating: "word", count: 8).joined(separator: " ") + "…")
        #expect(summary.actionItems.count == 8)
        #expect(summary.tags == ["a"])
    }

    @Test("refuses invalid summaries", arguments: ["", "no", "{}", #"{"title":"","summary_text":"x","action_items":[],"tags":[]}"#, "}{"])
    func unreadable(_ content: String) async throws {
        await #expect(throws: ChatSummaryError.unreadable) { try await answer(content) }
    }

    @Test("refuses truncated responses")
    func unfinished() async throws {
        await #expect(throws: ChatSummaryError.unfinished) { try await answer(Self.good, finish: "length") }
    }

    @Test("retries server errors, but not client errors", arguments: [(429, true), (503, true), (401, false), (400, false)])
    func retryable(_ status: Int, _ isRetryable: Bool) {
        #expect(ChatSummaryError.refused(status: status).isRetryable == isRetryable)
    }

    @Test("shortens a long conversation to its beginning and end")
    func longConversation() async throws {
        let (requests, arrivals) = AsyncStream<OutgoingHTTPRequest>.makeStream()
        let summarizer = ChatSummarizer(Self.settings) { request in
            arrivals.yield(request)
            throw CancellationError()
        }
        let lines = (0..<4_000).map { "user: Line \($0), and some more words to make it longer than that." }
        _ = try? await summarizer.summary(of: Dialogues.session(), turns: Dialogues.turns(of: lines.joined(separator: "\n")))
        let text = String(decoding: try #require(await requests.first { _ in true }).body, as: UTF8.self)
        #expect(text.utf8.count < 110_000)
        #expect(text.contains("Line 0,") && text.contains("Line 3999,") && text.contains("[…]"))
    }
}
