/// The metrics and labels that a PromQL expression uses. Reads expressions, does not evaluate them.
struct PromQL {
    struct Matcher: Hashable {
        var label: String
        var isRegex: Bool
        /// As opposed to `!=` and `!~`.
        var isPositive: Bool
        var value: String
    }

    struct Selector: Hashable {
        var metric: String
        var matchers: [Matcher] = []
    }

    struct Fault: Error {
        var rest: String
    }

    private(set) var selectors: [Selector] = []
    /// The labels of `by`, `on` and so on.
    private(set) var groupings: [String] = []
    private var rest: Substring

    private static let groupingWords: Set = ["by", "without", "on", "ignoring", "group_left", "group_right"]
    /// Operators, and aggregations before their `by`.
    private static let operators: Set = ["and", "or", "unless", "bool", "offset", "sum", "min", "max", "avg", "count"]

    init(_ expression: String) throws(Fault) {
        rest = expression[...]
        while let first = rest.first {
            if first.isLetter || first == "_" {
                try readWord()
            } else if first == "[" {
                _ = try read(to: "]")
            } else if first == "{" {
                try readMatchers()
            } else if first.isNumber {
                rest = rest.drop { $0.isNumber || $0.isLetter || $0 == "." }
            } else {
                rest.removeFirst()
            }
        }
    }

    private mutating func readWord() throws(Fault) {
        let word = String(rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == ":" })
        rest = rest.dropFirst(word.count).drop(while: \.isWhitespace)
        if Self.groupingWords.contains(word) {
            guard rest.first == "(" else { throw Fault(rest: String(rest)) }
            let labels = try read(to: ")").dropFirst().dropLast()
            groupings += labels.split { $0 == "," || $0.isWhitespace }.map(String.init)
        } else if rest.first != "(", !Self.operators.contains(word) {
            selectors.append(Selector(metric: word))
        }
    }

    private mutating func readMatchers() throws(Fault) {
        guard !selectors.isEmpty else { throw Fault(rest: String(rest)) }
        let inner = try read(to: "}").dropFirst().dropLast()
        for match in inner.matches(of: /([a-z_]+)\s*(=~|!~|!=|=)\s*"([^"]*)"/) {
            let (label, comparison, value) = (String(match.1), match.2, String(match.3))
            selectors[selectors.count - 1].matchers.append(
                Matcher(label: label, isRegex: comparison.contains("~"), isPositive: comparison.first == "=", value: value))
        }
    }

    /// - Returns: the text up to and including `end`.
    private mutating func read(to end: Character) throws(Fault) -> Substring {
        guard let index = rest.firstIndex(of: end) else { throw Fault(rest: String(rest)) }
        let text = rest[...index]
        rest = rest[rest.index(after: index)...]
        return text
    }
}

extension PromQL {
    /// Labels that Prometheus adds.
    private static let added: Set = ["instance", "job"]
    /// Metrics that Prometheus makes itself.
    private static let own: Set = ["up"]
    /// Labels whose values depend on what happened.
    private static let open: Set = ["status", "code", "route", "version"]

    /// What of this expression the gateway does not expose; one sentence each.
    func unknowns(in metrics: Metrics) -> [String] {
        var unknowns: [String] = []
        var known = Self.added
        for selector in selectors where !Self.own.contains(selector.metric) {
            let samples = metrics.families.flatMap(\.samples).filter { $0.name == selector.metric }
            if samples.isEmpty { unknowns.append("there is no \(selector.metric)") }
            known.formUnion(samples.flatMap(\.labels.keys))
            for matcher in selector.matchers where !Self.added.contains(matcher.label) {
                let values = Set(samples.compactMap { $0.labels[matcher.label] })
                if values.isEmpty { unknowns.append("\(selector.metric) has no label \(matcher.label)") }
                guard !values.isEmpty, matcher.isPositive, !Self.open.contains(matcher.label) else { continue }
                let wanted = matcher.isRegex ? matcher.value.split(separator: "|").map(String.init) : [matcher.value]
                for value in wanted where !values.contains(value) {
                    unknowns.append("\(selector.metric) never has \(matcher.label)=\"\(value)\"")
                }
            }
        }
        return unknowns + groupings.filter { !known.contains($0) }.map { "no metric has the label \($0)" }
    }

    /// The labels of the result, as far as they are certain.
    func resultLabels(in metrics: Metrics) -> Set<String> {
        if !groupings.isEmpty { return Self.added.union(groupings) }
        let names = Set(selectors.map(\.metric))
        return Self.added.union(metrics.families.flatMap(\.samples).filter { names.contains($0.name) }.flatMap(\.labels.keys))
    }
}
