/// Numbers as they are spoken: "twenty-five", "a hundred and five", "two and a half", "three point one four". A pure namespace.
enum NumberWords {
    /// Larger results are not spoken.
    static let magnitudeMax = 1e15

    private static let units: [String: Double] = [
        "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
        "eleven": 11,
        "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
    ]
    private static let tens: [String: Double] = [
        "twenty": 20, "thirty": 30, "forty": 40, "fourty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
    ]
    private static let scales: [String: Double] = ["thousand": 1e3, "million": 1e6, "billion": 1e9]
    /// Words that recognizers write for numbers.
    private static let homophones: [String: Double] = ["for": 4, "fore": 4, "to": 2, "too": 2, "won": 1, "ate": 8]
    private static let ordinals = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth",
        "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth",
    ]

    /// Whether the word alone is a number, or part of one.
    static func isNumber(_ word: String) -> Bool { units[word] != nil || tens[word] != nil || scales[word] != nil || word == "hundred" }

    /// Reads the number that begins at a word.
    ///
    /// - Parameter allowsHomophones: "for" is 4, "to" is 2.
    /// - Returns: the number and the index after it.
    static func number(in words: [String], at start: Int, allowsHomophones: Bool = false) -> (value: Double, end: Int)? {
        guard words.indices.contains(start) else { return nil }
        if allowsHomophones, let value = homophones[words[start]] { return (value, start + 1) }
        var reader = Reader(words: words, index: start)
        guard let value = reader.read() else { return nil }
        return (value, reader.index)
    }

    /// All numbers of an utterance, in order.
    static func all(in words: [String]) -> [Double] {
        var numbers: [Double] = []
        var index = 0
        while index < words.count {
            if let (value, end) = number(in: words, at: index) {
                numbers.append(value)
                index = end
            } else {
                index += 1
            }
        }
        return numbers
    }

    /// Reads a day of a month: "25th", "fourth", "twenty-fifth", "25".
    static func ordinal(in words: [String], at start: Int) -> (value: Int, end: Int)? {
        guard words.indices.contains(start) else { return nil }
        let word = words[start]
        if let index = ordinals.firstIndex(of: word) { return (index + 1, start + 1) }
        if word == "thirtieth" { return (30, start + 1) }
        if let ten = tens[word], start + 1 < words.count, let unit = ordinals.prefix(9).firstIndex(of: words[start + 1]) {
            return (Int(ten) + unit + 1, start + 2)
        }
        if let suffix = ["st", "nd", "rd", "th"].first(where: word.hasSuffix), let value = Int(word.dropLast(suffix.count)) {
            return (value, start + 1)
        }
        guard let (value, end) = number(in: words, at: start), value == value.rounded(), abs(value) < 1e6 else { return nil }
        return (Int(value), end)
    }

    /// A number as text, with at most `decimals` decimals.
    ///
    /// - Returns: nil for numbers of which nothing sensible can be said. `isExact`: nothing was rounded away.
    static func text(_ value: Double, decimals: Int = 4) -> (text: String, isExact: Bool)? {
        guard value.isFinite, abs(value) < magnitudeMax else { return nil }
        let power = (0..<decimals).reduce(1.0) { power, _ in power * 10 }
        let rounded = (value * power).rounded() / power
        let isExact = abs(rounded - value) <= max(abs(value), 1) * 1e-12
        let text = rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
        return (text, isExact)
    }

    private struct Reader {
        let words: [String]
        var index: Int

        private func word(_ offset: Int = 0) -> String? { words.indices.contains(index + offset) ? words[index + offset] : nil }

        mutating func read() -> Double? {
            guard var value = digits() ?? spelled() else { return nil }
            if word() == "dozen" {
                index += 1
                value *= 12
            }
            if word() == "point", let fraction = decimals() { value += fraction }
            if word() == "and", word(1) == "a", let part = ["half": 0.5, "quarter": 0.25][word(2) ?? ""] {
                index += 3
                value += part
            }
            return value
        }

        private mutating func digits() -> Double? {
            guard let word = word(), word.first?.isASCII == true, word.first?.isNumber == true, var value = Double(word), value.isFinite
            else {
                return nil
            }
            index += 1
            while let scale = self.word().flatMap({ scales[$0] }) ?? (self.word() == "hundred" ? 100 : nil), value < 1e12 {
                index += 1
                value *= scale
            }
            return value
        }

        /// "three hundred and twenty-five thousand", "a dozen".
        private mutating func spelled() -> Double? {
            var total = 0.0
            var current: Double?
            /// The value that a following unit must stay below.
            var room = Double.infinity
            if word() == "a", let next = word(1), next == "hundred" || next == "dozen" || scales[next] != nil {
                index += 1
                current = 1
            }
            while let word = word() {
                if let unit = units[word], unit < room {
                    current = (current ?? 0) + unit
                    room = 0
                } else if let ten = tens[word], ten < room {
                    current = (current ?? 0) + ten
                    room = 10
                } else if word == "hundred", (current ?? 1) < 100 {
                    current = (current ?? 1) * 100
                    room = 100
                } else if let scale = scales[word], total == 0 || scale < total {
                    total += (current ?? 1) * scale
                    current = 0
                    room = 1_000
                } else if word == "and", room == 100 || room == 1_000, let next = self.word(1), units[next] != nil || tens[next] != nil {
                    index += 1
                    continue
                } else {
                    break
                }
                index += 1
            }
            return current.map { total + $0 }
        }

        private mutating func decimals() -> Double? {
            var text = ""
            var end = index + 1
            while end < words.count, text.count < 12 {
                let word = words[end] == "oh" ? "zero" : words[end]
                guard let digits = units[word].flatMap({ $0 < 10 ? "\(Int($0))" : nil }) ?? Int(word).map({ "\($0)" }) else { break }
                text += digits
                end += 1
            }
            guard !text.isEmpty, let value = Double("0." + text) else { return nil }
            index = end
            return value
        }
    }
}
