import Testing
import Wire

@testable import Engine

struct SpokenTextTests {
    /// Words that last 100 ticks each.
    private func words(_ texts: [String]) -> [TranscriptWord] {
        texts.enumerated().map { TranscriptWord(text: $1, startTs: UInt32($0 * 100), endTs: UInt32($0 * 100 + 100)) }
    }

    private func spoken(_ text: String, _ texts: [String], played: Int) -> String {
        let count = SpokenTextEstimator(text).count(of: words(texts), playedUpTo: MediaTime(ticks: UInt32(played * 100)))
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(count)))
    }

    @Test(arguments: zip(0...3, ["", "Good", "Good morning", "Good morning, Ann!"]))
    func textIsCutAtTheEndOfAWord(played: Int, expected: String) {
        #expect(spoken("Good morning, Ann!", ["Good", "morning", "Ann"], played: played) == expected)
    }

    @Test func partlyPlayedWordDoesNotCount() {
        let count = SpokenTextEstimator("one two").count(of: words(["one", "two"]), playedUpTo: MediaTime(ticks: 199))
        #expect(count == 3)
    }

    @Test func wordsMayBeSpelledDifferentlyFromTheText() {
        let texts = ["it", "costs", "twenty", "dollars", "today"]
        #expect(spoken("It costs $20 today.", texts, played: 2) == "It costs")
        #expect(spoken("It costs $20 today.", texts, played: 3) == "It costs")
        #expect(spoken("It costs $20 today.", texts, played: 4) == "It costs $20")
    }

    @Test func wordInsideAnotherWordDoesNotMatch() {
        #expect(spoken("that cat has a hat", ["that", "cat", "has", "a", "hat"], played: 4) == "that cat has a")
        #expect(spoken("another a", ["a"], played: 1) == "another a")
        #expect(spoken("another a b", ["a", "b"], played: 1) == "another a")
    }

    @Test func repeatedWordsMatchInOrder() {
        #expect(spoken("no no no", ["no", "no", "no"], played: 2) == "no no")
    }

    @Test func enclosingPunctuationIsIgnored() {
        #expect(spoken("He said yes loudly", ["\"He", "said,", "yes\"", "loudly"], played: 3) == "He said yes")
        #expect(spoken("Wait… what?", ["Wait…", "what?"], played: 1) == "Wait…")
    }

    @Test func wordsMatchInScriptsWithoutSpaces() {
        #expect(spoken("今日は晴れです", ["今日", "は", "晴れ", "です"], played: 3) == "今日は晴れ")
    }

    @Test func countsAreUnicodeScalars() {
        #expect(SpokenTextEstimator("Grüße 👋🏽").count == 8)
        #expect(spoken("Grüße dich", ["grüße", "dich"], played: 1) == "Grüße")
        #expect(spoken("cafe\u{301} noir", ["cafe", "noir"], played: 1) == "cafe\u{301}")
    }

    @Test func searchEffortForMissingWordsIsLimited() {
        let text = String(repeating: "a", count: 16_384)
        #expect(SpokenTextEstimator(text).count(of: words(Array(repeating: "b", count: 4_096)), playedUpTo: MediaTime(ticks: 400_000)) == 0)
    }

    @Test func shareIsCountedInScalars() {
        let text = SpokenTextEstimator("0123456789")
        #expect([-5, 0, 1, 50, 99, 100, 200].map { text.count(ofPlayed: $0, of: 100) } == [0, 0, 0, 5, 9, 10, 10])
        #expect(text.count(ofPlayed: 1, of: 0) == 10)
    }
}
