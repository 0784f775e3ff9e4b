import Foundation
import Testing
import Wire

@testable import PatchbayAgents

struct SpokenTextFuzzingTests {
    private static let pieces = [
        "0", "1", "7", "12", "99", "2026", "4711", "00", "1,200", "3.50", "1/2", "½", ":", "::", ".", "..", ",", "-", "–", "—", "+", "/",
        "@",
        "#", "%", "€", "$", "£", "km", "°C", "am", "p.m.", "Nov", "27.", "Uhr", "St.", "Dr.", "e.g.", "https://", "www.", "example.com",
        "|", "*",
        "**", "_", "`", "```", "[", "](", ")", "!", "<", ">", "\n", " ", "  ", "\u{A0}", "\t", "🎉", "👨‍👩‍👧", "é", "日本", "٣", "\u{200D}",
        "\u{FE0F}", "x",
        "A", "HTML", "room", "→", "&", "=", "\u{0}", "\r\n", "1e9", "999999999999999999999",
    ]

    private static func text(_ random: inout SplitMix64) -> String {
        (0..<random.below(30)).map { _ in pieces[random.below(pieces.count)] }.joined(separator: random.below(2) == 0 ? "" : " ")
    }

    @Test(arguments: ["en", "de", "fr", "es", "it"]) func randomTextNeverTraps(_ language: String) {
        var random = SplitMix64(seed: 5)
        for _ in 0..<3_000 {
            let text = Self.text(&random)
            let spoken = SpokenText(text, language: language)
            #expect(spoken.tokens.allSatisfy { !$0.written.isEmpty && !$0.written.contains { $0.isWhitespace && $0 != " " } }, "\(text)")
            // Nothing but the marks is lost from the transcript, and it has no second meaning.
            var times = SpokenWordTimes(spoken)
            let words = spoken.text.split(separator: " ").enumerated().map {
                TimedWord(String($1), start: .milliseconds($0), end: .milliseconds($0 + 1))
            }
            let written = times.take(words) + times.finish()
            let expected = spoken.written.split(separator: " ").map(String.init)
            #expect(written.isEmpty || written.map(\.text) == expected, "\(text)")
            #expect(zip(written, written.dropFirst()).allSatisfy { $0.end <= $1.start }, "\(text)")
        }
    }

    @Test func randomTextIsSplitWithoutLossOfWords() {
        var random = SplitMix64(seed: 6)
        for _ in 0..<500 {
            let text = Self.text(&random)
            var splitter = SentenceSplitter()
            var pieces: [String] = []
            for character in text { pieces += splitter.append(String(character)) }
            pieces += splitter.finish()
            let letters = { (text: String) in text.filter { $0.isLetter || $0.isNumber } }
            #expect(letters(pieces.joined()) == letters(text))
        }
    }

    /// Four times the text takes about four times as long; a quadratic rule would take sixteen times.
    @Test(arguments: [
        "1", "a", "[", "(", "*", "_", "1 ", "+1 ", "1,", "1-", "1/", "a.", "a@", "<", "|", "5 million ", "Dr. ", "🎉", "Nov 1 ", "> ",
    ])
    func timeIsLinearInTheLength(_ piece: String) {
        // The time of the thread, to which other work on the machine adds nothing.
        func now() -> Duration {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
        func duration(_ count: Int) -> Duration {
            let text = String(repeating: piece, count: count)
            return (0..<3).map { _ in
                let began = now()
                _ = SpokenText(text).text
                return now() - began
            }.min() ?? .zero
        }
        let (short, long) = (duration(4_000), duration(16_000))
        #expect(long < short * 9 + .milliseconds(50), "\(short) and \(long)")
    }
}
