/// The words of a clause, while a `SentenceSplitter` looks for its end.
struct ClauseWords {
    /// Words that may stand alone before a comma, however short they are.
    static let interjections: Set<String> = [
        "yes", "no", "yeah", "yep", "nope", "okay", "ok", "sure", "well", "right", "alright", "certainly", "sorry", "great", "ja", "nein",
        "klar",
        "gut", "oui", "non", "bien", "sí", "claro",
    ]
    /// A clause begins with these.
    private static let conjunctions: Set<String> = ["but", "because", "although", "though", "whereas", "unless", "while"]
    /// A clause begins with "and" before these; otherwise it may join two words.
    private static let subjects: Set<String> = [
        "i", "you", "we", "they", "he", "she", "it", "there", "then", "this", "that", "i'm", "i'll", "i've", "you'll", "you're", "you've",
        "we'll",
        "we're", "they're", "it's", "it'll", "he's", "she's", "that's", "there's", "there're",
    ]
    /// A phrase begins with these: prepositions and conjunctions before which a speaker might take breath.
    private static let phraseStarts: Set<String> = [
        "in", "on", "at", "for", "with", "from", "by", "about", "after", "before", "during", "between", "until", "since", "through",
        "because", "when", "where", "while", "if", "and", "or", "but", "so", "which", "who", "und", "oder", "mit", "für", "avec", "pour",
        "dans", "con", "para",
    ]
    /// No phrase ends with these, nor with one of `phraseStarts`.
    private static let joinedWords: Set<String> = [
        "a", "an", "the", "my", "your", "our", "their", "his", "her", "its", "this", "that", "is", "are", "was", "were", "be", "been",
        "am", "do", "does", "did", "has", "have", "had", "will", "would", "can", "could", "should", "may", "might", "must", "not", "to",
        "of", "very", "more", "most", "as", "i", "you", "we", "they", "he", "she", "it",
    ]
    /// A phrase has at least so many words and characters.
    private static let phraseCountMin = 3
    private static let phraseLengthMin = 12

    /// A clause of fewer characters or words does not end before a conjunction.
    private static let lengthMin = 20
    private static let countMin = 4
    /// A number in so many words before a comma may belong to a date or an address.
    private static let numberSpan = 4

    /// The beginning of the word in progress; nil between words.
    private var start: String.Index?
    /// The beginnings of the complete words.
    private var starts: [String.Index] = []
    /// The index of the latest word with a digit.
    private var number: Int?

    var hasNumberNearby: Bool { number.map { starts.count - $0 <= Self.numberSpan } ?? false }

    mutating func advance(over character: Character, at index: String.Index) {
        if character.isWhitespace {
            if let start { starts.append(start) }
            start = nil
        } else {
            start = start ?? index
            if character.isNumber { number = starts.count }
        }
    }

    /// Where the clause before a conjunction ends, if the word that `end` completes shows that it has ended.
    func conjunction(in text: String, upTo end: String.Index) -> String.Index? {
        guard let start else { return nil }
        let word = Self.plain(text[start..<end])
        if Self.conjunctions.contains(word) { return checked(start, in: text, count: starts.count) }
        guard let before = starts.last, Self.subjects.contains(word), Self.plain(text[before..<start]) == "and" else { return nil }
        return checked(before, in: text, count: starts.count - 1)
    }

    private func checked(_ end: String.Index, in text: String, count: Int) -> String.Index? {
        count >= Self.countMin && String(text[..<end]).trimmingSpaces().count >= Self.lengthMin ? end : nil
    }

    private static func plain(_ word: Substring) -> String {
        String(word).trimmingSpaces().lowercased().replacing("’", with: "'")
    }

    /// The end of the last phrase that is followed by a complete word.
    static func lastPhraseEnd(in text: String) -> String.Index? {
        let words = text.split(whereSeparator: \.isWhitespace)
        // The last word may not be complete.
        return words.indices.dropLast().last { index in
            guard index >= phraseCountMin, phraseStarts.contains(plain(words[index])), let last = words[index - 1].last else {
                return false
            }
            let length = text.distance(from: words[0].startIndex, to: words[index - 1].endIndex)
            let word = plain(words[index - 1])
            return length >= phraseLengthMin && last.isLetter && !joinedWords.contains(word) && !phraseStarts.contains(word)
        }.map { words[$0].startIndex }
    }
}
