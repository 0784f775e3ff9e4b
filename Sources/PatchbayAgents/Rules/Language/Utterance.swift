/// What a user said, as the rules see it: lower-case words without punctuation, fillers and polite openings, with contractions and
/// abbreviations written out. A pure value.
///
///     Utterance("Um, can you tell me what's 7x8, please?").words  // tell me what is 7 times 8
struct Utterance: Sendable, Hashable {
    /// Longer texts are cut, in characters.
    static let lengthMax = 2_000

    let words: [String]
    /// What was said for each word, with its punctuation; empty for the further words of one piece ("what's").
    private let written: [String]
    private let joined: String

    init(_ text: some StringProtocol) {
        var tokens = Tokens(String(text.prefix(Self.lengthMax)))
        tokens.removeCourtesies()
        words = tokens.words
        written = tokens.written
        joined = " " + tokens.words.joined(separator: " ") + " "
    }

    // MARK: Matching

    /// Whether one of the phrases occurs, as whole words.
    func has(_ phrases: String...) -> Bool { has(any: phrases) }

    func has(any phrases: [String]) -> Bool { phrases.contains { joined.contains(" \($0) ") } }

    func starts(_ phrases: String...) -> Bool { phrases.contains { joined.hasPrefix(" \($0) ") } }

    /// Whether it is one of the phrases, and nothing else.
    func isOne(of phrases: String...) -> Bool { phrases.contains { joined == " \($0) " } }

    /// The index after the first occurrence of a phrase.
    func end(of phrase: String) -> Int? {
        let parts = phrase.split(separator: " ").map(String.init)
        guard parts.count <= words.count else { return nil }
        for start in 0...(words.count - parts.count) where words[start...].starts(with: parts) { return start + parts.count }
        return nil
    }

    /// What was said, from one word to another, without punctuation at its end.
    func text(_ range: some RangeExpression<Int>) -> String {
        let range = range.relative(to: written)
        var text = written[range].filter { !$0.isEmpty }.joined(separator: " ")
        while let last = text.last, last.isPunctuation, last != ")", last != "'" { text.removeLast() }
        return text
    }

    /// What was said, from a word on, with its punctuation.
    func sentence(from index: Int) -> String {
        let text = written[index...].filter { !$0.isEmpty }.joined(separator: " ")
        return Self.sentence(text)
    }

    /// A text that ends like a sentence.
    static func sentence(_ text: String) -> String {
        var trimmed = text.trimmingSpaces()
        while let last = trimmed.last, [",", ";", ":", "-"].contains(last) { trimmed.removeLast() }
        return trimmed.last.map { [".", "!", "?"].contains($0) } == true ? trimmed : trimmed + "."
    }
}

/// The words of a text, with what was written for each.
private struct Tokens {
    var words: [String] = []
    var written: [String] = []

    private static let symbols = [
        ("’", "'"), ("p.m.", "pm"), ("a.m.", "am"), ("%", " percent"), ("°C", " degrees celsius"), ("°F", " degrees fahrenheit"),
        ("°", " degrees"), ("+", " plus "), ("×", " times "), ("*", " times "), ("÷", " divided by "), ("=", " equals "),
    ]
    private static let contractions = [
        "what's": "what is", "who's": "who is", "where's": "where is", "how's": "how is", "when's": "when is", "that's": "that is",
        "it's": "it is", "there's": "there is", "i'm": "i am", "i'd": "i would", "i'll": "i will", "i've": "i have", "you're": "you are",
        "let's": "let us", "don't": "do not", "doesn't": "does not", "didn't": "did not", "can't": "cannot", "won't": "will not",
        "isn't": "is not", "wasn't": "was not", "whats": "what is", "dont": "do not", "gonna": "going to", "wanna": "want to",
        "ok": "okay", "alright": "all right",
    ]
    private static let fillers: Set<String> = ["um", "uh", "er", "erm", "uhm", "hmm", "hm"]
    private static let openings = [
        ["can", "you"], ["could", "you"], ["would", "you"], ["will", "you"], ["i", "want", "you", "to"],
        ["i", "would", "like", "you", "to"],
        ["i", "need", "you", "to"], ["okay"], ["all", "right"], ["so"], ["well"], ["hey"], ["and"], ["then"], ["now"], ["just"], ["also"],
        ["actually"], ["please"], ["kindly"], ["oh"], ["ah"], ["you", "know"],
    ]

