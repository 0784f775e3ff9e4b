import Audio
import Foundation
import PatchbayAgents
import PatchbayClient
import Synchronization
import Wire

/// The demonstration conversation: a recorded user talks to an assistant through a gateway.
struct ConversationDemo: Sendable {
    /// How long the user waits for an answer.
    private static let patience = Duration.seconds(30)

    let gateway: DemoGateway
    let engines: EmbeddedEngines
    let sounds: [PCMBuffer]
    /// The file for both sides of the conversation.
    let path: String

    func run() async throws -> ConversationReport {
        let definition = AssistantDefinition(
            id: "default", name: "the Patchbay assistant", greetings: ["Hello, {name}. I am the Patchbay assistant."])
        let assistantRoom = try await gateway.join("assistant", kind: .agent)
        let pipeline = VoicePipeline(definition, engines: try engines.engines(for: definition))
        let user = try await RecordedUser(room: gateway.join("alice", name: "Alice"))
        let report = Mutex(ConversationReport(path: path))
        async let assisting: Void = pipeline.run(in: assistantRoom)
        async let watching: Void = watch(user) { body in report.withLock { body(&$0) } }
        async let talking: Void = user.run()

        try await user.waitForAnswers(1, within: Self.patience)
        for (index, sound) in sounds.enumerated() {
            user.say(sound)
            try await user.waitForAnswers(index + 2, within: Self.patience)
        }
        await user.leave()
        await assistantRoom.leave()
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
