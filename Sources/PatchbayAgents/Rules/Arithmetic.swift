internal import Foundation

/// Simple arithmetic: "seven times eight", "what's 20 percent of 50", "the square root of 81", "add 3 and 4".
///
/// Applies only if the whole utterance is an expression, so that words such as "for" and "to" may stand for numbers.
enum Arithmetic {
    static func respond(to utterance: Utterance, in situation: Situation) -> [ResponsePart]? {
        guard let (spoken, value) = result(of: utterance.words) else { return nil }
        guard value.isFinite else { return [.text("That has no answer.")] }
        guard let (text, isExact) = NumberWords.text(value) else { return [.text("That number is too large for me.")] }
        return [.text("\(spoken.capitalizedFirst) is \(isExact ? "" : "about ")\(text).")]
    }

    /// - Returns: the expression in words and digits, and its value.
    static func result(of words: [String]) -> (spoken: String, value: Double)? {
        var words = words
        for opening in [
            "tell me", "do you know", "what is", "what are", "what", "how much is", "how much are", "calculate", "compute", "the result of",
        ] {
            let parts = opening.split(separator: " ").map(String.init)
            if words.starts(with: parts) { words.removeFirst(parts.count) }
        }
        if words.suffix(2) == ["equal", "to"] { words.removeLast(2) }
        for ending in ["equals", "equal", "is", "make", "makes"] where words.last == ending { words.removeLast() }
        if words.first == "the" { words.removeFirst() }
        guard words.count >= 2 else { return nil }
        if let command = Command(words) { return command.result }
        var parser = Parser(words: words)
        guard let value = parser.sum(), parser.isAtEnd, parser.operations > 0 else { return nil }
        return (parser.spoken.joined(separator: " "), value)
    }

    /// "add 3 and 4", "divide 20 by 5".
    private struct Command {
        let result: (spoken: String, value: Double)

        init?(_ words: [String]) {
            let connectors = ["add": ["and", "to"], "subtract": ["from"], "multiply": ["by", "with", "times"], "divide": ["by"]]
            guard let links = connectors[words[0]], let (left, middle) = NumberWords.number(in: words, at: 1, allowsHomophones: true),
                middle < words.count, links.contains(words[middle]),
                let (right, end) = NumberWords.number(in: words, at: middle + 1, allowsHomophones: true), end == words.count,
                let (leftText, _) = NumberWords.text(left), let (rightText, _) = NumberWords.text(right)
            else { return nil }
            switch words[0] {
            case "add": result = ("\(leftText) plus \(rightText)", left + right)
            case "subtract": result = ("\(rightText) minus \(leftText)", right - left)
            case "multiply": result = ("\(leftText) times \(rightText)", left * right)
            default: result = ("\(leftText) divided by \(rightText)", left / right)
            }
        }
    }

    /// Recursive descent: products bind more closely than sums.
    private struct Parser {
        let words: [String]
        var index = 0
        var spoken: [String] = []
        var operations = 0
        /// The last operand was a bare percentage: "100 plus 20 percent".
        private var isPercentage = false

        init(words: [String]) {
            self.words = words
        }

        var isAtEnd: Bool { index == words.count }

        private mutating func takes(_ phrases: String..., as name: String) -> Bool {
            for phrase in phrases {
                let parts = phrase.split(separator: " ").map(String.init)
                guard words[index...].starts(with: parts) else { continue }
                index += parts.count
                spoken.append(name)
                operations += 1
                return true
            }
            return false
        }

        mutating func sum() -> Double? {
            guard var value = product() else { return nil }
            while !isAtEnd {
                let sign: Double
                if takes("plus", "and", "added to", as: "plus") {
                    sign = 1
                } else if takes("minus", "less", "take away", as: "minus") {
                    sign = -1
                } else {
                    return value
                }
                guard let term = product() else { return nil }
                value += sign * (isPercentage ? value * term : term)
            }
            return value
        }

        private mutating func product() -> Double? {
            guard var value = power() else { return nil }
            while !isAtEnd {
                if takes("times", "time", "multiplied by", "multiplied with", "x", as: "times") {
                    guard let factor = power() else { return nil }
                    value *= factor
                } else if takes("divided by", "divide by", "over", as: "divided by") {
                    guard let divisor = power() else { return nil }
                    value /= divisor
                } else {
                    break
                }
                isPercentage = false
            }
            return value
        }

        private mutating func power() -> Double? {
            guard var value = operand() else { return nil }
            while !isAtEnd {
                if takes("squared", as: "squared") {
                    value *= value
                } else if takes("cubed", as: "cubed") {
                    value *= value * value
                } else if takes("to the power of", "raised to the power of", as: "to the power of") {
                    guard let exponent = operand() else { return nil }
                    value = pow(value, exponent)
                } else {
                    break
                }
            }
            return value
        }

        private mutating func operand() -> Double? {
            guard !isAtEnd else { return nil }
            isPercentage = false
            if takes("the square root of", "square root of", as: "the square root of") { return operand().map { $0.squareRoot() } }
            if takes("half of", "a half of", as: "half of") { return operand().map { $0 / 2 } }
            if takes("a third of", "one third of", as: "a third of") { return operand().map { $0 / 3 } }
            if takes("a quarter of", "one quarter of", as: "a quarter of") { return operand().map { $0 / 4 } }
            if takes("twice", "double", as: "twice") { return operand().map { $0 * 2 } }
            let isNegative = ["minus", "negative"].contains(words[index])
            if isNegative { index += 1 }
            guard let (value, end) = NumberWords.number(in: words, at: index, allowsHomophones: true) else { return nil }
            index = end
            let number = isNegative ? -value : value
            guard let text = NumberWords.text(number)?.text else { return nil }
            spoken.append(text)
            guard !isAtEnd, words[index] == "percent" else { return number }
            index += 1
            spoken.append("percent")
            if !isAtEnd, words[index] == "of" {
                index += 1
                spoken.append("of")
                operations += 1
                return operand().map { $0 * number / 100 }
            }
            isPercentage = true
            return number / 100
        }
    }
}
