import Foundation
import Testing
import Wire

@testable import PatchbayAgents

struct AnswerBriefingTests {
    /// 27 November 2026, 15:05 UTC.
    private static let date = Date(timeIntervalSince1970: 1_795_791_900)

    private static func text(zone: String = "GMT", after heard: String? = nil) throws -> String {
        AnswerBriefing(date: date, timeZone: try #require(TimeZone(identifier: zone)), interruptedAfter: heard).text
    }

    @Test func aModelKnowsThatItsAnswerIsSpoken() throws {
        let text = try Self.text()
        #expect(text.contains("spoken") && text.contains("short sentences") && text.contains("no lists") && text.contains("emojis"))
        #expect(!text.contains("interrupted"))
    }

    @Test(arguments: [
        ("GMT", "Friday, 27 November 2026, 15:05 (GMT, UTC+00:00)"),
        ("Europe/Berlin", "Friday, 27 November 2026, 16:05 (Europe/Berlin, UTC+01:00)"),
        ("Asia/Kolkata", "Friday, 27 November 2026, 20:35 (Asia/Kolkata, UTC+05:30)"),
        ("Pacific/Auckland", "Saturday, 28 November 2026, 04:05 (Pacific/Auckland, UTC+13:00)"),
        ("America/St_Johns", "Friday, 27 November 2026, 11:35 (America/St_Johns, UTC-03:30)"),
    ])
    func theTimeIsThatOfTheTimeZone(_ zone: String, _ time: String) throws {
        #expect(try Self.text(zone: zone).contains("It is \(time)."))
    }

    @Test func theEndOfAnInterruptedAnswerIsQuoted() throws {
        #expect(try Self.text(after: "The first train leaves").contains("The last words heard were: \"The first train leaves\"."))
        let long = (1...40).map { "w\($0)" }.joined(separator: " ")
        #expect(try Self.text(after: long).contains("\"… w29 w30 w31 w32 w33 w34 w35 w36 w37 w38 w39 w40\"."))
        #expect(try Self.text(after: "").contains("before anything of it was heard"))
    }

    @Test func onlyTheLatestAnswerCountsAsInterrupted() {
        var log = ConversationLog()
        log.append(assistant: "One two", isInterrupted: true)
        #expect(log.interruptedAfter == "One two")
        log.append(assistant: "One moment.", toolCalls: [ToolCall(id: "c", name: "n", arguments: "{}")])
        #expect(log.interruptedAfter == "One two", "a tool call is no answer")
        log.append(assistant: "", isInterrupted: true)
        #expect(log.interruptedAfter?.isEmpty == true)
        log.append(assistant: "All of it.")
        #expect(log.interruptedAfter == nil)
    }

    @Test func thePromptOfChatsAndRealtimeSessionsContainsIt() {
        let conversation = Conversation(instructions: "Be kind.", userName: "Ann", briefing: "It is noon.")
        let prompt = "Be kind.\n\nThe user's name is Ann.\n\nSpeak the language \"en\" unless the user speaks another one.\n\nIt is noon."
        #expect(ChatRequest.systemPrompt(of: conversation) == prompt)
        let configuration = RealtimeConfiguration(
            instructions: "Be kind.", voice: "alloy", language: "en", userName: "Ann", briefing: "It is noon.")
        for dialect in [RealtimeDialect.general, .beta] {
            let update = try? JSONValue(parsing: RealtimeRequest.update(configuration, dialect), depthMax: 16)
            #expect(update?["session"]?["instructions"] == .string(prompt))
        }
    }
}
