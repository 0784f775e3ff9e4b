/// Dates, times and phone numbers.
extension SpokenReader {
    // MARK: Dates

    /// "2026-11-27", "27.11.2026", "11/27/2026", "27 Nov", "27. November".
    func date(at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        let core = words[index].core
        let before = self.core(index - 1).lowercased()
        if let date = numericDate(core, grammar) { return Reading(spoken: grammar.date(date, after: before)) }
        let isEnglish = grammar.vocabulary.decimal == "."
        // "24.12.", with the second full stop after it.
        let short = core.split(separator: ".", omittingEmptySubsequences: false)
        if !isEnglish, words[index].trail.hasPrefix("."), short.count == 2,
            short.allSatisfy({ 1...2 ~= $0.count && $0.allSatisfy(\.isDigit) }),
            index + 1 < words.count || ["am", "vom", "bis", "zum"].contains(before),
            let date = WrittenDate(day: Int(short[0]), month: Int(short[1]))
        {
            return Reading(spoken: grammar.date(date, after: before), trail: trail(ofAbbreviation: index))
        }
        // A day before the name of a month.
        let dayDigits = core.prefix(while: \.isDigit)
        let isOrdinal = words[index].trail == "."
        guard 1...2 ~= dayDigits.count, dayDigits.count == core.count, words[index].trail.isEmpty || isOrdinal && !isEnglish,
            words.indices.contains(index + 1), words[index + 1].lead.isEmpty, let month = month(words[index + 1].core, grammar),
            isEnglish || isOrdinal || month.isAbbreviated,
            let date = WrittenDate(day: Int(dayDigits), month: month.number)
        else { return nil }
        let trail = month.isAbbreviated ? self.trail(ofAbbreviation: index + 1) : words[index + 1].trail
        let name = grammar.vocabulary.months[month.number - 1]
        if isEnglish {
            let article = before == "the" ? "" : "the "
            return Reading(spoken: "\(article)\(grammar.ordinal(date.day)) of \(name)", count: 2, trail: trail)
        }
        let day = isOrdinal ? grammar.date(date, after: before) : "\(grammar.cardinal(date.day)) \(name)"
        return Reading(spoken: day, count: 2, trail: trail)
    }

