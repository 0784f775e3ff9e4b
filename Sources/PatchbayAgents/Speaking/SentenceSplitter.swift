/// Splits streamed text into pieces for a synthesizer: whole sentences, or clauses of very long ones.
///
/// A pure value. The first piece of a response may be a short clause, so that speech begins early.
public struct SentenceSplitter: Sendable {
    /// Longer pieces are split at a comma or a space, in characters.
    public static let lengthMax = 240
    /// From this length on, the first piece may end at a comma.
    public static let firstClauseMin = 60
    /// The same if speech is to begin early.
    public static let earlyClauseMin = 12
    /// From this length on, the following pieces of the first sentence may be clauses, if speech is to begin early and the sentence is not
    /// complete yet.
    public static let laterClauseMin = 40

    /// A text to be synthesized by itself.
    struct Piece: Sendable, Hashable {
        var text: String
        /// Whether the sentence goes on in the next piece.
        var continues: Bool
    }

    private struct Cut {
        let end: String.Index
        let continues: Bool
    }
    /// Longer words are no abbreviations.
    private static let wordMax = 24

    private static let abbreviations: Set<String> = [
        "mr", "mrs", "ms", "dr", "prof", "st", "no", "vs", "etc", "e.g", "i.e", "a.m", "p.m", "approx", "inc", "ltd", "jr", "sr",
        "ave", "blvd", "dept", "ext", "fig", "tel", "vol", "z.b", "d.h", "u.a", "bzw", "ca", "nr", "inkl", "ggf", "vgl", "mme", "mlle",
        "p.ex", "env", "sra", "srta", "dra", "ud", "uds", "aprox", "p.ej", "núm", "jan", "feb", "apr", "aug", "sept", "oct", "okt", "nov",
        "dec", "dez",
    ]
    /// After these, a number with a full stop is an ordinal: "27. November".
    private static let months: Set<String> = [
        "januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober", "november", "dezember",
    ]

    private let startsEarly: Bool
    private var rest = ""
    private var isFirst = true
    /// The first sentence has not ended.
    private var isOpening = true

    /// - Parameter startsEarly: whether the first sentence is split into clauses, for speech that should begin as soon as possible.
    public init(startsEarly: Bool = false) {
        self.startsEarly = startsEarly
    }

    /// - Returns: pieces that `text` completes, trimmed and not empty.
    public mutating func append(_ text: String) -> [String] { pieces(appending: text).map(\.text) }

    /// - Returns: the remaining pieces.
    public mutating func finish() -> [String] { remainingPieces().map(\.text) }

    mutating func pieces(appending text: String) -> [Piece] {
        rest += text
        var pieces: [Piece] = []
        while let cut = boundary() { take(cut, into: &pieces) }
        return pieces
    }

    /// The beginning of the response up to where a speaker might take breath, for a responder that is slow to complete the first clause.
    ///
    /// - Returns: nil if something was spoken before, or the text has no such place yet.
    mutating func openingPhrase() -> Piece? {
        guard startsEarly, isFirst, let end = ClauseWords.lastPhraseEnd(in: rest) else { return nil }
        var pieces: [Piece] = []
        take(Cut(end: end, continues: true), into: &pieces)
        return pieces.first
    }

    mutating func remainingPieces() -> [Piece] {
        var pieces: [Piece] = []
        take(Cut(end: rest.endIndex, continues: false), into: &pieces)
        isFirst = true
        isOpening = true
        return pieces
    }

    private mutating func take(_ cut: Cut, into pieces: inout [Piece]) {
        let piece = String(rest[..<cut.end]).trimmingSpaces()
        rest.removeSubrange(..<cut.end)
        guard piece.contains(where: { $0.isLetter || $0.isNumber }) else { return }
        pieces.append(Piece(text: piece, continues: cut.continues))
        isFirst = false
        isOpening = isOpening && cut.continues
    }

