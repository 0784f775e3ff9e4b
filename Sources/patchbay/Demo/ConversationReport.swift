import Foundation
import Wire

/// The result of the demonstration conversation.
struct ConversationReport: Sendable {
    private static let errorRateMax = 0.25

    let path: String
    var turns: [TurnMetrics] = []
    /// What the recognizer understands of the assistant's audio.
    var recognized = ""
    private var user: [String] = []
    private var assistant: [(id: String, text: String)] = []
    private var length = Duration.zero

    init(path: String) {
        self.path = path
    }

    /// Takes a final segment; a later revision replaces it.
    mutating func note(_ segment: TranscriptSegment) {
        if segment.role == .user { return user.append(segment.text) }
        if let index = assistant.firstIndex(where: { $0.id == segment.id }) {
            assistant[index].text = segment.text
        } else {
            assistant.append((segment.id, segment.text))
        }
    }

    mutating func finish(_ recording: StereoRecording) throws {
        length = .milliseconds(recording.user.count / 48)
        try recording.write(to: path)
    }

    private var wordErrorRate: Double {
        WordErrors(of: recognized, comparedTo: assistant.map(\.text).joined(separator: " ")).rate
    }

    /// Every utterance was answered, and the assistant's audio contains what its transcript says.
    var isComplete: Bool {
        turns.count == DemoRecordings.conversation.count && user.count == turns.count && wordErrorRate <= Self.errorRateMax
    }

    var text: String {
        var lines = ["", "  turn   end of turn   recognition   first token   first audio   voice to voice"]
        for (index, turn) in turns.enumerated() {
            let spans = [turn.endOfTurnMs, turn.recognitionMs, turn.firstTokenMs, turn.firstAudioMs, turn.voiceToVoiceMs]
            let columns = zip(spans, [11, 11, 11, 11, 14]).map { span, width in
                let text = span.map { "\($0) ms" } ?? "–"
                return String(repeating: " ", count: max(0, width - text.count)) + text
            }
            lines.append("  \(index + 1)   " + "   " + columns.joined(separator: "   "))
        }
        lines += [
            "", "  user           \(user.map { "\"\($0)\"" }.joined(separator: " "))",
            "  assistant      \(assistant.map(\.text).joined(separator: " "))", "  heard as       \(recognized)",
            String(format: "  comparison     %.0f %% word error rate", wordErrorRate * 100),
            "  saved as       \(path) (\(length.inMilliseconds / 1_000) s; left: user, right: assistant)", "",
        ]
        return lines.joined(separator: "\n")
    }
}

/// Word errors of a text: substitutions, insertions and deletions of the shortest edit.
struct WordErrors: Hashable {
    let count: Int
    let words: Int

    var rate: Double { words == 0 ? (count == 0 ? 0 : 1) : Double(count) / Double(words) }

    init(of text: String, comparedTo reference: String) {
        let (spoken, expected) = (Self.words(text), Self.words(reference))
        var costs = Array(0...expected.count)
        for (row, word) in spoken.enumerated() {
            var diagonal = costs[0]
            costs[0] = row + 1
            for column in expected.indices {
                let substitution = diagonal + (expected[column] == word ? 0 : 1)
                diagonal = costs[column + 1]
                costs[column + 1] = min(substitution, costs[column] + 1, costs[column + 1] + 1)
            }
        }
        count = costs[expected.count]
        words = expected.count
    }

    static func words(_ text: String) -> [String] {
        text.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "'") }.map(String.init)
    }
}
