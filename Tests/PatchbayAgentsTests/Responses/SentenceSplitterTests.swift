import PatchbayAgents
import Testing

struct SentenceSplitterTests {
    private static func split(_ text: String, every count: Int) -> [String] {
        var splitter = SentenceSplitter()
        var pieces: [String] = []
        var rest = text[...]
        while !rest.isEmpty {
            pieces += splitter.append(String(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return pieces + splitter.finish()
    }

    @Test("Sentences are the same however the text is cut", arguments: [1, 2, 3, 7, 1_000])
    func cuts(_ count: Int) {
        let text = "Hello there. It costs 3.50 euros, Mr. Smith! Shall I order it? J. Bach wrote it"
        #expect(
            Self.split(text, every: count) == [
                "Hello there.", "It costs 3.50 euros, Mr. Smith!", "Shall I order it?", "J. Bach wrote it",
            ])
    }

    @Test func aLongFirstSentenceBeginsWithAClause() {
        let text = "I have looked at all the restaurants near the harbour that you like, and two of them have a table tonight at seven."
        let pieces = Self.split(text, every: 5)
        #expect(pieces.count == 2 && pieces[0].hasSuffix("that you like,"))
    }

    @Test func textWithoutPunctuationIsSplitAtSpaces() {
        let pieces = Self.split(String(repeating: "word ", count: 200), every: 11)
        #expect(pieces.allSatisfy { $0.count <= SentenceSplitter.lengthMax })
        #expect(pieces.joined(separator: " ").split(separator: " ").count == 200)
    }

    @Test("Abbreviations, numbers and addresses are not cut", arguments: [1, 4, 1_000])
    func fullStopsWithinSentences(_ count: Int) {
        let text =
            "Fruit (e.g. apples) costs $3.50 at example.com, says Dr. Smith. It is Nov. 27. Am 27. November um 5 p.m. beginnt es. Ja."
        #expect(
            Self.split(text, every: count) == [
                "Fruit (e.g. apples) costs $3.50 at example.com, says Dr. Smith.", "It is Nov. 27.",
                "Am 27. November um 5 p.m. beginnt es.",
                "Ja.",
            ])
    }

    @Test func theLinesOfAListAreSentences() {
        let text = "You need:\n\n- Apples\n- **Pears** and plums\n\n  1. Wash them.\n  2. Cut them"
        #expect(Self.split(text, every: 3) == ["You need:", "- Apples", "- **Pears** and plums", "1. Wash them.", "2. Cut them"])
    }

    @Test func whatCannotBeSpokenIsOmitted() {
        #expect(Self.split("*** \n\n --- . Hello.", every: 4) == ["Hello."])
    }
}
