/// The rules of `promtool check metrics` (client_golang's promlint), and those of the text format that it takes for granted.
enum PrometheusLint {
    /// One sentence per problem.
    static func problems(in metrics: Metrics) -> [String] {
        metrics.families.flatMap { family in
            ruleBreaks(of: family).map { "\(family.name): \($0)" }
        }
    }

    private static func ruleBreaks(of family: Metrics.Family) -> [String] {
        var problems: [String] = []
        let words = family.name.split(separator: "_").map(String.init)
        let labels = Set(family.samples.flatMap(\.labels.keys))
        if family.help.isEmpty { problems.append("no help text") }
        if !["counter", "gauge", "histogram", "summary"].contains(family.type) { problems.append("unknown type \(family.type)") }
        if family.type == "counter", !family.name.hasSuffix("_total") { problems.append("counters end in _total") }
        if family.type != "counter", family.name.hasSuffix("_total") { problems.append("only counters end in _total") }
        if family.type != "histogram" {
            for suffix in ["_bucket", "_count", "_sum"] where family.name.hasSuffix(suffix) { problems.append("ends in \(suffix)") }
            if labels.contains("le") { problems.append("only histograms have the label le") }
        }
        if labels.contains("quantile") { problems.append("only summaries have the label quantile") }
        for type in ["counter", "gauge", "histogram", "summary"] where words.dropFirst().contains(type) {
            problems.append("the type is part of the name")
        }
        if family.name.contains(":") { problems.append("colons are for recording rules") }
        for name in [family.name] + labels where name.contains(where: \.isUppercase) { problems.append("\(name) has capital letters") }
        for word in words.dropFirst() {
            if abbreviations.contains(word) { problems.append("\(word) abbreviates a unit") }
            if let unit = baseUnit(of: word), unit != word { problems.append("\(word) is not the base unit \(unit)") }
        }
        let samples = Set(family.samples.map { [$0.name: $0.labels] })
        if samples.count != family.samples.count { problems.append("a series occurs twice") }
        if !family.samples.allSatisfy({ $0.value.isFinite && $0.value >= 0 }) { problems.append("a value is negative or infinite") }
        if family.type == "histogram" { problems += faults(ofHistogram: family) }
        return problems
    }

    private static let abbreviations: Set = ["s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "tb", "pb", "m", "h", "d"]

    /// The base unit of a unit, with or without a metric prefix; nil for other words.
    private static func baseUnit(of word: String) -> String? {
        let units = [
            "second": "seconds", "minute": "seconds", "hour": "seconds", "day": "seconds", "week": "seconds", "byte": "bytes",
            "bit": "bytes", "meter": "meters", "metre": "meters", "gram": "grams", "volt": "volts", "ampere": "amperes", "joule": "joules",
            "celsius": "celsius", "kelvin": "celsius", "fahrenheit": "celsius", "percent": "ratio",
        ]
        let prefixes = ["", "pico", "nano", "micro", "milli", "centi", "kilo", "kibi", "mega", "mebi", "giga", "gibi", "tera", "tebi"]
        for (unit, base) in units {
            for prefix in prefixes where word == prefix + unit || word == prefix + unit + "s" { return base }
        }
        return nil
    }

    /// For each set of labels: cumulative buckets that end in `+Inf`, a sum, and a count that equals the last bucket.
    private static func faults(ofHistogram family: Metrics.Family) -> [String] {
        func others(_ sample: Metrics.Sample) -> [String: String] { sample.labels.filter { $0.key != "le" } }
        return Dictionary(grouping: family.samples, by: others).flatMap { labels, samples -> [String] in
            let buckets = samples.filter { $0.name == family.name + "_bucket" }
            let bounds = buckets.compactMap { $0.labels["le"].flatMap { Double($0 == "+Inf" ? "inf" : $0) } }
            let counts = samples.filter { $0.name == family.name + "_count" }
            let sums = samples.filter { $0.name == family.name + "_sum" }
            var faults: [String] = []
            if bounds.count != buckets.count || bounds != bounds.sorted() || bounds.last != .infinity { faults.append("bounds") }
            if buckets.map(\.value) != buckets.map(\.value).sorted() { faults.append("buckets are not cumulative") }
            if counts.count != 1 || sums.count != 1 || counts.first?.value != buckets.last?.value { faults.append("sum or count") }
            return faults.map { "\($0) of \(labels)" }
        }
    }
}
