/// Reads a line word by word and says how each is spoken. Each rule looks at a word and at a few of its neighbours, so a line takes linear time.
struct SpokenReader {
    /// A written word without emojis: its core, and the punctuation around it.
    struct Word {
        let written: String
        var lead = ""
        var core = ""
        var trail = ""
    }

    /// How words from the current one on are spoken.
    struct Reading {
        var spoken: String
        /// Words that belong together.
        var count = 1
        /// Nil: the punctuation after the last word.
        var trail: String?
        /// Whether the punctuation before the first word is kept.
        var keepsLead = true
    }

    private static let leading: Set<Character> = ["(", "[", "{", "\"", "'", "“", "‘", "«", "„", "¿", "¡", "‹", "‚"]
    private static let trailing: Set<Character> = [
        ".", ",", ";", ":", "!", "?", ")", "]", "}", "\"", "'", "”", "’", "“", "»", "…", "›", "。",
    ]
    /// Longer words are addresses, or what no rule knows.
    private static let lengthMax = 2_000

    /// Nil for a language without rules.
    let grammar: (any SpokenGrammar)?
    let words: [Word]

    init(line: String, grammar: (any SpokenGrammar)?) {
        self.grammar = grammar
        words = line.split(whereSeparator: \.isWhitespace).compactMap { Self.word(Self.separable($0)) }
    }

    func read() -> [SpokenText.Token] {
        var tokens: [SpokenText.Token] = []
        var index = 0
        while index < words.count {
            let word = words[index]
            let reading = reading(at: index) ?? Reading(spoken: word.core)
            let last = words[index + reading.count - 1]
            let trail = reading.trail ?? last.trail
            let written = words[index..<index + reading.count].map(\.written).joined(separator: " ")
            index += reading.count
            if reading.spoken.isEmpty, !word.core.contains(where: { $0.isLetter || $0.isNumber }) {
                // Its punctuation belongs to the word before it.
                if let before = tokens.last?.spoken.last, before.isLetter || before.isNumber {
                    tokens[tokens.count - 1].spoken += trail.filter { ".,;:!?…".contains($0) }
                }
                tokens.append(SpokenText.Token(written: written, spoken: ""))
            } else {
                tokens.append(SpokenText.Token(written: written, spoken: (reading.keepsLead ? word.lead : "") + reading.spoken + trail))
            }
        }
        return tokens
    }

    /// Without scalars at the beginning that would form one character with the space before the word.
    private static func separable(_ word: Substring) -> String {
        var scalars = word.unicodeScalars
        while let first = scalars.first, (" " + String(first)).count == 1 { scalars.removeFirst() }
        return String(scalars)
    }

    private static func word(_ written: String) -> Word? {
        guard !written.isEmpty else { return nil }
        let characters = written.filter { !$0.isEmojiLike }
        var core = characters[...]
        while let first = core.first, leading.contains(first) { core.removeFirst() }
        let lead = characters.prefix(characters.count - core.count)
        while let last = core.last, trailing.contains(last) { core.removeLast() }
        return Word(
            written: written, lead: String(lead), core: String(core), trail: String(characters.dropFirst(lead.count + core.count)))
    }

    // MARK: Rules

    private func reading(at index: Int) -> Reading? {
        let core = words[index].core
        // Emojis only, or punctuation only.
        if core.isEmpty { return Reading(spoken: "") }
        guard let grammar, core.utf8.count <= Self.lengthMax else { return nil }
        if let reading = address(core, grammar) ?? abbreviation(at: index, grammar) { return reading }
        if core.contains(where: \.isNumber) { return numbers(at: index, grammar) ?? mixed(core, at: index, grammar) }
        return datedMonth(at: index, grammar) ?? prefixedMoney(at: index, grammar) ?? symbols(at: index, grammar)
            ?? acronym(core, grammar).map { Reading(spoken: $0) }
    }

    /// Rules for words with digits, from the most to the least specific.
    private func numbers(at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        date(at: index, grammar) ?? time(at: index, grammar) ?? phone(at: index, grammar) ?? code(at: index, grammar)
            ?? money(at: index, grammar) ?? ordinal(at: index, grammar) ?? measure(at: index, grammar) ?? range(at: index, grammar)
            ?? fraction(at: index, grammar) ?? number(at: index, grammar)
    }

    // MARK: Neighbours

    /// The core of a word that continues the one before it: no punctuation is between them.
    func joined(_ index: Int) -> String? {
        guard words.indices.contains(index), words.indices.contains(index - 1), words[index - 1].trail.isEmpty, words[index].lead.isEmpty
        else { return nil }
        return words[index].core
    }

    func core(_ index: Int) -> String { words.indices.contains(index) ? words[index].core : "" }

    /// The punctuation after an abbreviation. Its full stop ends the sentence as well if nothing follows.
    ///
    /// - Parameter mayEndSentence: it also does before a capital letter.
    func trail(ofAbbreviation index: Int, mayEndSentence: Bool = false) -> String {
        let trail = words[index].trail
        guard trail.hasPrefix("."), index + 1 < words.count else { return trail }
        if mayEndSentence, words[index + 1].core.first?.isUppercase == true { return trail }
        return String(trail.dropFirst())
    }
}

extension Character {
    /// Pictographs, and symbols that are not spoken.
    var isEmojiLike: Bool {
        guard utf8.count > 1, let first = unicodeScalars.first else { return false }
        if first.properties.isEmojiPresentation { return true }
        if "©®™•◦▪‣·✓✔✗✘".unicodeScalars.contains(first) { return true }
        // U+FE0F asks for the form of an emoji; U+2600 to U+27BF are symbols and dingbats.
        let isSymbol = first.properties.isEmoji && !first.isASCII
        return isSymbol && (unicodeScalars.count > 1 || 0x2600...0x27BF ~= first.value || first.value >= 0x1F000)
            || first.value == 0xFE0F || first.value == 0x200D
    }
}
