internal import Foundation

/// Days and dates: "what day is tomorrow", "when is Christmas", "how many days until the fourth of July", "what year is it".
enum CalendarDays {
    static func respond(to utterance: Utterance, in situation: Situation) -> [ResponsePart]? {
        if utterance.has("until", "till", "to go before", "to christmas", "how long is it to", "how many days to") {
            guard utterance.has("how many days", "how long", "how many sleeps", "how many weeks", "days until", "days till") else {
                return nil
            }
            return countdown(utterance, situation)
        }
        if utterance.has("what year", "which year", "what is the year", "year is it") {
            return [.text("It is \(part(.year, of: situation)).")]
        }
        if utterance.has("what month", "which month", "what is the month", "month is it") {
            return [.text("It is \(DayText.month(of: situation.now, situation.calendar)).")]
        }
        if utterance.starts("is it", "is today", "is tomorrow"), let day = weekday(utterance, situation) { return day }
        let asksForDay = utterance.has(
            "what day", "which day", "what date", "which date", "the date", "today's date", "tomorrow's date", "day of the week",
            "what weekday",
            "which weekday", "what is today", "what is tomorrow", "what was yesterday", "what is the day", "when is", "when was",
            "day is it",
            "day was it", "date is it", "date today", "day today")
        guard asksForDay else { return nil }
        guard let day = DayReference(utterance.words, now: situation.now, calendar: situation.calendar) else {
            guard !utterance.has("when is", "when was"), utterance.words.count <= 10 else { return nil }
            return [.text("Today is \(DayText.date(situation.now, in: situation.calendar)).")]
        }
        return [.text(sentence(about: day, situation))]
    }

    private static func part(_ component: Calendar.Component, of situation: Situation) -> Int {
        situation.calendar.component(component, from: situation.now)
    }

    /// "is it Friday"
    private static func weekday(_ utterance: Utterance, _ situation: Situation) -> [ResponsePart]? {
        let isTomorrow = utterance.starts("is tomorrow")
        let calendar = situation.calendar
        guard let date = calendar.date(byAdding: .day, value: isTomorrow ? 1 : 0, to: situation.now),
            let named = DayReference.weekdays.firstIndex(where: { utterance.has($0) })
        else { return nil }
        let isRight = calendar.component(.weekday, from: date) == named + 1
        return [.text("\(isRight ? "Yes" : "No"), \(isTomorrow ? "tomorrow" : "today") is \(DayText.date(date, in: calendar)).")]
    }

    private static func sentence(about day: DayReference, _ situation: Situation) -> String {
        let calendar = situation.calendar
        let distance = DayText.days(from: situation.now, to: day.date, in: calendar)
        if let rest = day.rest { return "\(day.name) \(distance < 0 ? "was" : "is") \(rest)." }
        var text = DayText.date(day.date, in: calendar)
        if calendar.component(.year, from: day.date) != part(.year, of: situation) {
            text += ", \(calendar.component(.year, from: day.date))"
        }
        switch distance {
        case 0: return "\(day.isRelative ? "Today is" : "That is today,") \(text)."
        case 1 where day.isRelative: return "Tomorrow is \(text)."
        case -1 where day.isRelative: return "Yesterday was \(text)."
        default: return "\(day.name) \(distance < 0 ? "was" : "is")\(day.isRelative ? "" : " on") \(text)."
        }
    }

    private static func countdown(_ utterance: Utterance, _ situation: Situation) -> [ResponsePart]? {
        guard let day = DayReference(utterance.words, now: situation.now, calendar: situation.calendar) else { return nil }
        let days = DayText.days(from: situation.now, to: day.date, in: situation.calendar)
        let name = day.isRelative ? DayText.date(day.date, in: situation.calendar) : day.name
        guard days > 0 else { return [.text(days == 0 ? "That is today." : "That day is over.")] }
        if utterance.has("how many weeks"), days >= 7 {
            let rest = days % 7 == 0 ? "" : " and \(days % 7) day\(days % 7 == 1 ? "" : "s")"
            return [.text("There are \(days / 7) week\(days < 14 ? "" : "s")\(rest) until \(name).")]
        }
        return [.text(days == 1 ? "There is 1 day until \(name)." : "There are \(days) days until \(name).")]
    }
}

/// A day that an utterance names. A pure value.
struct DayReference: Hashable, Sendable {
    let date: Date
    /// Begins a sentence: "In 3 days, it", "Christmas".
    let name: String
    /// Named by its distance from today.
    let isRelative: Bool
    /// What the name does not say: "a Thursday" for "December 24", "November 30" for "Next Monday".
    private(set) var rest: String?

