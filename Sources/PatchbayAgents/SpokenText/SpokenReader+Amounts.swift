/// Measures and money.
extension SpokenReader {
    // MARK: Measures

    /// "3 km", "20°C", "50 %".
    func measure(at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        var (number, rest, count) = grouped(at: index, grammar)
        if rest.isEmpty, let next = joined(index + count) {
            rest = next
            count += 1
        }
        guard let unit = grammar.vocabulary.units[rest], let quantity = quantity(number, grammar) else { return nil }
        let isOne = quantity.last == nil && quantity.first.isOne
        let spoken = "\(spoken(quantity, grammar, before: unit)) \(isOne ? unit.one : unit.many)"
        // "5 min." in the middle of a sentence.
        let trail = words[index + count - 1].trail.hasPrefix(".") ? trail(ofMeasure: index + count - 1) : nil
        return Reading(spoken: spoken, count: count, trail: trail)
    }

    private func trail(ofMeasure index: Int) -> String? {
        guard index + 1 < words.count, words[index + 1].core.first?.isLowercase == true else { return nil }
        return String(words[index].trail.dropFirst())
    }

    // MARK: Money

    private static let scales: [String: Int] = [
        "k": 1_000, "K": 1_000, "m": 1_000_000, "M": 1_000_000, "bn": 1_000_000_000, "B": 1_000_000_000,
    ]
    private static let scaleWords: Set<String> = [
        "thousand", "million", "billion", "trillion", "Mio", "Millionen", "Million", "Milliarden", "Mrd", "millions", "milliards",
        "milliard",
        "millón", "millones",
    ]

    /// "USD 5", "€ 5": a currency, then a number.
    func prefixedMoney(at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        guard let currency = grammar.vocabulary.currencies[words[index].core], let next = joined(index + 1) else { return nil }
        let (number, rest) = prefix(next)
        guard rest.isEmpty, let quantity = quantity(number, grammar) else { return nil }
        return money(quantity, currency, grammar, count: 2, at: index)
    }

    /// "$3.50", "12€", "12 €", "5 USD", "$5 million", "$2bn".
    func money(at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        let core = words[index].core
        let currencies = grammar.vocabulary.currencies
        let isNegative = core.first.map { "-−–".contains($0) } ?? false
        let unsigned = isNegative ? core.dropFirst() : core[...]
        let symbol = unsigned.prefix { !$0.isDigit && !"-−–+.,".contains($0) }
        if !symbol.isEmpty, let currency = currencies[String(symbol)] {
            let (number, rest) = prefix(String(unsigned.dropFirst(symbol.count)))
            guard var quantity = quantity(number, grammar) else { return nil }
            if isNegative { quantity.first.isNegative = true }
            if let scale = Self.scales[String(rest)] {
                return Reading(
                    spoken: scaled(quantity, grammar.cardinal(scale).split(separator: " ").last.map(String.init) ?? "", currency, grammar))
            }
            return rest.isEmpty ? money(quantity, currency, grammar, count: 1, at: index) : nil
        }
        var (number, rest, count) = grouped(at: index, grammar)
        if rest.isEmpty, let next = joined(index + count) {
            // "5 million €", "5 Mio. €".
            if Self.scaleWords.contains(next), ["", "."].contains(words[index + count].trail),
                let currency = currencies[self.core(index + count + 1)], let quantity = quantity(number, grammar)
            {
                let scale = grammar.vocabulary.units[next]?.many ?? next
                return Reading(spoken: scaled(quantity, scale, currency, grammar), count: count + 2)
            }
            rest = next
            count += 1
        }
        guard let currency = currencies[rest], let quantity = quantity(number, grammar) else { return nil }
        return money(quantity, currency, grammar, count: count, at: index)
    }

    private func scaled(_ quantity: Quantity, _ scale: String, _ currency: SpokenCurrency, _ grammar: any SpokenGrammar) -> String {
        // After "one million": "euros", "d’euros", "de euros".
        let unit = grammar.money(1_000_000, 0, currency).split(separator: " ").dropFirst(2).joined(separator: " ")
        return "\(spoken(quantity, grammar)) \(scale) \(unit)"
    }

    private func money(
        _ quantity: Quantity, _ currency: SpokenCurrency, _ grammar: any SpokenGrammar, count: Int, at index: Int
    ) -> Reading? {
        if quantity.last == nil, let scale = joined(index + count), Self.scaleWords.contains(scale) {
            return Reading(spoken: scaled(quantity, scale, currency, grammar), count: count + 1)
        }
        let number = quantity.first
        let isWhole = number.fraction.isEmpty || number.fraction.count == 2 && currency.hundredth != nil
        guard quantity.last == nil, isWhole, let whole = number.value else {
            return Reading(spoken: "\(spoken(quantity, grammar, before: currency.unit)) \(currency.unit.many)", count: count)
        }
        let sign = number.isNegative ? grammar.vocabulary.names.minus + " " : number.hasPlus ? grammar.vocabulary.names.plus + " " : ""
        return Reading(spoken: sign + grammar.money(whole, Int(number.fraction) ?? 0, currency), count: count)
    }
}
