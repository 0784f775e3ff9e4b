import YAMLSettings

/// The members of a map in a file of scenarios. Errors have the line of the member, and say what to write instead.
struct ScenarioFields {
    let source: String
    /// What the map describes, with its article.
    private let kind: String
    private let whole: YAMLValue
    private let map: YAMLMap

    /// - Parameter known: the names of all members that the map may have.
    init(_ value: YAMLValue, _ kind: String, _ known: [String], source: String) throws(ConfigurationError) {
        guard let map = value.map else {
            throw ConfigurationError(
                "\(source): line \(value.line): \(kind) must be a map with \(known.map { "`\($0)`" }.joined(separator: ", "))")
        }
        (self.source, self.kind, whole, self.map) = (source, kind, value, map)
        for name in map.names where !known.contains(name) {
            let hint = Suggestion.nearest(to: name, among: known).map { "did you mean `\($0)`?" } ?? "use \(known.joined(separator: ", "))"
            throw fault("\(kind) has no `\(name)`; \(hint)", at: name)
        }
    }

    var names: [String] { map.names }
    func has(_ name: String) -> Bool { map[name] != nil }
    func value(_ name: String) -> YAMLValue? { map[name] }

    /// - Parameter name: the member with the fault; nil for the whole map.
    func fault(_ text: String, at name: String? = nil) -> ConfigurationError {
        ConfigurationError("\(source): line \((name.flatMap { map[$0] } ?? whole).line): \(text)")
    }

    /// Refuses members that have no meaning beside another one.
    func allowOnly(_ names: [String], with other: String) throws(ConfigurationError) {
        if let name = map.names.first(where: { !names.contains($0) }) {
            throw fault("`\(name)` has no meaning with `\(other)`; remove it", at: name)
        }
    }

    func integer(_ name: String, _ range: ClosedRange<Int>) throws(ConfigurationError) -> Int? {
        guard let value = map[name] else { return nil }
        guard case .integer(let number) = value.content, range.contains(number) else {
            throw wrong(name, value, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func number(_ name: String, _ range: ClosedRange<Double>) throws(ConfigurationError) -> Double? {
        guard let value = map[name] else { return nil }
        let number: Double? =
            switch value.content {
            case .integer(let number): Double(number)
            case .number(let number): number
            default: nil
            }
        guard let number, range.contains(number) else {
            throw wrong(name, value, "a number from \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))")
        }
        return number
    }

    func flag(_ name: String) throws(ConfigurationError) -> Bool? {
        guard let value = map[name] else { return nil }
        guard case .flag(let flag) = value.content else { throw wrong(name, value, "true or false, without quotes") }
        return flag
    }

    func text(_ name: String) throws(ConfigurationError) -> String? {
        guard let value = map[name] else { return nil }
        guard let text = value.scalar, !text.isEmpty else { throw wrong(name, value, "a text") }
        return text
    }

    /// A list of texts, or one text.
    func texts(_ name: String) throws(ConfigurationError) -> [String] {
        guard let value = map[name] else { return [] }
        if let text = value.scalar, !text.isEmpty { return [text] }
        let texts = value.list?.compactMap(\.scalar) ?? []
        guard !texts.isEmpty, texts.count == value.list?.count else { throw wrong(name, value, "a list of texts, such as `[ten meters]`") }
        return texts
    }

    func list(_ name: String, _ count: ClosedRange<Int>) throws(ConfigurationError) -> [YAMLValue]? {
        guard let value = map[name] else { return nil }
        guard let list = value.list, count.contains(list.count) else {
            throw wrong(name, value, "a list of \(count.lowerBound) to \(count.upperBound) entries")
        }
        return list
    }

    /// The milliseconds of the step `wait`.
    func wait() throws(ConfigurationError) -> Int {
        guard case .integer(let number)? = map["wait"]?.content, 0...60_000 ~= number else {
            throw fault("`wait` must be a whole number of milliseconds from 0 to 60000, or the word `finished`", at: "wait")
        }
        return number
    }

    func thresholds() throws(ConfigurationError) -> EvaluationThresholds {
        guard let value = map["thresholds"] else { return EvaluationThresholds() }
        let names = ["response_ms_median", "response_ms_p95", "word_errors", "cut_in", "talk_over_ms"]
        let fields = try ScenarioFields(value, "`thresholds`", names, source: source)
        return EvaluationThresholds(
            responseMsMedian: try fields.integer("response_ms_median", 0...60_000),
            responseMsP95: try fields.integer("response_ms_p95", 0...60_000), wordErrors: try fields.number("word_errors", 0...1),
            cutIn: try fields.integer("cut_in", 0...1_000), talkOverMs: try fields.integer("talk_over_ms", 0...600_000))
    }

    private func wrong(_ name: String, _ value: YAMLValue, _ expected: String) -> ConfigurationError {
        let found =
            switch value.content {
            case .empty: "empty"
            case .list(let list): list.isEmpty ? "an empty list" : "a list of \(list.count)"
            case .map: "a map"
            default: value.written
            }
        return fault("`\(name)` must be \(expected), not \(found)", at: name)
    }

    /// Without a fraction if there is none.
    private static func plain(_ number: Double) -> String { number == number.rounded() ? "\(Int(number))" : "\(number)" }
}
