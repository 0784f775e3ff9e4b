internal import Foundation

/// A time of day as it is spoken: "7:30", "five pm", "half past seven", "a quarter to nine in the morning", "noon".
struct TimeOfDay: Hashable, Sendable {
    /// 0 to 12 if it is open whether it is before or after noon, otherwise 0 to 23.
    var hour: Int
    var minute = 0
    var isOpen = true
    /// Of its words, with "at" or "for" before them.
    var range: Range<Int>

    /// The first time of day in an utterance. A bare number counts after "at" only.
    static func find(in words: [String]) -> TimeOfDay? {
        for start in words.indices {
            let hasPreposition = ["at", "for", "until", "by"].contains(words[start])
            guard var time = read(words, at: hasPreposition ? start + 1 : start, allowsBare: words[start] == "at") else { continue }
            time.range = start..<time.range.upperBound
            time.applyHalf(words)
            return time
        }
        return nil
    }

    private static func read(_ words: [String], at start: Int, allowsBare: Bool) -> TimeOfDay? {
        guard start < words.count else { return nil }
        let index = words[start] == "a" || words[start] == "around" || words[start] == "about" ? start + 1 : start
        guard index < words.count else { return nil }
        switch words[index] {
        case "noon", "midday": return TimeOfDay(hour: 12, isOpen: false, range: start..<index + 1)
        case "midnight": return TimeOfDay(hour: 0, isOpen: false, range: start..<index + 1)
        default: break
        }
        if let (minutes, next) = minutes(words, at: index), next + 1 < words.count,
            ["past", "after", "to", "of", "before"].contains(words[next]),
            let (hour, end) = hour(words, at: next + 1), ["past", "after"].contains(words[next]) || minutes == 15 || allowsBare
        {
            let isPast = ["past", "after"].contains(words[next])
            return TimeOfDay(
                hour: isPast ? hour : (hour + 11) % 12, minute: isPast ? minutes : 60 - minutes, range: start..<end)
        }
        let digits = words[index].split(separator: ":")
        if digits.count == 2, let hour = Int(digits[0]), let minute = Int(digits[1]), 0..<24 ~= hour, 0..<60 ~= minute {
            return TimeOfDay(hour: hour, minute: minute, isOpen: 1...12 ~= hour, range: start..<index + 1)
        }
        guard let (hour, end) = hour(words, at: index) else { return nil }
        guard end < words.count else { return allowsBare ? TimeOfDay(hour: hour, range: start..<end) : nil }
        if words[end] == "o'clock" { return TimeOfDay(hour: hour, range: start..<end + 1) }
        if isHalf(words[end]) { return TimeOfDay(hour: hour, range: start..<end) }
        // "five thirty"
        if let (minute, minuteEnd) = NumberWords.number(in: words, at: end), 10..<60 ~= minute,
            allowsBare || (minuteEnd < words.count && isHalf(words[minuteEnd]))
        {
            return TimeOfDay(hour: hour, minute: Int(minute), range: start..<minuteEnd)
        }
        return allowsBare ? TimeOfDay(hour: hour, range: start..<end) : nil
    }

    private static func minutes(_ words: [String], at index: Int) -> (Int, Int)? {
        if words[index] == "half" { return (30, index + 1) }
        if words[index] == "quarter" { return (15, index + 1) }
        guard let (value, end) = NumberWords.number(in: words, at: index), 1..<60 ~= value, value == value.rounded() else { return nil }
        return (Int(value), end < words.count && ["minutes", "minute"].contains(words[end]) ? end + 1 : end)
    }

    private static func hour(_ words: [String], at index: Int) -> (Int, Int)? {
        guard let (value, end) = NumberWords.number(in: words, at: index), 1...12 ~= value, value == value.rounded() else { return nil }
        return (Int(value), end)
    }

    private static func isHalf(_ word: String) -> Bool { ["am", "pm"].contains(word) }

    /// "am", "pm", "in the morning", "tonight" decide on the half of the day, and "o'clock" adds nothing.
    private mutating func applyHalf(_ words: [String]) {
        var end = range.upperBound
        if end < words.count, words[end] == "o'clock" { end += 1 }
        let isMorning: Bool?
        if end < words.count, Self.isHalf(words[end]) {
            isMorning = words[end] == "am"
            end += 1
        } else if words.count >= end + 3, words[end] == "in", words[end + 1] == "the",
            ["morning", "afternoon", "evening"].contains(words[end + 2])
        {
            isMorning = words[end + 2] == "morning"
            end += 3
        } else if end < words.count, words[end] == "tonight" {
            isMorning = false
            end += 1
        } else {
            isMorning = nil
        }
        range = range.lowerBound..<end
        guard let isMorning, isOpen else { return }
        hour = hour % 12 + (isMorning ? 0 : 12)
        isOpen = false
    }

    /// The next time that it is so late.
    ///
    /// - Parameter isTomorrow: on the next day; an open time is one of the waking hours then.
    func next(after now: Date, isTomorrow: Bool, in calendar: Calendar) -> Date? {
        let hours = !isOpen ? [hour] : isTomorrow ? [hour % 12 + (6..<12 ~= hour ? 0 : 12)] : [hour % 12, hour % 12 + 12]
        let midnight = calendar.startOfDay(for: now)
        return (0...2).dropFirst(isTomorrow ? 1 : 0).lazy.flatMap { day in
            hours.compactMap { hour -> Date? in
                calendar.date(byAdding: .day, value: day, to: midnight).flatMap {
                    calendar.date(bySettingHour: hour, minute: minute, second: 0, of: $0)
                }
            }
        }.first { $0 > now }
    }

    /// "3 o'clock in the afternoon", "7:05 in the morning".
    static func text(of date: Date, in calendar: Calendar) -> String {
        let parts = calendar.dateComponents([.hour, .minute], from: date)
        let (hour, minute) = (parts.hour ?? 0, parts.minute ?? 0)
        let half = hour < 12 ? "in the morning" : hour < 18 ? "in the afternoon" : "in the evening"
        return "\((hour + 11) % 12 + 1)\(minute == 0 ? " o'clock" : minute < 10 ? ":0\(minute)" : ":\(minute)") \(half)"
    }
}
