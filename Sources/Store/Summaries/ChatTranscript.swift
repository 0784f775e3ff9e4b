/// A conversation as text for a model.
struct ChatTranscript {
    /// In UTF-8, about 25,000 tokens. Of a longer conversation the beginning and the end are told, for there is what somebody wanted and what came of it.
    static let bytesMax = 100_000

    let text: String

    init(_ turns: [Turn]) {
        let lines = turns.map { turn in
            let speaker = turn.speaker == .user ? "User" : "Assistant"
            return "\(speaker): \(String(turn.text.split(whereSeparator: \.isNewline).joined(separator: " ").prefix(Self.bytesMax / 8)))"
        }
        let total = lines.reduce(0) { $0 + $1.utf8.count + 1 }
        guard total > Self.bytesMax else {
            text = lines.joined(separator: "\n")
            return
        }
        let head = Self.fitting(lines)
        let tail = Self.fitting(lines.reversed()).reversed()
        text = (head + ["[…]"] + tail).joined(separator: "\n")
    }

    private static func fitting(_ lines: [String]) -> [String] {
        var left = bytesMax / 2
        return Array(
            lines.prefix { line in
                left -= line.utf8.count + 1
                return left >= 0
            })
    }
}