    /// The end of the first complete piece.
    private func boundary() -> Cut? {
        var length = 0
        var lastComma: String.Index?
        var lastSpace: String.Index?
        /// Where the next piece may end if the sentence is not complete.
        var clause: String.Index?
        var words = ClauseWords()
        var index = rest.startIndex
        while index < rest.endIndex {
            let next = rest.index(after: index)
            let character = rest[index]
            length += 1
            if character == "\n" { return Cut(end: next, continues: false) }
            // Whether a full stop ends a sentence shows only with the character after it.
            let isFollowedBySpace = next < rest.endIndex && rest[next].isWhitespace
            if ["。", "！", "？"].contains(character) { return Cut(end: next, continues: false) }
            if [".", "!", "?", "…"].contains(character), isFollowedBySpace, endsSentence(at: index) {
                return Cut(end: next, continues: false)
            }
            if [",", ";", ":", "–"].contains(character), isFollowedBySpace {
                lastComma = next
                if isFirst, !startsEarly, length >= Self.firstClauseMin { return Cut(end: next, continues: true) }
            }
            if startsEarly, isOpening, clause == nil {
                clause = endsClause(at: index, words) ? next : nil
                if clause == nil, character.isWhitespace { clause = words.conjunction(in: rest, upTo: index) }
                if let clause, isFirst { return Cut(end: clause, continues: true) }
                if clause.map({ rest.distance(from: rest.startIndex, to: $0) < Self.laterClauseMin }) ?? false { clause = nil }
            }
            if character.isWhitespace { lastSpace = next }
            words.advance(over: character, at: index)
            if length >= Self.lengthMax { return Cut(end: lastComma ?? lastSpace ?? next, continues: true) }
            index = next
        }
        return clause.map { Cut(end: $0, continues: true) }
    }

    private func endsSentence(at index: String.Index) -> Bool {
        guard rest[index] == "." else { return true }
        let before = rest[..<index].drop(while: \.isWhitespace)
        let token = before.suffix(Self.wordMax).split(whereSeparator: \.isWhitespace).last ?? ""
        let word = token.lowercased().drop { !$0.isLetter && !$0.isNumber }
        if Self.abbreviations.contains(String(word)) { return false }
        if 1...2 ~= word.count, word.allSatisfy(\.isNumber) {
            // A list number, as in "1. Apples".
            if before.count == token.count { return false }
            return endsSentence(afterNumberAt: index)
        }
        // An initial, as in "J. Bach".
        return !(word.count == 1 && word != "i")
    }

    /// Whether the full stop of "27." is one of a sentence; unknown, so not yet, before the word after it is complete.
    private func endsSentence(afterNumberAt index: String.Index) -> Bool {
        let after = rest[rest.index(after: index)...].drop { $0.isWhitespace && !$0.isNewline }
        let word = after.prefix { $0.isLetter }
        return word.endIndex < rest.endIndex && !Self.months.contains(word.lowercased())
    }

    /// Whether a speaker would pause after the punctuation mark at `index`, within a sentence.
    private func endsClause(at index: String.Index, _ words: ClauseWords) -> Bool {
        let next = rest.index(after: index)
        guard next < rest.endIndex, rest[next].isWhitespace else { return false }
        let before = rest[..<index]
        switch rest[index] {
        case ",", ";", ":":
            // "Jr., …", "e.g., …"
            guard let last = before.last, last.isLetter || last.isNumber || "'’\")”".contains(last) else { return false }
        case "–", "—", "-": guard before.last?.isWhitespace == true else { return false }
        default: return false
        }
        if words.hasNumberNearby {
            // "March 3, 2026", "12 Main Street, Springfield", "pages 3 – 5": the next word tells whether the pause is within.
            guard let following = rest[next...].first(where: { !$0.isWhitespace }) else { return false }
            if following.isNumber || following.isUppercase { return false }
        }
        let text = String(before).trimmingSpaces()
        return text.count + 1 >= Self.earlyClauseMin || ClauseWords.interjections.contains(text.lowercased())
    }
}
