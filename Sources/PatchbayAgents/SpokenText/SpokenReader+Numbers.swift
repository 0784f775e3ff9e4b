/// Numbers, ordinals, ranges, fractions and codes.
extension SpokenReader {
    /// A number or the range of two.
    struct Quantity {
        var first: WrittenNumber
        var last: WrittenNumber?
    }

    private static let dashes: Set<Character> = ["-", "–", "—", "−"]

    func quantity(_ text: some StringProtocol, _ grammar: any SpokenGrammar) -> Quantity? {
        if let number = WrittenNumber(text, decimal: grammar.vocabulary.decimal) { return Quantity(first: number) }
        guard let dash = text.dropFirst().firstIndex(where: { Self.dashes.contains($0) }),
            let first = WrittenNumber(text[..<dash], decimal: grammar.vocabulary.decimal),
            let last = WrittenNumber(text[text.index(after: dash)...], decimal: grammar.vocabulary.decimal), !last.isNegative
        else { return nil }
        return Quantity(first: first, last: last)
    }

    func spoken(_ number: WrittenNumber, _ grammar: any SpokenGrammar, before unit: SpokenUnit? = nil) -> String {
        let names = grammar.vocabulary.names
        let sign = number.isNegative ? names.minus + " " : number.hasPlus ? names.plus + " " : ""
        guard let value = number.value else {
            let fraction = number.fraction.isEmpty ? "" : " \(names.point) \(grammar.digits(number.fraction))"
            return sign + grammar.digits(number.digits) + fraction
        }
        if number.fraction.isEmpty {
            return sign + (unit.map { grammar.counting(value, isFeminine: $0.isFeminine) } ?? grammar.cardinal(value))
        }
        return "\(sign)\(grammar.cardinal(value)) \(names.point) \(grammar.decimals(number.fraction))"
    }

    func spoken(_ quantity: Quantity, _ grammar: any SpokenGrammar, before unit: SpokenUnit? = nil) -> String {
        guard let last = quantity.last else { return spoken(quantity.first, grammar, before: unit) }
        return "\(spoken(quantity.first, grammar, before: unit)) \(grammar.vocabulary.names.to) \(spoken(last, grammar, before: unit))"
    }

    /// The number at the beginning of a word, and the rest of the word.
    func prefix(_ core: String) -> (number: Substring, rest: Substring) {
        var number = core.prefix { $0.isDigit || ".,-–−+".contains($0) }
        while let last = number.last, !last.isDigit { number.removeLast() }
        return (number, core[number.endIndex...])
    }

    /// The number at `index`, whose groups may be words of their own, with what follows it in its last word.
    func grouped(at index: Int, _ grammar: any SpokenGrammar) -> (number: String, rest: String, count: Int) {
        let (number, rest) = prefix(words[index].core)
        guard grammar.vocabulary.hasSpacedGroups, rest.isEmpty, 1...3 ~= number.count, number.allSatisfy(\.isDigit), !number.hasPrefix("0")
        else { return (String(number), String(rest), 1) }
        var digits = String(number)
        var tail = ""
        var count = 1
        while tail.isEmpty, count < 5, let next = joined(index + count) {
            let (group, rest) = prefix(next)
            let whole = group.prefix(while: \.isDigit)
            guard whole.count == 3, group.count == 3 || group.dropFirst(3).first == grammar.vocabulary.decimal else { break }
            digits += group
            tail = String(rest)
            count += 1
            if group.count > 3 { break }
        }
        return (digits, tail, count)
    }

    // MARK: Ordinals, ranges and fractions

    func ordinal(at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        let core = words[index].core
        if let spoken = grammar.ordinal(written: core) { return Reading(spoken: spoken) }
        // "der 2. Weltkrieg".
        if words[index].trail == ".", 1...3 ~= core.count, core.allSatisfy(\.isDigit), let number = Int(core), number > 0,
            self.core(index + 1).first?.isLetter == true, let spoken = grammar.ordinal(number, after: self.core(index - 1).lowercased())
        {
            return Reading(spoken: spoken, trail: "")
        }
        // "2nd-floor", "mid-1990s".
        let parts = core.split(separator: "-", omittingEmptySubsequences: false)
        if parts.count == 2, parts[1].allSatisfy(\.isLetter), let spoken = grammar.ordinal(written: String(parts[0])) {
            return Reading(spoken: spoken + " " + parts[1])
        }
        if parts.count == 2, !parts[0].isEmpty, parts[0].allSatisfy(\.isLetter), let spoken = decade(parts[1], isMarked: true, grammar) {
            return Reading(spoken: parts[0] + " " + spoken)
        }
        // "1980s", "the 90s", "'90s", "1980's"; but "90s" are seconds.
        let isDecade = ["the", "early", "mid", "late"].contains(self.core(index - 1).lowercased()) || !words[index].lead.isEmpty
        return decade(core[...], isMarked: isDecade, grammar).map { Reading(spoken: $0) }
    }

