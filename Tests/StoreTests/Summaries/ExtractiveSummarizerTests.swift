import Store
import Testing

@Suite("ExtractiveSummarizer")
struct ExtractiveSummarizerTests {
    @Test("tells what became of a changed flight, to the user")
    func airport() async throws {
        let summary = try await Dialogues.summary("airport")
        #expect(summary.summaryText.contains("10:50"))
        #expect(summary.summaryText.contains("You're on your way to the airport"))
        #expect(!summary.summaryText.contains("I'm"))
        #expect(summary.actionItems.contains("Call Maria when you're at the gate"))
        #expect(summary.actionItems.contains("Tell Maria that you'll be late"))
        #expect(summary.actionItems.contains { $0.contains("rental car keys") })
        // Done in the conversation already.
        #expect(!summary.actionItems.contains { $0.contains("10:50") })
        #expect(summary.tags.contains("connection"))
    }

    @Test("makes a list of what is to be bought and done for a dinner")
    func dinner() async throws {
        let summary = try await Dialogues.summary("dinner")
        #expect(summary.title.lowercased().contains("risotto"))
        #expect(summary.actionItems.contains("Shopping list: all of the risotto ingredients"))
        #expect(summary.actionItems.contains("Shopping list: two bottles of white wine"))
        #expect(summary.actionItems.contains("Pick up the mushrooms at the market on Saturday morning"))
        #expect(summary.actionItems.contains("Order the tart from the bakery by Thursday"))
    }

    @Test("puts a name where somebody said only him")
    func names() async throws {
        #expect(try await Dialogues.summary("dinner").actionItems.contains("Call Tom tomorrow"))
    }

    @Test("says who promised what in a sales call")
    func sales() async throws {
        let summary = try await Dialogues.summary("sales")
        #expect(summary.actionItems.contains { $0.contains("Invite Sandra Vos") })
        #expect(summary.actionItems.contains { $0.contains("demo with the warehouse team") })
        #expect(summary.actionItems.contains("Talk to your IT department first"))
        #expect(summary.summaryText.contains("The assistant will send you the offer"))
    }

    @Test("finds no tasks in small talk")
    func smallTalk() async throws {
        let summary = try await Dialogues.summary("smalltalk")
        #expect(summary.actionItems == [])
        #expect(summary.tags.contains("venice"))
    }

    @Test("understands German, and writes tasks as one does there")
    func german() async throws {
        let summary = try await Dialogues.summary("german")
        #expect(summary.title.contains("Zoo"))
        #expect(summary.actionItems.contains("Morgen die Fahrkarten kaufen"))
        #expect(summary.actionItems.contains("Die Regenjacken einpacken"))
        #expect(summary.tags.contains("fahrkarten"))
        #expect(summary.summaryText.contains("Du: „"))
    }

    @Test("finds tasks in French")
    func french() async throws {
        #expect(try await Dialogues.summary("french").actionItems.contains("Appeler l'école avant"))
    }

    @Test("reads speech without any punctuation")
    func unpunctuated() async throws {
        let summary = try await Dialogues.summary("unpunctuated")
        #expect(summary.title == "Garden project")
        #expect(summary.actionItems.contains("Measure the back yard this weekend"))
    }

    @Test("makes something of a single word")
    func oneWord() async throws {
        let summary = try await Dialogues.summary("one-word")
        #expect(summary == SummaryContent(title: "Hello", summaryText: "You: “Hello.”", actionItems: [], tags: []))
    }

    @Test("says so where nothing was said")
    func empty() async throws {
        let summary = try await Dialogues.summary("empty")
        #expect(summary == SummaryContent(title: "Empty conversation", summaryText: "Nothing was said.", actionItems: [], tags: []))
    }

    @Test("says the same each time", arguments: ["airport", "dinner", "sales", "german"])
    func sameAgain(_ name: String) async throws {
        let first = try await Dialogues.summary(name)
        for _ in 0..<3 { #expect(try await Dialogues.summary(name) == first) }
    }

    @Test("takes two to four sentences, short items and few tags", arguments: ["airport", "dinner", "sales", "smalltalk", "german"])
    func sizes(_ name: String) async throws {
        let summary = try await Dialogues.summary(name)
        #expect(40...700 ~= summary.summaryText.count)
        #expect(1...60 ~= summary.title.count)
        #expect(summary.actionItems.count <= 8)
        #expect(summary.actionItems.allSatisfy { $0.count <= 140 && !$0.hasSuffix(",") })
        #expect(3...6 ~= summary.tags.count)
    }

    @Test(
        "comes to an end with whatever somebody says",
        arguments: [
            "...", "?!?!", "🎉🎉", "\u{0}", "a", "I", "remind me to", "please", "add to my list", "今日は天気がいいですね。散歩に行きましょう。",
            "don't forget", "call", "’’’", "1. 2. 3.", "He said: “Go.” Then left.", "user: assistant:",
        ])
    func odd(_ text: String) async throws {
        let turns = Dialogues.turns(of: "user: \(text)")
        let summary = try await ExtractiveSummarizer().summary(of: Dialogues.session(), turns: turns)
        #expect(!summary.title.isEmpty)
        #expect(!summary.summaryText.isEmpty)
    }

    @Test("summarizes two hours of talk within seconds, even unoptimized on a busy machine")
    func long() async throws {
        let names = ["airport", "dinner", "sales", "smalltalk", "unpunctuated"]
        let some = try names.flatMap { try Dialogues.turns($0) }
        let turns = (0..<25).flatMap { _ in some }
        let clock = ContinuousClock()
        let took = try await clock.measure { _ = try await ExtractiveSummarizer().summary(of: Dialogues.session(), turns: turns) }
        #expect(took < .seconds(10))
    }
}
