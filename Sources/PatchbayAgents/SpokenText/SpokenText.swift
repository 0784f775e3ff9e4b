/// A written text as words for a synthesizer: numbers, times, money, dates, units, addresses, abbreviations and symbols are spelled out, and
/// Markdown and emojis are removed. A pure value.
///
///     SpokenText("It costs **$3.50** at 5:38.").text  // "It costs three dollars and fifty cents at five thirty eight."
///
/// English, German, French and Spanish have rules; in other languages only Markdown and emojis are removed. Ambiguities are decided as follows,
/// and what no rule knows remains as it is written:
///
/// * Digits are spoken one by one after words such as "room" or "code" (from three digits on), with a leading zero, and from five digits on
///   unless they have separators, a unit or two zeros at the end. Groups of digits with 7 to 15 digits are a phone number.
/// * Four digits from 1100 to 2099 without separators are a year.
/// * `a/b` is a date if it has three parts, otherwise a fraction if `a < b ≤ 20`. English dates begin with the month unless the first part
///   exceeds 12, those of other languages with the day.
/// * `a-b` is a range, and a phone number if it has three and four digits.
/// * `h:mm` is a time, of 24 hours unless "am" or "pm" follows.
/// * Of a web address the host is spoken, and the path unless it exceeds 40 characters.
///
/// Linear in the length of the text.
package struct SpokenText: Sendable, Hashable {
    /// Words that belong together, such as "12 €", and how they are spoken.
    package struct Token: Sendable, Hashable {
        /// One or more words, separated by single spaces.
        package var written: String
        /// Empty if it is silent.
        package var spoken: String
    }

    package let tokens: [Token]

    /// - Parameter language: a BCP 47 tag; only its primary language counts.
    package init(_ text: String, language: String = "en") {
        let grammar = SpokenLanguages.grammar(of: language)
        tokens = MarkdownText.lines(of: text).flatMap { SpokenReader(line: $0, grammar: grammar).read() }
    }

    /// The text for the synthesizer.
    package var text: String { tokens.map(\.spoken).filter { !$0.isEmpty }.joined(separator: " ") }

    /// The text for transcripts: as written, without Markdown.
    package var written: String { tokens.map(\.written).joined(separator: " ") }

    /// Whether there is nothing to say.
    package var isSilent: Bool { !text.contains { $0.isLetter || $0.isNumber } }
}