    private func numericDate(_ core: String, _ grammar: any SpokenGrammar) -> WrittenDate? {
        guard core.count <= 10, let separator = core.first(where: { !$0.isDigit }), "-./".contains(separator) else { return nil }
        let parts = core.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isDigit) }) else { return nil }
        let numbers = parts.map { Int($0) }
        if parts[0].count == 4, separator != "." { return WrittenDate(day: numbers[2], month: numbers[1], year: numbers[0]) }
        guard parts[0].count <= 2, parts[1].count <= 2, parts[2].count == 4 || parts[2].count == 2 && separator == "/" else { return nil }
        let year = numbers[2].map { parts[2].count == 2 ? ($0 > 30 ? 1_900 : 2_000) + $0 : $0 }
        let beginsWithMonth = separator == "/" && grammar.vocabulary.decimal == "."
        let day = WrittenDate(day: numbers[0], month: numbers[1], year: year)
        let month = WrittenDate(day: numbers[1], month: numbers[0], year: year)
        return beginsWithMonth ? month ?? day : day ?? (separator == "/" ? month : nil)
    }

    /// "Nov 27", "November 27th": a month, then a day.
    func datedMonth(at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        guard grammar.vocabulary.decimal == ".", let month = month(words[index].core, grammar), month.isCapitalized else { return nil }
        let hasStop = month.isAbbreviated && words[index].trail == "."
        let name = grammar.vocabulary.months[month.number - 1]
        guard words[index].trail.isEmpty || hasStop, words.indices.contains(index + 1), words[index + 1].lead.isEmpty else {
            return hasStop ? Reading(spoken: name) : nil
        }
        let next = words[index + 1].core
        let digits = next.prefix(while: \.isDigit)
        let suffix = next.dropFirst(digits.count)
        if 1...2 ~= digits.count, suffix.isEmpty || ["st", "nd", "rd", "th"].contains(suffix),
            let date = WrittenDate(day: Int(digits), month: month.number)
        {
            return Reading(spoken: grammar.date(date, after: ""), count: 2)
        }
        // "Nov 2026".
        guard hasStop || month.isAbbreviated && digits.count == 4 && suffix.isEmpty else { return nil }
        return Reading(spoken: name, trail: "")
    }

    private func month(_ word: String, _ grammar: any SpokenGrammar) -> (number: Int, isAbbreviated: Bool, isCapitalized: Bool)? {
        guard 3...10 ~= word.count else { return nil }
        let form = word.lowercased()
        let isCapitalized = word.first?.isUppercase ?? false
        if let index = grammar.vocabulary.months.firstIndex(where: { $0.lowercased() == form }) { return (index + 1, false, isCapitalized) }
        return grammar.vocabulary.monthForms[form].map { ($0, true, isCapitalized) }
    }

    // MARK: Times

    private struct ClockTime {
        var hour: Int
        var minute: Int
        var second: Int?
        var half: String?
    }

    /// "5:38", "17:05", "5 pm", "5:38 p.m.", "9:00–17:00", "17 Uhr", "17h05".
    func time(at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        let core = words[index].core
        if let dash = core.firstIndex(where: { "-–—".contains($0) }), core.count <= 20 {
            return timeRange(core[..<dash], core[core.index(after: dash)...], at: index, grammar)
        }
        // "17 h 05".
        if grammar.vocabulary.symbols["&"] == "et", joined(index + 1) == "h", let minute = joined(index + 2), minute.count == 2,
            let time = clockTime("\(core)h\(minute)", grammar)
        {
            return Reading(spoken: spoken(time, grammar), count: 3)
        }
        guard var time = clockTime(core[...], grammar) ?? bareHour(core, at: index, grammar) else { return ratio(core, grammar) }
        let next = joined(index + 1) ?? ""
        var count = 1
        var trail: String?
        if time.half == nil, let half = half(next), 1...12 ~= time.hour, grammar.vocabulary.decimal == "." {
            time.half = half
            count = 2
            trail = self.trail(ofAbbreviation: index + 1, mayEndSentence: true)
            if !next.contains(".") { trail = words[index + 1].trail }
        } else if time.half == nil, next == "Uhr", grammar.vocabulary.decimal == "," {
            count = 2
        }
        return Reading(spoken: spoken(time, grammar), count: count, trail: trail)
    }

    private func timeRange(_ first: Substring, _ last: Substring, at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        guard grammar.vocabulary.decimal == "." || first.contains(":") else { return nil }
        let next = joined(index + 1) ?? ""
        let isEnglish = grammar.vocabulary.decimal == "."
        let half = isEnglish ? half(next) : nil
        var parts = [first, last].compactMap { clockTime($0, grammar) }
        // "9-5 pm": the hours need the words after them.
        if parts.count < 2, half != nil || last.last?.isLetter == true {
            parts = [first, last].compactMap { part in
                clockTime(part, grammar) ?? (part.count <= 2 ? Int(part).map { ClockTime(hour: $0, minute: 0) } : nil)
            }
            guard half != nil || parts.last?.half != nil else { return nil }
        }
        guard parts.count == 2, parts.allSatisfy({ 0...24 ~= $0.hour }) else { return nil }
        if half != nil, parts[1].half == nil { parts[1].half = half }
        let isNextTaken = half != nil || !isEnglish && next == "Uhr"
        let words = parts.enumerated().map { position, time in
            // "nine to five P M", not "nine o'clock to five P M".
            position == 0 && time.half == nil && time.minute == 0 && parts[1].half != nil
                ? grammar.cardinal(time.hour) : spoken(time, grammar)
        }
        let trail = isNextTaken && next.contains(".") ? self.trail(ofAbbreviation: index + 1) : nil
        return Reading(spoken: words.joined(separator: " \(grammar.vocabulary.names.to) "), count: isNextTaken ? 2 : 1, trail: trail)
    }

    private func spoken(_ time: ClockTime, _ grammar: any SpokenGrammar) -> String {
        let spoken = grammar.time(time.hour, time.minute, half: time.half)
        guard let second = time.second, let unit = grammar.vocabulary.units["s"] else { return spoken }
        let and = grammar.vocabulary.symbols["&"] ?? ""
        return "\(spoken) \(and) \(grammar.counting(second, isFeminine: unit.isFeminine)) \(second == 1 ? unit.one : unit.many)"
    }

    /// "5:38", "17:05:30", "5:38pm", "5pm", "17h05".
    private func clockTime(_ text: Substring, _ grammar: any SpokenGrammar) -> ClockTime? {
        guard text.count <= 12 else { return nil }
        let isFrench = grammar.vocabulary.symbols["&"] == "et"
        let digits = text.prefix { $0.isDigit || $0 == ":" || isFrench && $0 == "h" }
        let suffix = text.dropFirst(digits.count)
        var half: String?
        if !suffix.isEmpty {
            guard grammar.vocabulary.decimal == ".", let written = self.half(String(suffix)) else { return nil }
            half = written
        }
        let parts = digits.split(separator: isFrench && digits.contains("h") ? "h" : ":", omittingEmptySubsequences: false)
        guard 1...2 ~= parts[0].count, let hour = Int(parts[0]), hour <= 24, half == nil || 1...12 ~= hour else { return nil }
        if parts.count == 1 { return half.map { ClockTime(hour: hour, minute: 0, half: $0) } }
        if isFrench, parts.count == 2, parts[1].isEmpty { return ClockTime(hour: hour, minute: 0) }
        guard parts.count <= 3, parts.dropFirst().allSatisfy({ $0.count == 2 }), let minute = Int(parts[1]), minute < 60 else { return nil }
        let second = parts.count == 3 ? Int(parts[2]) : nil
        guard parts.count == 2 || second ?? 60 < 60 else { return nil }
        return ClockTime(hour: hour, minute: minute, second: second, half: half)
    }

    /// "5 pm", "17 Uhr", "17.05 Uhr".
    private func bareHour(_ core: String, at index: Int, _ grammar: any SpokenGrammar) -> ClockTime? {
        guard let next = joined(index + 1), core.count <= 5 else { return nil }
        if grammar.vocabulary.decimal == ".", half(next) != nil, let hour = Int(core), 1...12 ~= hour {
            return ClockTime(hour: hour, minute: 0)
        }
        guard next == "Uhr", grammar.vocabulary.decimal == "," else { return nil }
        let parts = core.split(separator: ".", omittingEmptySubsequences: false)
        guard let hour = Int(parts[0]), 0...24 ~= hour else { return nil }
        if parts.count == 1 { return ClockTime(hour: hour, minute: 0) }
        guard parts.count == 2, parts[1].count == 2, let minute = Int(parts[1]), 0..<60 ~= minute else { return nil }
        return ClockTime(hour: hour, minute: minute)
    }

    private func half(_ word: String) -> String? {
        switch word.lowercased() {
        case "am", "a.m": word == "Am" ? nil : "am"
        case "pm", "p.m": "pm"
        default: nil
        }
    }

    /// "16:9", "3:1".
    private func ratio(_ core: String, _ grammar: any SpokenGrammar) -> Reading? {
        let parts = core.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ 1...3 ~= $0.count && $0.allSatisfy(\.isDigit) }) else { return nil }
        return Reading(spoken: parts.map { number($0, grammar) }.joined(separator: " \(grammar.vocabulary.names.to) "))
    }

    // MARK: Phone numbers

    private static let phoneDigits = 7...15
    /// Groups of digits in one phone number.
    private static let phoneGroupsMax = 8

    /// "+49 170 1234567", "(555) 123-4567", "555-1234", "06 12 34 56 78".
    func phone(at index: Int, _ grammar: any SpokenGrammar) -> Reading? {
        let first = words[index].core
        let hasPlus = first.hasPrefix("+")
        let isArea = words[index].lead == "(" && words[index].trail == ")"
        let continuesCode = core(index - 1).contains(where: \.isDigit) && isCode(at: index, grammar)
        guard !continuesCode, first.count <= 24, isPhonePart(hasPlus ? first.dropFirst() : first[...]) else { return nil }
        var parts = [hasPlus ? String(first.dropFirst()) : first]
        var count = 1
        while count < Self.phoneGroupsMax, words.indices.contains(index + count) {
            let before = words[index + count - 1]
            let word = words[index + count]
            guard before.trail.isEmpty || before.trail == ")", word.lead.isEmpty || word.lead == "(", isPhonePart(word.core[...]) else {
                break
            }
            parts.append(word.core)
            count += 1
        }
        // Without a mark of phone numbers, the digits must look like one.
        let groups = parts.flatMap { $0.split { !$0.isDigit } }
        let digits = groups.reduce(0) { $0 + $1.count }
        let lengths = groups.map(\.count)
        let isMarked = hasPlus || isArea || first.hasPrefix("0") && first != "0" && !first.hasPrefix("0.")
        let looksLikePhone =
            lengths == [3, 3, 4] || lengths == [1, 3, 3, 4] || (lengths == [3, 4] && first.contains("-") && !first.hasSuffix("00"))
        guard Self.phoneDigits ~= digits, isMarked || looksLikePhone else { return nil }
        let spoken = groups.map { grammar.digits($0) }.joined(separator: ", ")
        return Reading(
            spoken: (hasPlus ? grammar.vocabulary.names.plus + " " : "") + spoken, count: count,
            trail: words[index + count - 1].trail, keepsLead: !isArea)
    }

    private func isPhonePart(_ text: Substring) -> Bool {
        guard let first = text.first, let last = text.last, first.isDigit, last.isDigit, text.count <= 20 else { return false }
        return text.allSatisfy { $0.isDigit || "-/.".contains($0) }
    }
}