    private static let holidays: [(phrases: [String], name: String, month: Int, day: Int)] = [
        (["christmas eve"], "Christmas Eve", 12, 24), (["christmas", "xmas"], "Christmas", 12, 25),
        (["new year's eve", "new years eve"], "New Year's Eve", 12, 31),
        (["new year", "new year's", "new years", "new year's day"], "New Year's Day", 1, 1),
        (["valentine's", "valentines", "valentine's day", "valentine"], "Valentine's Day", 2, 14), (["halloween"], "Halloween", 10, 31),
        (["independence day"], "Independence Day", 7, 4), (["st patrick's day", "saint patrick's day"], "Saint Patrick's Day", 3, 17),
    ]
    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
    ]
    static let weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]

    init?(_ words: [String], now: Date, calendar: Calendar) {
        let text = " " + words.joined(separator: " ") + " "
        func has(_ phrase: String) -> Bool { text.contains(" \(phrase) ") }
        func days(_ count: Int) -> Date { calendar.date(byAdding: .day, value: count, to: now) ?? now }

        if has("day after tomorrow") {
            self.init(days(2), "The day after tomorrow", isRelative: true)
        } else if has("day before yesterday") {
            self.init(days(-2), "The day before yesterday", isRelative: true)
        } else if has("tomorrow") || has("tomorrow's") {
            self.init(days(1), "Tomorrow", isRelative: true)
        } else if has("yesterday") || has("yesterday's") {
            self.init(days(-1), "Yesterday", isRelative: true)
        } else if let holiday = Self.holidays.first(where: { $0.phrases.contains(where: has) }) {
            guard let date = Self.next(holiday.month, holiday.day, after: now, calendar) else { return nil }
            self.init(date, holiday.name, isRelative: false)
        } else if has("easter"), let date = Self.easter(after: now, calendar) {
            self.init(date, "Easter", isRelative: false)
        } else if has("thanksgiving"), let date = Self.thanksgiving(after: now, calendar) {
            self.init(date, "Thanksgiving", isRelative: false)
        } else if let (count, name) = Self.distance(words) {
            self.init(days(count), name, isRelative: true)
        } else if let (month, day) = Self.monthAndDay(words) {
            guard let date = Self.next(month, day, after: now, calendar) else { return nil }
            self.init(date, DayText.day(of: date, calendar), isRelative: false)
            rest = "a \(Self.weekdays[calendar.component(.weekday, from: date) - 1].capitalizedFirst)"
        } else if let index = Self.weekdays.firstIndex(where: has) {
            let isLast = has("last")
            let ahead = (index + 1 - calendar.component(.weekday, from: now) + 7) % 7
            let date = days(isLast ? (ahead == 0 ? -7 : ahead - 7) : (ahead == 0 && has("next") ? 7 : ahead))
            self.init(date, "\(isLast ? "Last" : "Next") \(Self.weekdays[index].capitalizedFirst)", isRelative: false)
            rest = DayText.day(of: date, calendar)
        } else {
            return nil
        }
    }

    private init(_ date: Date, _ name: String, isRelative: Bool) {
        (self.date, self.name, self.isRelative) = (date, name, isRelative)
    }

    /// "in three days", "two weeks ago", "a week from now".
    private static func distance(_ words: [String]) -> (days: Int, name: String)? {
        for index in words.indices {
            let article = ["a", "one"].contains(words[index])
            guard let (value, end) = article ? (1, index + 1) : NumberWords.number(in: words, at: index), end < words.count,
                value == value.rounded(),
                abs(value) <= 36_500, let unit = ["day": 1, "days": 1, "week": 7, "weeks": 7][words[end]]
            else { continue }
            let (count, noun) = (Int(value) * unit, "\(Int(value)) \(unit == 7 ? "week" : "day")\(value == 1 ? "" : "s")")
            let next = end + 1 < words.count ? words[end + 1] : ""
            if next == "ago" { return (-count, "\(noun) ago, it") }
            if ["from", "later"].contains(next) || (index > 0 && words[index - 1] == "in") { return (count, "In \(noun), it") }
        }
        return nil
    }

    /// "December 25th", "the fourth of July".
    private static func monthAndDay(_ words: [String]) -> (month: Int, day: Int)? {
        for index in words.indices {
            guard let month = months.firstIndex(of: words[index]).map({ $0 + 1 }) else { continue }
            let next = index + 1 < words.count && words[index + 1] == "the" ? index + 2 : index + 1
            if let (day, _) = NumberWords.ordinal(in: words, at: next), 1...31 ~= day { return (month, day) }
            let before = index > 0 && words[index - 1] == "of" ? index - 1 : index
            for start in stride(from: before - 1, through: max(before - 2, 0), by: -1) where start >= 0 {
                if let (day, end) = NumberWords.ordinal(in: words, at: start), end == before, 1...31 ~= day {
                    let tens = start > 0 ? NumberWords.ordinal(in: words, at: start - 1) : nil
                    return (month, tens.flatMap { $0.end == before && 1...31 ~= $0.value ? $0.value : nil } ?? day)
                }
            }
        }
        return nil
    }

    /// The next such day, which may be today.
    private static func next(_ month: Int, _ day: Int, after now: Date, _ calendar: Calendar) -> Date? {
        let year = calendar.component(.year, from: now)
        // Leap days are at most eight years apart.
        return (0...8).lazy.compactMap { offset -> Date? in
            let parts = DateComponents(year: year + offset, month: month, day: day, hour: 12)
            guard let date = calendar.date(from: parts), calendar.component(.day, from: date) == day else { return nil }
            return DayText.days(from: now, to: date, in: calendar) >= 0 ? date : nil
        }.first
    }

    /// Gregorian Easter (Meeus, Jones, Butcher).
    private static func easter(after now: Date, _ calendar: Calendar) -> Date? {
        let thisYear = calendar.component(.year, from: now)
        return [thisYear, thisYear + 1].lazy.compactMap { year -> Date? in
            let (a, b, c) = (year % 19, year / 100, year % 100)
            let h = (19 * a + b - b / 4 - (b - (b + 8) / 25 + 1) / 3 + 15) % 30
            let l = (32 + 2 * (b % 4) + 2 * (c / 4) - h - c % 4) % 7
            let m = (a + 11 * h + 22 * l) / 451
            let n = h + l - 7 * m + 114
            return calendar.date(from: DateComponents(year: year, month: n / 31, day: n % 31 + 1, hour: 12))
        }.first { DayText.days(from: now, to: $0, in: calendar) >= 0 }
    }

    /// The fourth Thursday of November.
    private static func thanksgiving(after now: Date, _ calendar: Calendar) -> Date? {
        let thisYear = calendar.component(.year, from: now)
        return [thisYear, thisYear + 1].lazy.compactMap { year -> Date? in
            guard let first = calendar.date(from: DateComponents(year: year, month: 11, day: 1, hour: 12)) else { return nil }
            return calendar.date(byAdding: .day, value: (5 - calendar.component(.weekday, from: first) + 7) % 7 + 21, to: first)
        }.first { DayText.days(from: now, to: $0, in: calendar) >= 0 }
    }
}

