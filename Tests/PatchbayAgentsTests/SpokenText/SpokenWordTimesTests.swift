import Testing
import Wire

@testable import PatchbayAgents

struct SpokenWordTimesTests {
    /// Each spoken word takes 100 ms.
    private static func times(_ text: SpokenText, _ words: [String]? = nil, every count: Int = 100) -> [TimedWord] {
        var times = SpokenWordTimes(text)
        let spoken = (words ?? text.text.split(separator: " ").map(String.init)).enumerated().map { index, word in
            TimedWord(word, start: .milliseconds(100 * index), end: .milliseconds(100 * (index + 1)))
        }
        var result: [TimedWord] = []
        for start in stride(from: 0, to: spoken.count, by: count) {
            result += times.take(Array(spoken[start..<min(start + count, spoken.count)]))
        }
        return result + times.finish()
    }

    private static func describe(_ words: [TimedWord]) -> [String] {
        words.map { "\($0.text) \($0.start.inMilliseconds)-\($0.end.inMilliseconds)" }
    }

    @Test("Times are the same however the words arrive", arguments: [1, 2, 3, 100])
    func aWrittenNumberTakesAllItsWords(_ count: Int) {
        let words = Self.times(SpokenText("It costs $3.50 now."), every: count)
        #expect(Self.describe(words) == ["It 0-100", "costs 100-200", "$3.50 200-700", "now. 700-800"])
    }

    @Test func wordsOfOneTokenShareItsTime() {
        let words = Self.times(SpokenText("It costs 12 € now."))
        #expect(words.map(\.text) == ["It", "costs", "12", "€", "now."])
        #expect(words[2].start == .milliseconds(200) && words[2].end == words[3].start && words[3].end == .milliseconds(400))
    }

    @Test func silentWordsTakeNoTime() {
        let words = Self.times(SpokenText("🎉 Hello — there 👋"))
        #expect(Self.describe(words) == ["🎉 0-0", "Hello 0-100", "— 100-100", "there 100-200", "👋 200-200"])
    }

    @Test func wordsWithoutPunctuationAndInPartsMatch() {
        let words = Self.times(SpokenText("Wi-Fi, at 5:38!"), ["wi", "fi", "at", "five", "thirty", "eight"])
        #expect(Self.describe(words) == ["Wi-Fi, 0-200", "at 200-300", "5:38! 300-600"])
    }

    @Test func aWordThatIsLeftOutOrAddedShiftsNothing() {
        let text = SpokenText("One two three four.")
        #expect(
            Self.describe(Self.times(text, ["One", "three", "four"])) == ["One 0-100", "two 100-100", "three 100-200", "four. 200-300"])
        let added = Self.times(text, ["One", "eh", "two", "three", "four"])
        #expect(added.map(\.text) == ["One", "two", "three", "four."] && added[3].start == .milliseconds(400))
    }

    @Test func everyWrittenWordHasATimeInOrder() {
        let text = SpokenText("On 2026-11-27 at 17:05, call +49 170 1234567 🎉 or e.g. write to ann@example.com & pay 1,200.50 €.")
        let words = Self.times(text)
        #expect(words.map(\.text) == text.written.split(separator: " ").map(String.init))
        #expect(words.allSatisfy { $0.start <= $0.end } && zip(words, words.dropFirst()).allSatisfy { $0.end <= $1.start })
    }

    @Test func withoutReportedWordsThereAreNone() {
        var times = SpokenWordTimes(SpokenText("Hello there."))
        #expect(times.written(SynthesizedSpeech(samples: [1], sampleRate: 8_000)).words == nil && times.rest == nil)
    }
}
