/// A turn as a subtitle. Times are in milliseconds since the session's start.
struct Cue {
    var start: Int64
    /// Greater than `start`.
    var end: Int64
    var speaker: Turn.Speaker
    /// A single line.
    var text: String

    /// Estimated duration per character, for turns without a duration.
    private static let millisecondsPerCharacter: Int64 = 75
    private static let lengthMin: Int64 = 1_000
    /// WebVTT and SubRip allow more than two digits of hours; players do not.
    private static let startMax: Int64 = 99 * 3_600_000
    fileprivate static let endMax: Int64 = startMax + 3_599_999

    /// - Parameter turns: oldest first. Blank turns are left out.
    static func all(of turns: [Turn], from origin: WallTime) -> [Cue] {
        turns.filter { $0.text.contains { !$0.isWhitespace } }.map { turn in
            let (since, isOver) = turn.timestamp.milliseconds.subtractingReportingOverflow(origin.milliseconds)
            let start = isOver ? 0 : min(max(since, 0), startMax)
            let told = turn.durationMs.map { min(Int64(max($0, 1)), startMax) }
            let text = turn.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            let length = told ?? max(lengthMin, Int64(text.count) * millisecondsPerCharacter)
            return Cue(start: start, end: min(start + length, endMax), speaker: turn.speaker, text: text)
        }
    }
}

extension [Cue] {
    /// The cues without overlaps: each ends at the latest when the next begins. Cues that begin together share the time up to the next one in
    /// proportion to their lengths.
    ///
    /// - Precondition: they are sorted by start.
    var apart: [Cue] {
        var cues = self
        var first = cues.startIndex
        // The end of the cues so far.
        var now: Int64 = 0
        while first < cues.endIndex {
            let last = cues[first...].firstIndex { $0.start > cues[first].start } ?? cues.endIndex
            let start = Swift.max(cues[first].start, now)
            let total = cues[first..<last].reduce(0) { $0 + $1.end - $1.start }
            let limit = last < cues.endIndex ? cues[last].start : Cue.endMax
            let available = Swift.max(0, Swift.min(total, limit - start))
            var passed: Int64 = 0
            now = start
            for index in first..<last {
                passed += cues[index].end - cues[index].start
                cues[index].start = now
                // At least a millisecond, if more cues begin together than there are.
                now = Swift.max(now + 1, start + Int64(Double(available) * (Double(passed) / Double(total))))
                cues[index].end = now
            }
            first = last
        }
        return cues
    }
}

extension Cue {
    static func webVTT(_ cues: [Cue], title: String, words: ExportWords) -> String {
        var text = "WEBVTT - \(line(title))\n"
        for (index, cue) in cues.enumerated() {
            text += "\n\(index + 1)\n\(time(cue.start, ".")) --> \(time(cue.end, "."))\n"
            text += "<v \(escaped(words.name(of: cue.speaker)))>\(escaped(cue.text))</v>\n"
        }
        return text
    }

    static func subRip(_ cues: [Cue], words: ExportWords) -> String {
        var text = ""
        for (index, cue) in cues.enumerated() {
            // Some parsers look for arrows and tags anywhere, and SubRip has no escapes.
            let said = cue.text.replacing("-->", with: "→").replacing("<", with: "‹").replacing(">", with: "›")
            text += "\(index + 1)\r\n\(time(cue.start, ",")) --> \(time(cue.end, ","))\r\n\(words.name(of: cue.speaker)): \(said)\r\n\r\n"
        }
        return text
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    /// The header must not contain arrows or line ends.
    private static func line(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ").replacing("-->", with: "→")
    }

    private static func time(_ milliseconds: Int64, _ point: String) -> String {
        let seconds = milliseconds / 1_000
        return
            "\(padded(seconds / 3_600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))\(point)\(padded(milliseconds % 1_000, 3))"
    }

    /// The start for display: `1:05`, `1:02:05`.
    var clock: String {
        let seconds = start / 1_000
        let tail = "\(Self.padded(seconds % 60, 2))"
        return seconds < 3_600 ? "\(seconds / 60):\(tail)" : "\(seconds / 3_600):\(Self.padded(seconds / 60 % 60, 2)):\(tail)"
    }

    private static func padded(_ number: Int64, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
