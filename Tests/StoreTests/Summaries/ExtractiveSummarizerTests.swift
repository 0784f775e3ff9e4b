import Foundation
import Store
import Testing

struct ExtractiveSummarizerTests {
    private static let names = ["airport", "dinner", "sales", "smalltalk", "german", "french", "unpunctuated"]

    /// The text between “ and ”, without the ellipsis of a shortened quote.
    private static func quotes(in text: String) -> [String] {
        text.matches(of: /“(.*?)”(?= “| You: “| Assistant: “|$)/.dotMatchesNewlines()).map { verbatim(String($0.1)) }
    }

    private static func verbatim(_ text: String) -> String { text.hasSuffix("…") ? String(text.dropLast()) : text }

    private static func summary(ofText text: String) async throws -> SummaryContent {
        try await ExtractiveSummarizer().summary(of: Dialogues.session(), turns: Dialogues.turns(of: text))
    }

    private func expectVerbatim(_ summary: SummaryContent, of turns: [Turn]) {
        let quotes = Self.quotes(in: summary.summaryText)
        #expect(!quotes.isEmpty)
        for sentence in quotes + summary.actionItems.map(Self.verbatim) + [Self.verbatim(summary.title)] {
            #expect(turns.contains { $0.text.contains(sentence) }, "not said: \(sentence)")
        }
        for tag in summary.tags { #expect(turns.contains { $0.text.lowercased().contains(tag) }, "not said: \(tag)") }
    }

    @Test(arguments: names) func everySentenceOfASummaryWasSaidVerbatim(name: String) async throws {
        expectVerbatim(try await Dialogues.summary(name), of: try Dialogues.turns(name))
    }

    @Test(arguments: 0..<40) func everySentenceOfARandomConversationsSummaryWasSaidVerbatim(seed: UInt64) async throws {
        var generator = SeededGenerator(state: seed)
        var sentences: [String] = []
        for name in Self.names { for turn in try Dialogues.turns(name) { sentences += turn.text.split(separator: " ").map(String.init) } }
        sentences += ["提醒我买牛奶。", "牛奶已经买好了。", "remind", "me", "never", "mind", "“quoted”", "…", "?", "3.", "ก", "\u{301}", "🎉"]
        let lines = (0..<Int.random(in: 1...30, using: &generator)).map { _ -> String in
            let words = (0..<Int.random(in: 1...60, using: &generator)).map { _ in sentences.randomElement(using: &generator)! }
            return (Bool.random(using: &generator) ? "user: " : "assistant: ") + words.joined(separator: " ")
        }
        let turns = Dialogues.turns(of: lines.joined(separator: "\n"))
        let summary = try await ExtractiveSummarizer().summary(of: Dialogues.session(), turns: turns)
        #expect(summary.title.split(whereSeparator: \.isWhitespace).count <= 8 && summary.title.count <= 60, "\(summary.title)")
        for sentence in summary.actionItems.map(Self.verbatim) + [Self.verbatim(summary.title)] {
            #expect(turns.contains { $0.text.contains(sentence) }, "not said: \(sentence)")
        }
        #expect(summary.actionItems.allSatisfy { item in turns.contains { $0.speaker == .user && $0.text.contains(Self.verbatim(item)) } })
    }

    @Test func theTitleIsTheUsersFirstRequest() async throws {
        #expect(try await Dialogues.summary("airport").title == "Can you check if my flight to Lisbon…")
        #expect(try await Dialogues.summary("unpunctuated").title == "hey can you help me with the budget…")
        #expect(try await Dialogues.summary("german").title == "Wie komme ich da am besten hin?")
    }

    @Test func aLongTitleIsCutAtAWord() async throws {
        let title = try await Dialogues.summary("dinner").title
        #expect(title.hasSuffix("…") && title.count <= 60)
        #expect(try Dialogues.turns("dinner")[0].text.hasPrefix(title.dropLast() + " "))
    }

    @Test func quotesNameTheirSpeaker() async throws {
        let summary = try await Dialogues.summary("airport")
        #expect(summary.summaryText.contains("You: “") && summary.summaryText.contains("Assistant: “"))
        #expect(Self.quotes(in: summary.summaryText).count >= 2)
    }

    @Test func openRequestsAreActionItems() async throws {
        #expect(try await Dialogues.summary("airport").actionItems.contains("Remind me to call her when I'm at the gate."))
        #expect(try await Dialogues.summary("airport").actionItems.contains { $0.contains("rental car keys") })
        #expect(try await Dialogues.summary("dinner").actionItems.contains { $0.contains("order the tart from the bakery by Thursday") })
        #expect(try await Dialogues.summary("sales").actionItems.contains("I need to talk to our IT department first."))
        #expect(try await Dialogues.summary("sales").actionItems.contains("Can you send me a written offer by Friday?"))
        #expect(try await Dialogues.summary("german").actionItems.contains { $0.contains("Regenjacken") })
        #expect(try await Dialogues.summary("german").actionItems.contains { $0.contains("Fahrkarten kaufen") })
        #expect(try await Dialogues.summary("french").actionItems.contains("Je dois appeler l'école avant."))
        #expect(try await Dialogues.summary("unpunctuated").actionItems.contains("also remind me to measure the back yard this weekend"))
    }

    @Test func completedRequestsAreNoActionItems() async throws {
        #expect(try await !Dialogues.summary("airport").actionItems.contains { $0.contains("10:50") || $0.contains("on time") })
        #expect(try await !Dialogues.summary("dinner").actionItems.contains { $0.contains("shopping list") })
        let later = try await Self.summary(
            ofText: """
                user: Remind me to call the dentist about the appointment.
                assistant: I'll remind you at noon.
                user: What is the weather like today?
                assistant: Sunny and warm.
                user: I've already called the dentist about the appointment.
                """)
        #expect(later.actionItems == [])
    }

    @Test(arguments: [
        "user: Remind me to buy milk tomorrow.\nassistant: I'll remind you tomorrow.\nuser: Never mind the milk.",
        "user: Remind me to buy milk tomorrow.\nassistant: I'll remind you tomorrow.\nuser: Actually, forget it.",
        "user: Erinnere mich daran, Milch zu kaufen.\nassistant: Ich erinnere dich daran.\nuser: Vergiss es.",
        "user: 提醒我明天买牛奶。\nassistant: 我会提醒你。\nuser: 算了，不用了。",
    ])
    func withdrawnRequestsAreNoActionItems(text: String) async throws {
        #expect(try await Self.summary(ofText: text).actionItems == [])
    }

    @Test(arguments: [
        "user: Remind me to buy milk tomorrow.\nassistant: I'll remind you tomorrow.",
        "user: Erinnere mich daran, Milch zu kaufen.\nassistant: Ich erinnere dich daran.",
        "user: 提醒我明天买牛奶。\nassistant: 我会提醒你。",
        "user: 明日牛乳を買うのを忘れないでください。\nassistant: わかりました。",
    ])
    func requestsOfManyLanguagesAreActionItems(text: String) async throws {
        #expect(try await Self.summary(ofText: text).actionItems.count == 1)
    }

    @Test func smallTalkHasNoActionItems() async throws {
        let summary = try await Dialogues.summary("smalltalk")
        #expect(summary.actionItems == [])
        #expect(summary.tags.contains("venice"))
    }

    @Test func tagsAreTheWordsWithTheMostWeight() async throws {
        #expect(try await Dialogues.summary("airport").tags.contains("porto"))
        #expect(try await Dialogues.summary("dinner").tags.contains("risotto"))
        #expect(try await Dialogues.summary("german").tags.contains("fahrkarten"))
        #expect(try await Self.summary(ofText: "user: 我想去北京旅游。\nassistant: 北京的天气很好。").tags != [])
    }

    @Test func aSingleWordIsQuoted() async throws {
        let summary = try await Dialogues.summary("one-word")
        #expect(summary == SummaryContent(title: "Hello.", summaryText: "You: “Hello.”", actionItems: [], tags: []))
    }

    @Test func anEmptyConversationHasAnEmptySummary() async throws {
        let summary = try await Dialogues.summary("empty")
        #expect(summary == SummaryContent(title: "Empty conversation", summaryText: "Nothing was said.", actionItems: [], tags: []))
    }

    @Test func whatIsNotQuotedIsInTheSessionsLanguage() async throws {
        let turns = Dialogues.turns(of: "user: Bitte buche einen Tisch am Hafen.\nassistant: Das ist erledigt.")
        var session = Dialogues.session(of: turns)
        session.language = "de-AT"
        let summary = try await ExtractiveSummarizer().summary(of: session, turns: turns)
        #expect(summary.summaryText == "Du: “Bitte buche einen Tisch am Hafen.” Assistent: “Das ist erledigt.”")
        #expect(try await ExtractiveSummarizer().summary(of: session, turns: []).summaryText == "Es wurde nichts gesagt.")
    }

    @Test(arguments: names) func theSummaryIsDeterministic(name: String) async throws {
        let first = try await Dialogues.summary(name)
        for _ in 0..<3 { #expect(try await Dialogues.summary(name) == first) }
    }

    @Test(arguments: names) func theSummaryStaysWithinItsLimits(name: String) async throws {
        let summary = try await Dialogues.summary(name)
        #expect(40...700 ~= summary.summaryText.count)
        #expect(1...60 ~= summary.title.count && 1...8 ~= summary.title.split(separator: " ").count)
        #expect(summary.actionItems.count <= 8 && summary.actionItems.allSatisfy { $0.count <= 140 })
        #expect(3...6 ~= summary.tags.count)
    }

    @Test(arguments: [
        "...", "?!?!", "🎉🎉", "\u{0}", "a", "I", "remind me to", "please", "add to my list", "今日は天気がいいですね。散歩に行きましょう。", "don't forget",
        "call", "’’’", "1. 2. 3.", "He said: “Go.” Then left.", "user: assistant:", "สวัสดีครับ วันนี้อากาศดี", "مرحبا كيف حالك؟",
    ])
    func anyTextHasASummary(text: String) async throws {
        let summary = try await Self.summary(ofText: "user: \(text)")
        #expect(!summary.title.isEmpty && !summary.summaryText.isEmpty)
    }

    @Test func twoHoursOfTalkAreSummarizedWithinSeconds() async throws {
        let some = try ["airport", "dinner", "sales", "smalltalk", "unpunctuated"].flatMap { try Dialogues.turns($0) }
        let turns = (0..<25).flatMap { _ in some }
        let took = try await ContinuousClock().measure {
            _ = try await ExtractiveSummarizer().summary(of: Dialogues.session(), turns: turns)
        }
        #expect(took < .seconds(10))
    }
}

/// SplitMix64.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
