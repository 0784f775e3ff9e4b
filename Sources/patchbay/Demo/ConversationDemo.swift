import Audio
import Foundation
import PatchbayAgents
import PatchbayClient
import Synchronization
import Wire

/// The demonstration conversation: a recorded user talks to an assistant, which the gateway dispatches to the user's room.
struct ConversationDemo: Sendable {
    static let assistant = AssistantDefinition(
        id: "demo", name: "the Patchbay assistant", greetings: ["Hello, {name}. I am the Patchbay assistant."])

    /// How long the user waits for an answer.
    private static let patience = Duration.seconds(30)

    let gateway: DemoGateway
    let engines: EmbeddedEngines
    let sounds: [PCMBuffer]
    /// The file for both sides of the conversation.
    let path: String

    func run() async throws -> ConversationReport {
        let worker = gateway.worker(of: Self.assistant.id, speakingWith: engines)
        async let assisting: Void = worker.run()
        if await !worker.registered() { try await assisting }
        let user = try await RecordedUser(room: gateway.join("alice", name: "Alice", assistant: Self.assistant.id))
        let report = Mutex(ConversationReport(path: path))
        async let watching: Void = watch(user) { body in report.withLock { body(&$0) } }
        async let talking: Void = user.run()

        try await user.waitForAnswers(1, within: Self.patience)
        for (index, sound) in sounds.enumerated() {
            user.say(sound)
            try await user.waitForAnswers(index + 2, within: Self.patience)
        }
        await user.leave()
        await worker.drain()
        _ = try await (assisting, watching, talking)
        var result = report.withLock { $0 }
        try result.finish(user.recording)
        result.recognized = try await recognize(user.recording.assistant)
        return result
    }

    /// Prints the user's events and collects what the report needs.
    private func watch(_ user: RecordedUser, _ update: @Sendable ((inout ConversationReport) -> Void) -> Void) async {
        let view = EventView(form: .readable)
        for await event in user.room.events {
            user.handle(event)
            switch event {
            case .gateway(.data(_, AssistantMessage.topic, .text(let text)), _):
                guard case .turnMetrics(let metrics)? = try? AssistantMessage(parsing: Array(text.utf8)) else { continue }
                update { $0.turns.append(metrics) }
            case .gateway(.segment(let segment), _):
                if segment.spoken == nil || segment.role == .user { view.show(event) }
                if segment.final { update { $0.note(segment) } }
            case .gateway(.speakersChanged, _), .gateway(.stats, _): break
            default: view.show(event)
            }
        }
    }

    /// Recognizes the audio that the user heard, for comparison with the assistant's transcript.
    private func recognize(_ sound: [Int16]) async throws -> String {
        let samples = try PCMBuffer(samples: sound).resampled(to: SpeechSegment.sampleRate).samples
        var text: [String] = []
        for piece in Self.utterances(of: samples) {
            let segment = SpeechSegment(samples: piece.map { Float($0) / 32_768 }, start: MediaClock.now, language: "en")
            for try await result in try engines.engines(for: AssistantDefinition(id: "default")).recognizer.recognize(segment)
            where result.isFinal {
                text.append(result.text)
            }
        }
        return text.joined(separator: " ")
    }

    /// Spans of sound between pauses of at least 500 ms.
    private static func utterances(of samples: [Int16]) -> [ArraySlice<Int16>] {
        let window = SpeechSegment.sampleRate / 50
        var spans: [Range<Int>] = []
        for start in stride(from: 0, to: samples.count, by: window) {
            let end = min(start + window, samples.count)
            guard samples[start..<end].contains(where: { abs(Int($0)) > 200 }) else { continue }
            if let last = spans.last, start - last.upperBound < 25 * window {
                spans[spans.count - 1] = last.lowerBound..<end
            } else {
                spans.append(max(start - 10 * window, 0)..<end)
            }
        }
        return spans.map { samples[$0.lowerBound..<min($0.upperBound + 10 * window, samples.count)] }
    }
}

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
