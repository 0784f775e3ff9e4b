internal import Foundation

/// The part of a prompt that follows the assistant's instructions in each request: that the answer is spoken, the date and
/// time, and where the last answer was interrupted. A pure value.
struct AnswerBriefing: Sendable, Hashable {
    /// Of the end of an interrupted answer, in words.
    private static let quotedMax = 12

    var date: Date
    var timeZone: TimeZone
    /// The part of the last answer that was played; nil if it was not interrupted.
    var interruptedAfter: String?

    var text: String { [style, moment, interruption].compactMap { $0 }.joined(separator: "\n") }

    private var style: String {
        "Your answer is spoken to the user by a speech synthesizer. Answer in a few short sentences, as one speaks. Use no lists, tables, "
            + "headings, Markdown, web addresses or emojis."
    }

    /// "It is Friday, 27 November 2026, 16:05 (Europe/Berlin, UTC+01:00)."
    private var moment: String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let parts = calendar.dateComponents([.year, .month, .day, .weekday, .hour, .minute], from: date)
        let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
        let months = EnglishSpeech().vocabulary.months
        let weekday = weekdays[((parts.weekday ?? 1) - 1) % weekdays.count]
        let month = months[((parts.month ?? 1) - 1) % months.count]
        let time = "\(Self.twoDigits(parts.hour ?? 0)):\(Self.twoDigits(parts.minute ?? 0))"
        let offset = timeZone.secondsFromGMT(for: date) / 60
        let zone = "UTC\(offset < 0 ? "-" : "+")\(Self.twoDigits(abs(offset) / 60)):\(Self.twoDigits(abs(offset) % 60))"
        return "It is \(weekday), \(parts.day ?? 1) \(month) \(parts.year ?? 0), \(time) (\(timeZone.identifier), \(zone))."
    }

    private var interruption: String? {
        guard let interruptedAfter else { return nil }
        let words = interruptedAfter.split(whereSeparator: \.isWhitespace)
        guard !words.isEmpty else {
            return "The user interrupted your last answer before anything of it was heard. Do not assume that the user knows it."
        }
        let quote = (words.count > Self.quotedMax ? "… " : "") + words.suffix(Self.quotedMax).joined(separator: " ")
        return
            "The user interrupted your last answer. The last words heard were: \"\(quote)\". Do not assume that the user knows what followed."
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