    private func decade(_ text: Substring, isMarked: Bool, _ grammar: any SpokenGrammar) -> String? {
        let number = text.prefix(while: \.isDigit)
        guard ["s", "'s", "’s"].contains(text.dropFirst(number.count)), let year = Int(number), year % 10 == 0,
            isMarked && 1...9 ~= year / 10 || 1100...2090 ~= year
        else { return nil }
        return grammar.decade(year)
    }

    func range(at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        guard let quantity = quantity(words[index].core, grammar), let last = quantity.last else { return nil }
        let to = grammar.vocabulary.names.to
        return Reading(spoken: "\(plain(quantity.first, grammar)) \(to) \(plain(last, grammar))")
    }

    private static let fractions: [Character: (Int, Int)] = [
        "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8),
    ]

    /// "3/4", "½", "1 1/2", "2½".
    func fraction(at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        let core = words[index].core
        if let spoken = spokenFraction(core, grammar, after: nil) { return Reading(spoken: spoken) }
        if let last = core.last, let whole = WrittenNumber(core.dropLast(), decimal: grammar.vocabulary.decimal)?.value,
            let spoken = spokenFraction(String(last), grammar, after: whole)
        {
            return Reading(spoken: spoken)
        }
        if core.allSatisfy(\.isDigit), let whole = Int(core), whole < 1_000, let next = joined(index + 1),
            let spoken = spokenFraction(next, grammar, after: whole)
        {
            return Reading(spoken: spoken, count: 2)
        }
        // "7/8" was a fraction; "25/3" is not.
        let parts = core.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.count <= 4 && $0.allSatisfy(\.isDigit) }) else { return nil }
        return Reading(spoken: parts.map { number($0, grammar) }.joined(separator: " \(grammar.vocabulary.names.slash) "))
    }

    private func spokenFraction(_ text: String, _ grammar: any SpokenGrammar, after whole: Int?) -> String? {
        var part: (Int, Int)?
        if text.count == 1, let first = text.first { part = Self.fractions[first] }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        if parts.count == 2, parts.allSatisfy({ 1...3 ~= $0.count && $0.allSatisfy(\.isDigit) }), let numerator = Int(parts[0]),
            let denominator = Int(parts[1])
        {
            part = (numerator, denominator)
        }
        guard let part, let spoken = grammar.fraction(part.0, part.1) else { return nil }
        guard let whole else { return spoken }
        let and = grammar.vocabulary.symbols["&"] ?? ""
        // "one and a half", "two and three quarters".
        let isEnglishHalf = and == "and" && part == (1, 2)
        return "\(grammar.cardinal(whole)) \(and) \(isEnglishHalf ? "a half" : spoken)"
    }

    // MARK: Codes and numbers

    private static let codeGroupsMax = 8

    /// Digits after "room", "code" and the like: "room 4711", "your code is 4711", "#4711".
    func code(at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        let core = words[index].core
        let isHash = core.hasPrefix("#")
        let digits = (isHash ? core.dropFirst() : core[...]).filter { !"-–.".contains($0) }
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit), core.first != "-", core.last?.isDigit == true else { return nil }
        let number = isHash ? grammar.vocabulary.names.number + " " : ""
        if isHash, digits.count < 4 { return Reading(spoken: number + self.number(digits, grammar)) }
        guard isHash || isCode(at: index, grammar) && digits.count >= 3 else { return nil }
        return Reading(spoken: number + grammar.digits(digits))
    }

    /// Whether one of the two words before is one for codes: "code: 4711", "code is 4711".
    func isCode(at index: Int, _ grammar: any SpokenGrammar) -> Bool {
        let words = grammar.vocabulary.codeWords
        // Groups of one code.
        var index = index
        for _ in 1...Self.codeGroupsMax {
            guard let before = joined(index).map({ _ in core(index - 1) }), before.contains(where: \.isDigit),
                before.allSatisfy({ $0.isDigit || $0.isUppercase })
            else { break }
            index -= 1
        }
        if words.contains(core(index - 1).lowercased()) { return true }
        let links: Set<String> = ["is", "no", "number", "ist", "lautet", "nummer", "est", "es", "nr"]
        return links.contains(core(index - 1).lowercased()) && words.contains(core(index - 2).lowercased())
    }

    func number(at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        let (number, rest, count) = grouped(at: index, grammar)
        guard rest.isEmpty else { return arithmetic(at: index, grammar) }
        guard let parsed = WrittenNumber(number, decimal: grammar.vocabulary.decimal) else {
            return dotted(words[index].core, grammar).map { Reading(spoken: $0) } ?? arithmetic(at: index, grammar)
        }
        if count > 1 { return Reading(spoken: spoken(parsed, grammar), count: count) }
        if parsed.isPlain, let value = parsed.value, value % 10 == 1, let noun = joined(index + 1), noun.allSatisfy(\.isLetter),
            let spoken = grammar.counting(value, before: noun)
        {
            return Reading(spoken: spoken)
        }
        // "123456 dollars".
        if parsed.isPlain, parsed.digits.count > 4, let noun = joined(index + 1), isUnit(noun, grammar) {
            return Reading(spoken: spoken(parsed, grammar))
        }
        return Reading(spoken: plain(parsed, grammar))
    }

    private func isUnit(_ noun: String, _ grammar: any SpokenGrammar) -> Bool {
        grammar.vocabulary.units.values.contains { $0.many == noun }
            || grammar.vocabulary.currencies.values.contains { $0.unit.many == noun }
    }

    /// Digits as a year, a number or one by one.
    func number(_ digits: some StringProtocol, _ grammar: any SpokenGrammar) -> String {
        WrittenNumber(digits, decimal: grammar.vocabulary.decimal).map { plain($0, grammar) } ?? String(digits)
    }

    private func plain(_ number: WrittenNumber, _ grammar: any SpokenGrammar) -> String {
        guard number.isPlain else { return spoken(number, grammar) }
        if let value = number.value, number.digits.count == 4, 1100...2099 ~= value { return grammar.year(value) }
        if number.digits.count >= 5, !number.digits.hasSuffix("00") { return grammar.digits(number.digits) }
        return spoken(number, grammar)
    }

    /// Versions and addresses: "1.2.3", "192.168.1.1".
    private func dotted(_ core: String, _ grammar: any SpokenGrammar) -> String? {
        let parts = core.split(separator: ".", omittingEmptySubsequences: false)
        guard 3...8 ~= parts.count, parts.allSatisfy({ 1...5 ~= $0.count && $0.allSatisfy(\.isDigit) }) else { return nil }
        return parts.map { spoken($0, grammar) }.joined(separator: " \(grammar.vocabulary.names.dot) ")
    }

    private func spoken(_ digits: Substring, _ grammar: any SpokenGrammar) -> String {
        WrittenNumber(digits, decimal: grammar.vocabulary.decimal).map { spoken($0, grammar) } ?? String(digits)
    }

    /// "2+2=4", "5x3", "~5", "≥10".
    private func arithmetic(at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        let core = words[index].core
        guard core.count <= 40 else { return nil }
        var words: [String] = []
        var operand = ""
        func flush() -> Bool {
            guard !operand.isEmpty else { return true }
            defer { operand = "" }
            if operand.allSatisfy(\.isLetter) {
                words.append(operand)
            } else {
                guard let number = WrittenNumber(operand, decimal: grammar.vocabulary.decimal) else { return false }
                words.append(spoken(number, grammar))
            }
            return true
        }
        let characters = Array(core)
        for (position, character) in characters.enumerated() {
            let isFactor =
                character == "x" && position > 0 && position + 1 < characters.count
                && characters[position - 1].isDigit && characters[position + 1].isDigit
            let symbol = isFactor ? "×" : character
            if "+=×*÷±≈~<>≤≥−°§√%".contains(symbol), let name = grammar.vocabulary.symbols[symbol] {
                guard flush() else { return nil }
                words.append(name)
            } else {
                operand.append(character)
            }
        }
        guard !words.isEmpty, flush() else { return nil }
        return Reading(spoken: words.joined(separator: " "))
    }
}
