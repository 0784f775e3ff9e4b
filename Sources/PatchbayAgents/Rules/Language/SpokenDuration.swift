/// Spans of time as they are spoken: "ten seconds", "half an hour", "an hour and a half", "two minutes thirty". A pure namespace.
enum SpokenDuration {
    /// A span of time in an utterance.
    struct Found: Hashable {
        let duration: Duration
        /// Of its words, with "in", "for" or "after" before them.
        let range: Range<Int>
    }

    private static let units: [String: Int] = [
        "second": 1, "seconds": 1, "sec": 1, "secs": 1, "minute": 60, "minutes": 60, "min": 60, "mins": 60, "hour": 3_600, "hours": 3_600,
        "hr": 3_600, "hrs": 3_600, "day": 86_400, "days": 86_400,
    ]
    private static let fractions: [String: Double] = ["half": 0.5, "quarter": 0.25, "third": 1 / 3.0]

    /// The first span of an utterance.
    static func find(in words: [String]) -> Found? {
        for start in words.indices {
            guard let (seconds, end) = parse(words, at: start) else { continue }
            let hasPreposition = start > 0 && ["in", "for", "after"].contains(words[start - 1])
            return Found(duration: .seconds(seconds), range: (hasPreposition ? start - 1 : start)..<end)
        }
        return nil
    }

    /// Parts such as "an hour", "and", "20 minutes" add up.
    private static func parse(_ words: [String], at start: Int) -> (seconds: Double, end: Int)? {
        guard var (total, end, unit) = part(words, at: start) else { return nil }
        while end < words.count {
            let next = words[end] == "and" ? end + 1 : end
            if words[end] == "and", let fraction = trailingFraction(words, at: next) {
                total += fraction.value * Double(unit)
                end = fraction.end
            } else if let (seconds, partEnd, smaller) = part(words, at: next), smaller < unit {
                total += seconds
                (end, unit) = (partEnd, smaller)
            } else if unit > 1, let (value, valueEnd) = NumberWords.number(in: words, at: next), value < 60, !isUnit(words, valueEnd) {
                // "two minutes thirty"
                total += value * Double(unit) / 60
                end = valueEnd
                break
            } else {
                break
            }
        }
        // A million days, and no more, so that it remains a duration.
        return total > 0 && total < 86_400e6 ? (total, end) : nil
    }

    private static func isUnit(_ words: [String], _ index: Int) -> Bool { index < words.count && units[words[index]] != nil }

    /// "and a half", after its unit.
    private static func trailingFraction(_ words: [String], at index: Int) -> (value: Double, end: Int)? {
        guard index + 1 < words.count, words[index] == "a", let value = fractions[words[index + 1]] else { return nil }
        return (value, index + 2)
    }

    /// One number and its unit.
    private static func part(_ words: [String], at start: Int) -> (seconds: Double, end: Int, unit: Int)? {
        var index = start
        guard index < words.count else { return nil }
        var value = 1.0
        if let (multiple, end) = NumberWords.number(in: words, at: index), !fractions.keys.contains(words[index]) {
            (value, index) = (multiple, end)
            // "three quarters of an hour"
            if index < words.count, words[index] == "quarters" || words[index] == "quarter" {
                value /= 4
                index = skipped(words, ["of", "an", "a"], index + 1)
            }
        } else if ["for", "to", "too", "won", "ate"].contains(words[index]), isUnit(words, index + 1) {
            // The recognizer heard a word instead of a number.
            value = NumberWords.number(in: words, at: index, allowsHomophones: true)?.value ?? 1
            index += 1
        } else {
            let article = ["a", "an", "the"].contains(words[index]) ? index + 1 : index
            if article < words.count, let fraction = fractions[words[article]] {
                value = fraction
                index = skipped(words, ["of", "an", "a"], article + 1)
            } else if article < words.count, words[article] == "couple" {
                value = 2
                index = skipped(words, ["of"], article + 1)
            } else if article < words.count, words[article] == "few" {
                value = 3
                index = article + 1
            } else if article > index, words[index] != "the" {
                index = article
            } else {
                return nil
            }
        }
        guard index < words.count, let unit = units[words[index]] else { return nil }
        return (value * Double(unit), index + 1, unit)
    }

    private static func skipped(_ words: [String], _ skippable: [String], _ start: Int) -> Int {
        var index = start
        while index < words.count, skippable.contains(words[index]) { index += 1 }
        return index
    }

    /// A span as it is spoken, in whole seconds: "1 hour and 30 minutes".
    static func text(of duration: Duration) -> String {
        let total = max(Int(duration.components.seconds), 0)
        let parts = [(total / 86_400, "day"), (total / 3_600 % 24, "hour"), (total / 60 % 60, "minute"), (total % 60, "second")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
        guard let last = parts.last else { return "0 seconds" }
        return parts.count == 1 ? last : parts.dropLast().joined(separator: ", ") + " and " + last
    }
}
