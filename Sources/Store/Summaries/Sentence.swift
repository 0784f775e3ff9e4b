/// One sentence of one turn, and its words.
struct Sentence {
    var text: String
    /// The turn's place in the conversation.
    var turn: Int
    var speaker: Turn.Speaker
    var words: [Word]

    var isQuestion: Bool { text.last == "?" || text.last == "？" }

    /// The sentences of all turns in their order, `SummaryLimits.sentencesMax` at most.
    static func all(of turns: [Turn]) -> [Sentence] {
        var sentences: [Sentence] = []
        for (index, turn) in turns.enumerated() {
            for text in split(turn.text) {
                guard sentences.count < SummaryLimits.sentencesMax else { return sentences }
                sentences.append(Sentence(text: text, turn: index, speaker: turn.speaker, words: Word.all(of: text)))
            }
        }
        return sentences
    }
}

extension Sentence {
    private static let terminators: Set<Character> = [".", "!", "?", "…", "。", "！", "？", "\n", "\r\n"]
    /// No pause between these and what follows them.
    private static let wideTerminators: Set<Character> = ["。", "！", "？", "\n", "\r\n"]
    private static let closers: Set<Character> = ["\"", "'", "”", "’", ")", "»", "“"]
    private static let abbreviations: Set<String> = [
        "mr", "mrs", "ms", "dr", "prof", "st", "vs", "etc", "e.g", "i.e", "no", "z.b", "d.h", "bzw", "ca", "nr", "str", "usw", "hr", "fr",
        "sr",
        "sra", "m", "mme", "approx", "inc",
    ]

    /// At full stops and the like, but not in numbers, times and abbreviations.
    static func split(_ text: String) -> [String] {
        let characters = Array(text)
        var sentences: [String] = []
        var start = 0
        var index = 0
        while index < characters.count {
            defer { index += 1 }
            guard terminators.contains(characters[index]) else { continue }
            while index + 1 < characters.count, terminators.contains(characters[index + 1]) || closers.contains(characters[index + 1]) {
                index += 1
            }
            guard endsSentence(characters, at: index, from: start) else { continue }
            append(characters[start...index], to: &sentences)
            start = index + 1
        }
        append(characters[start...], to: &sentences)
        return sentences
    }

    private static func endsSentence(_ characters: [Character], at index: Int, from start: Int) -> Bool {
        guard index + 1 < characters.count, !wideTerminators.contains(characters[index]) else { return true }
        guard characters[index + 1].isWhitespace else { return false }
        guard characters[index] == "." else { return true }
        // "6 p.m. on Friday" goes on in small letters, "am 3. Mai" after a number that no name stands before, as in "Hall 2."
        let next = characters[(index + 1)...].first { !$0.isWhitespace }
        if let next, next.isLowercase { return false }
        let said = characters[start..<index].split { $0.isWhitespace || $0 == "(" }
        let word = String(said.last ?? [])
        let isOrdinal = word.count <= 2 && !word.isEmpty && word.allSatisfy(\.isNumber)
        if isOrdinal, said.count > 1, said[said.count - 2].first?.isLowercase == true, said[said.count - 2].count < 4 { return false }
        let isInitial = word.count == 1 && word != "I" && word.first?.isUppercase == true
        return !isInitial && !abbreviations.contains(word.lowercased())
    }

    private static func append(_ characters: ArraySlice<Character>, to sentences: inout [String]) {
        let text = String(characters.trimmed())
        if text.contains(where: { $0.isLetter || $0.isNumber }) { sentences.append(text) }
    }
}

extension ArraySlice<Character> {
    fileprivate func trimmed() -> ArraySlice<Character> {
        var rest = drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return rest
    }
}