/// Days as text.
enum DayText {
    /// "Friday, November 27".
    static func date(_ date: Date, in calendar: Calendar) -> String {
        var style = Date.FormatStyle(locale: Locale(identifier: "en_US"), calendar: calendar, timeZone: calendar.timeZone)
        style = style.weekday(.wide).month(.wide).day()
        return date.formatted(style)
    }

    /// "November 27".
    static func day(of date: Date, _ calendar: Calendar) -> String {
        let style = Date.FormatStyle(locale: Locale(identifier: "en_US"), calendar: calendar, timeZone: calendar.timeZone)
        return date.formatted(style.month(.wide).day())
    }

    static func month(of date: Date, _ calendar: Calendar) -> String {
        date.formatted(Date.FormatStyle(locale: Locale(identifier: "en_US"), calendar: calendar, timeZone: calendar.timeZone).month(.wide))
    }

    /// From the day of one date to the day of another.
    static func days(from start: Date, to end: Date, in calendar: Calendar) -> Int {
        calendar.dateComponents([.day], from: calendar.startOfDay(for: start), to: calendar.startOfDay(for: end)).day ?? 0
    }

    /// Whether it is another day in another time zone: "tomorrow", "yesterday", or nil.
    static func relation(of date: Date, in there: Calendar, to here: Calendar) -> String? {
        let parts: Set<Calendar.Component> = [.year, .month, .day]
        guard let dayThere = here.date(from: there.dateComponents(parts, from: date)) else { return nil }
        switch days(from: date, to: dayThere, in: here) {
        case 1...: return "tomorrow"
        case ..<0: return "yesterday"
        default: return nil
        }
    }
}