    init(_ text: String) {
        var text = text
        for (symbol, words) in Self.symbols { text = text.replacing(symbol, with: words) }
        let pieces = text.split(whereSeparator: \.isWhitespace).map(String.init)
        for (index, piece) in pieces.enumerated() {
            let isBetweenNumbers =
                index > 0 && index + 1 < pieces.count && Self.isNumeric(words.last) && pieces[index + 1].first?.isNumber == true
            append(piece, isBetweenNumbers: isBetweenNumbers)
        }
    }

    private static func isNumeric(_ word: String?) -> Bool { word.map { Double($0) != nil } ?? false }

    private mutating func append(_ piece: String, isBetweenNumbers: Bool) {
        if isBetweenNumbers, ["-", "–", "−"].contains(piece) { return add(["minus"], piece) }
        if isBetweenNumbers, piece == "/" { return add(["divided", "by"], piece) }
        guard let first = piece.firstIndex(where: { $0.isLetter || $0.isNumber }),
            let last = piece.lastIndex(where: { $0.isLetter || $0.isNumber })
        else {
            if let previous = written.indices.last { written[previous] += piece }
            return
        }
        let core = piece[first...last].lowercased()
        let isNegative = piece[..<first].last == "-" && core.first?.isNumber == true
        let parts = Self.words(of: core)
        add(isNegative ? ["minus"] + parts : parts, piece)
    }

    private mutating func add(_ parts: [String], _ piece: String) {
        for (index, part) in parts.enumerated() where !Self.fillers.contains(part) {
            words.append(part)
            written.append(index == 0 ? piece : "")
        }
    }

    /// Separates numbers from what is attached to them, hyphenated numbers, and contractions.
    private static func words(of core: String) -> [String] {
        if let words = contractions[core] { return words.split(separator: " ").map(String.init) }
        if core.contains("-") || core.contains("–") {
            let parts = core.split { $0 == "-" || $0 == "–" }.map(String.init)
            if parts.allSatisfy({ isNumeric($0) }) { return Array(parts.map { [$0] }.joined(separator: ["minus"])) }
            if parts.contains(where: { isNumeric($0) || NumberWords.isNumber($0) }) { return parts.flatMap(words) }
            return [core]
        }
        guard core.first?.isNumber == true else { return [core] }
        if core.contains("/") {
            let parts = core.split(separator: "/").map(String.init)
            return parts.allSatisfy({ isNumeric($0) }) ? Array(parts.map { [$0] }.joined(separator: ["divided", "by"])) : [core]
        }
        let number = core.prefix { $0.isNumber || $0 == "." || $0 == "," || $0 == ":" }
        let rest = core.dropFirst(number.count)
        let digits = number.contains(",") ? withoutThousands(number) : String(number)
        if rest.isEmpty { return [digits] }
        if ["st", "nd", "rd", "th"].contains(rest) { return [core] }
        if rest.first == "x", rest.dropFirst().allSatisfy(\.isNumber), rest.count > 1 {
            return [digits, "times", String(rest.dropFirst())]
        }
        return [digits, String(rest)]
    }

    private static func withoutThousands(_ number: Substring) -> String {
        let groups = number.split(separator: ",", omittingEmptySubsequences: false)
        let isGrouped = groups.dropFirst().allSatisfy { $0.prefix { $0 != "." }.count == 3 }
        return isGrouped ? groups.joined() : String(number)
    }

    /// Removes "can you", "please" and the like around what was asked, unless nothing else was said.
    mutating func removeCourtesies() {
        var wasRemoved = true
        while wasRemoved {
            wasRemoved = false
            for opening in Self.openings where words.count > opening.count && words.starts(with: opening) {
                words.removeFirst(opening.count)
                written.removeFirst(opening.count)
                wasRemoved = true
            }
        }
        while words.count > 1, words.last == "please", words[words.count - 2] != "say" {
            words.removeLast()
            written.removeLast()
        }
    }
}

extension String {
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

/// Turns what a user says about themselves into what the assistant says to them: "my mother" is "your mother".
enum Perspective {
    private static let pronouns = [
        "my": "your", "me": "you", "i": "you", "mine": "yours", "myself": "yourself", "i'm": "you're", "am": "are", "your": "my",
        "you": "me",
        "yourself": "myself",
    ]

    static func turned(_ word: String) -> String {
        let plain = word.lowercased().filter { $0.isLetter || $0 == "'" }
        return pronouns[plain] ?? word
    }
}
