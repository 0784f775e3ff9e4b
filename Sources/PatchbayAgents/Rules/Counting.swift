/// Counts and spells: "count backwards from ten", "count from 5 to 9", "spell harbour", "say the alphabet".
enum Counting {
    /// Numbers in one answer.
    private static let countMax = 100
    /// Letters in one answer.
    private static let lettersMax = 40
    private static let steps: [String: Int] = ["twos": 2, "threes": 3, "fours": 4, "fives": 5, "tens": 10, "hundreds": 100]

    static func respond(to utterance: Utterance, in situation: Situation) -> [ResponsePart]? {
        if utterance.has("the alphabet", "your abc", "the abc", "abcs") {
            return [.text((UInt8(ascii: "A")...UInt8(ascii: "Z")).map { String(UnicodeScalar($0)) }.joined(separator: ", ") + ".")]
        }
        return spell(utterance) ?? count(utterance)
    }

    private static func count(_ utterance: Utterance) -> [ResponsePart]? {
        guard utterance.has("count", "countdown", "count down", "counting"), !utterance.has("count on", "how do you", "timer") else {
            return nil
        }
        let isBackwards = utterance.has("backwards", "backward", "back", "down", "countdown")
        let bounds = NumberWords.all(in: utterance.words).filter { $0 == $0.rounded() && abs($0) < 1e9 }.map { Int($0) }
        let step = utterance.words.lazy.compactMap { steps[$0] }.first ?? 1
        var (start, end) =
            bounds.count > 1
            ? (bounds[0], bounds[1]) : isBackwards ? (bounds.first ?? 10, 1) : (step == 1 ? 1 : step, bounds.first ?? 10 * step)
        if bounds.count == 1, !isBackwards, utterance.has("from") { (start, end) = (bounds[0], bounds[0] + 9 * step) }
        if isBackwards, start < end { swap(&start, &end) }
        let numbers = Array(stride(from: start, through: end, by: start <= end ? step : -step).prefix(countMax + 1))
        guard numbers.count <= countMax else { return [.text("That would take too long. I count at most \(countMax) numbers at a time.")] }
        return [.text(numbers.map { "\($0)" }.joined(separator: ", ") + ".")]
    }

    private static func spell(_ utterance: Utterance) -> [ResponsePart]? {
        guard let start = utterance.end(of: "spell") ?? utterance.end(of: "spelled") ?? utterance.end(of: "spelling of") else { return nil }
        let skipped = utterance.words[start...].prefix { ["the", "word", "me", "for"].contains($0) }.count
        let first = utterance.words.count - start - skipped > 0 ? start + skipped : start
        let letters = utterance.text(first...).filter { $0.isLetter || $0.isNumber }
        guard !letters.isEmpty else { return [.text("Which word shall I spell?")] }
        guard letters.count <= lettersMax else { return [.text("That is too long to spell. Please name one word.")] }
        return [.text(letters.map { $0.uppercased() }.joined(separator: ", ") + ".")]
    }
}
