/// Converts between units: "how many miles are 10 kilometers", "20 degrees Celsius in Fahrenheit", "how many seconds are in an hour".
enum UnitConversion {
    private struct Unit: Sendable, Hashable {
        enum Dimension: Hashable { case length, mass, volume, temperature, time }

        let dimension: Dimension
        let singular: String
        let plural: String
        /// In meters, grams, liters, seconds, kelvin.
        let factor: Double
        /// Kelvin at zero degrees.
        let offset: Double

        init(_ dimension: Dimension, _ singular: String, _ factor: Double) {
            self.init(dimension, singular, singular + "s", factor)
        }

        init(_ dimension: Dimension, _ singular: String, _ plural: String, _ factor: Double, offset: Double = 0) {
            (self.dimension, self.singular, self.plural) = (dimension, singular, plural)
            (self.factor, self.offset) = (factor, offset)
        }
    }

    private static let units: [String: Unit] = {
        let table: [(Unit, [String])] = [
            (Unit(.length, "kilometer", 1_000), ["kilometre", "kilometres", "km", "k"]), (Unit(.length, "meter", 1), ["metre", "metres"]),
            (Unit(.length, "centimeter", 0.01), ["centimetre", "centimetres", "cm"]),
            (Unit(.length, "millimeter", 0.001), ["millimetre", "millimetres", "mm"]), (Unit(.length, "mile", 1_609.344), ["mi"]),
            (Unit(.length, "yard", 0.9144), []), (Unit(.length, "foot", "feet", 0.3048), ["ft"]),
            (Unit(.length, "inch", "inches", 0.0254), []), (Unit(.mass, "kilogram", 1_000), ["kg", "kilo", "kilos", "kgs"]),
            (Unit(.mass, "gram", 1), []), (Unit(.mass, "pound", 453.59237), ["lb", "lbs"]), (Unit(.mass, "ounce", 28.349523125), ["oz"]),
            (Unit(.mass, "ton", 1_000_000), ["tonne", "tonnes"]), (Unit(.volume, "liter", 1), ["litre", "litres"]),
            (Unit(.volume, "milliliter", 0.001), ["millilitre", "millilitres", "ml"]), (Unit(.volume, "gallon", 3.785411784), []),
            (Unit(.volume, "pint", 0.473176473), []), (Unit(.volume, "cup", 0.2365882365), []),
            (Unit(.temperature, "degree Celsius", "degrees Celsius", 1, offset: 273.15), ["celsius", "centigrade"]),
            (Unit(.temperature, "degree Fahrenheit", "degrees Fahrenheit", 5 / 9, offset: 459.67 * 5 / 9), ["fahrenheit"]),
            (Unit(.time, "second", 1), []), (Unit(.time, "minute", 60), []), (Unit(.time, "hour", 3_600), []),
            (Unit(.time, "day", 86_400), []), (Unit(.time, "week", 604_800), []),
        ]
        var units: [String: Unit] = [:]
        for (unit, names) in table { for name in names + [unit.singular, unit.plural] { units[name] = unit } }
        return units
    }()

    static func respond(to utterance: Utterance, in situation: Situation) -> [ResponsePart]? {
        let words = utterance.words.filter { !["degrees", "degree", "of"].contains($0) }
        let found = words.indices.compactMap { index in units[words[index]].map { (index, $0) } }
        guard found.count == 2, found[0].1.dimension == found[1].1.dimension, found[0].1 != found[1].1 else { return nil }
        let isQuestion = utterance.has("how many", "how much", "convert", "what is", "how far", "how long")
        guard isQuestion || ["in", "to", "into"].contains(words[found[1].0 - 1]) else { return nil }
        guard found[0].1.dimension != .time || (utterance.has("how many") && !utterance.has("until", "till", "ago", "left")) else {
            return nil
        }
        for (source, target) in [(found[0], found[1]), (found[1], found[0])] {
            guard let value = amount(before: source.0, in: words) else { continue }
            return [.text(answer(value, source.1, in: target.1, suffix: utterance.has("per hour") ? " per hour" : ""))]
        }
        return nil
    }

    /// The number before a unit; "a" is one.
    private static func amount(before index: Int, in words: [String]) -> Double? {
        for start in words.indices where start < index {
            guard let (value, end) = NumberWords.number(in: words, at: start), end == index else { continue }
            return start > 0 && ["minus", "negative"].contains(words[start - 1]) ? -value : value
        }
        return index > 0 && ["a", "an"].contains(words[index - 1]) ? 1 : nil
    }

    private static func answer(_ value: Double, _ source: Unit, in target: Unit, suffix: String) -> String {
        // Kelvin, of temperatures.
        let base = value * source.factor + source.offset
        let result = (base - target.offset) / target.factor
        let decimals = abs(result) < 1 ? 4 : 2
        guard let (amount, _) = NumberWords.text(value), let (text, isExact) = NumberWords.text(result, decimals: decimals) else {
            return "That number is too large for me."
        }
        let (from, to) = (amount == "1" ? source.singular : source.plural, text == "1" ? target.singular : target.plural)
        let verb = amount == "1" || source.dimension == .temperature ? "is" : "are"
        return "\(amount) \(from)\(suffix) \(verb) \(isExact ? "" : "about ")\(text) \(to)\(suffix)."
    }
}
