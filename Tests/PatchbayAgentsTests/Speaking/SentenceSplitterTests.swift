import PatchbayAgents
import Testing

struct SentenceSplitterTests {
    private static func split(_ text: String, every count: Int, startsEarly: Bool = false) -> [String] {
        var splitter = SentenceSplitter(startsEarly: startsEarly)
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

    // MARK: The first clause

    /// Each text, and its first piece if it arrives a few characters at a time.
    private static let clauses = [
        ("I looked it up, and the shop closes at six.", "I looked it up,"),
        ("Yes, it does. It opens at nine.", "Yes,"),
        ("The shop is open until six because it is Friday today.", "The shop is open until six"),
        ("I have found three tables for you and you can choose one.", "I have found three tables for you"),
        ("Here is what I know: it rains.", "Here is what I know:"),
        ("Das Geschäft ist offen, weil heute Freitag ist.", "Das Geschäft ist offen,"),
        ("We have all of it – ask away.", "We have all of it –"),
        // A comma may be followed by a number, but not be within one.
        ("It takes 45 minutes, so leave now.", "It takes 45 minutes,"),
    ]

    @Test("The first clause is a piece of its own", arguments: clauses)
    func firstClauses(_ text: String, _ clause: String) {
        for count in [1, 4, 1_000] {
            let pieces = Self.split(text, every: count, startsEarly: true)
            #expect(pieces.first == clause)
            #expect(pieces.joined(separator: " ") == text)
        }
    }

    /// Sentences whose first piece is the whole sentence.
    private static let wholes = [
        "It was on March 3, 2026 in the morning.", "The office is at 12 Main Street, Springfield.", "It costs 1,250.50 euros in total.",
        "Write to info@example.com or see https://example.com/a,b for more.", "Bring a jacket (e.g., the red one) with you.",
        "I like the red and blue shirts in this shop.", "See pages 30 – 50 for details.", "The train leaves at 10:45 from here.",
        "Hi, Ann.", "I am but a machine.", "It is a well-known state-of-the-art device.",
    ]

    @Test("Numbers, addresses and short phrases are not cut", arguments: wholes)
    func wholeSentences(_ text: String) {
        for count in [1, 4, 1_000] { #expect(Self.split(text, every: count, startsEarly: true) == [text]) }
    }

    @Test func theRestOfACompleteSentenceIsOnePiece() {
        let text = "I looked it up, and I am sorry, but the shop that you mean is closed on Fridays, as far as I know. Anything else?"
        #expect(
            Self.split(text, every: 1_000, startsEarly: true) == [
                "I looked it up,", "and I am sorry, but the shop that you mean is closed on Fridays, as far as I know.", "Anything else?",
            ])
    }

    @Test func aSentenceThatArrivesSlowlyGoesOnInLongerClauses() {
        let text = "I looked it up, and I am sorry, but the shop that you mean is closed on Fridays, as far as I know. Anything else, Ann?"
        #expect(
            Self.split(text, every: 4, startsEarly: true) == [
                "I looked it up,", "and I am sorry, but the shop that you mean is closed on Fridays,", "as far as I know.",
                "Anything else, Ann?",
            ])
    }

    @Test func otherTextsBeginWithTheirFirstSentence() {
        #expect(Self.split("Hello Alice, how are you?", every: 4) == ["Hello Alice, how are you?"])
    }
}
