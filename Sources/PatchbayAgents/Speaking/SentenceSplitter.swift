/// Splits streamed text into pieces for a synthesizer: whole sentences, or clauses of very long ones.
///
/// A pure value. The first piece of a response may end at a comma, so that speech begins early.
public struct SentenceSplitter: Sendable {
    /// Longer pieces are split at a comma or a space, in characters.
    public static let lengthMax = 240
    /// From this length on, the first piece may end at a comma.
    public static let firstClauseMin = 60
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

    private var rest = ""
    private var isFirst = true

    public init() {}

    /// - Returns: pieces that `text` completes, trimmed and not empty.
    public mutating func append(_ text: String) -> [String] {
        rest += text
        var pieces: [String] = []
        while let end = boundary() { take(upTo: end, into: &pieces) }
        return pieces
    }

    /// - Returns: the remaining pieces.
    public mutating func finish() -> [String] {
        var pieces: [String] = []
        take(upTo: rest.endIndex, into: &pieces)
        isFirst = true
        return pieces
    }

    private mutating func take(upTo end: String.Index, into pieces: inout [String]) {
        let piece = String(rest[..<end]).trimmingSpaces()
        rest.removeSubrange(..<end)
        guard piece.contains(where: { $0.isLetter || $0.isNumber }) else { return }
        pieces.append(piece)
        isFirst = false
    }

    /// The end of the first complete piece.
    private func boundary() -> String.Index? {
        var length = 0
        var lastComma: String.Index?
        var lastSpace: String.Index?
        var index = rest.startIndex
        while index < rest.endIndex {
            let next = rest.index(after: index)
            let character = rest[index]
            length += 1
            if character == "\n" { return next }
            // Whether a full stop ends a sentence shows only with the character after it.
            let isFollowedBySpace = next < rest.endIndex && rest[next].isWhitespace
            if ["。", "！", "？"].contains(character) { return next }
            if [".", "!", "?", "…"].contains(character), isFollowedBySpace, endsSentence(at: index) { return next }
            if [",", ";", ":", "–"].contains(character), isFollowedBySpace {
                lastComma = next
                if isFirst, length >= Self.firstClauseMin { return next }
            }
            if character.isWhitespace { lastSpace = next }
            if length >= Self.lengthMax { return lastComma ?? lastSpace ?? next }
            index = next
        }
        return nil
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
}
