import Audio
import Foundation
import PatchbayAgents
import PatchbayClient
import Synchronization
import Wire

/// Measures an assistant in rooms of a gateway, with recorded users.
struct AgentMeasurement: Sendable {
    let gateway: DemoGateway
    let engines: EmbeddedEngines
    let progress: @Sendable (String) -> Void

    /// Collects the final transcripts and metrics that a user receives.
    private final class Notes: Sendable {
        struct State {
            var finals: [String] = []
            var metrics: [TurnMetrics] = []
            /// The assistant's last segment that was cut off.
            var interrupted: TranscriptSegment?
        }

        let state = Mutex(State())

        func take(_ event: RoomEvent) {
            switch event {
            case .gateway(.segment(let segment), _):
                state.withLock { state in
                    if segment.role == .user, segment.final, !segment.text.isEmpty { state.finals.append(segment.text) }
                    if segment.role == .assistant, segment.spoken == .interrupted { state.interrupted = segment }
                }
            case .gateway(.data(_, AssistantMessage.topic, .text(let text)), _):
                guard case .turnMetrics(let metrics)? = try? AssistantMessage(parsing: Array(text.utf8)) else { return }
                state.withLock { $0.metrics.append(metrics) }
            default: break
            }
        }
    }

    /// Says one thing whatever it is told.
    private struct FixedResponder: Responder {
        let text: String

        func respond(to conversation: Conversation) -> AsyncThrowingStream<ResponsePart, any Error> {
            AsyncThrowingStream { stream in
                stream.yield(.text(text))
                stream.finish()
            }
        }
    }

    /// Runs a call between a recorded user and an assistant that always gives the same answer.
    private func call<Result: Sendable>(
        answering text: String, _ body: @Sendable (RecordedUser, Notes) async throws -> Result
    ) async throws -> Result {
        let definition = AssistantDefinition(id: "measured")
        var engines = try engines.engines(for: definition)
        engines.responder = FixedResponder(text: text)
        let assistant = try await gateway.join("assistant", kind: .agent)
        let pipeline = VoicePipeline(definition, engines: engines)
        let user = try await RecordedUser(room: gateway.join("alice", name: "Alice"))
        let notes = Notes()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pipeline.run(in: assistant) }
            group.addTask { try await user.run() }
            group.addTask {
                for await event in user.room.events {
                    user.handle(event)
                    notes.take(event)
                }
            }
            try await Task.sleep(for: .seconds(1))
            let result = try await body(user, notes)
            await user.leave()
            await assistant.leave()
            try await group.waitForAll()
            return result
        }
    }

    // MARK: Words

    /// Speaks each recording and compares what was understood with its transcript.
    func words(of recordings: [SpokenRecording]) async throws -> AgentReport {
        try await call(answering: "Okay.") { user, notes in
            var report = AgentReport()
            for recording in recordings {
                notes.state.withLock { $0.finals = [] }
                user.say(recording.sound)
                try? await user.waitForSilence(of: .milliseconds(1_500), within: recording.sound.duration + .seconds(12))
                let finals = notes.state.withLock { $0.finals }
                let errors = WordErrors(of: finals.joined(separator: " "), comparedTo: recording.text)
                let delay = user.voiceToVoice.map { Int($0.inMilliseconds) }
                report.words += errors.words
                report.wordErrors += errors.count
                report.turns.append(
                    AgentReport.Turn(
                        name: recording.name, seconds: Double(recording.sound.duration.inMilliseconds) / 1_000, text: finals,
                        errors: errors.count,
                        voiceToVoiceMs: delay))
                progress(
                    "\(recording.name): \(errors.count) errors, \(finals.count) turns, \(delay.map { "\($0) ms" } ?? "no answer")  \(finals.joined(separator: " | "))"
                )
            }
            report.metrics = notes.state.withLock { $0.metrics }
            return report
        }
    }

    // MARK: Interruptions

    /// Interrupts a long answer again and again.
    func bargeIn(with recordings: [SpokenRecording], tries: Int) async throws -> AgentReport {
        let story = (1...60).map { "This is sentence number \($0) of a long story." }.joined(separator: " ")
        return try await call(answering: story) { user, notes in
            var report = AgentReport()
            let shortest = recordings.sorted { $0.sound.duration < $1.sound.duration }
            user.say(shortest[0].sound)
            for index in 0..<tries {
                try await user.waitForSpeech(of: .milliseconds(1_500 + index % 5 * 170), within: .seconds(12))
                notes.state.withLock { $0.interrupted = nil }
                user.say(shortest[index % min(shortest.count, 6)].sound)
                try await Task.sleep(for: .milliseconds(900))
                guard let began = user.speechBegan, let last = user.lastHeard else { continue }
                let delay = Int((last - began).inMilliseconds)
                report.bargeInMs.append(delay)
                progress("interruption \(index + 1): silent after \(delay) ms")
                try? await user.waitForAnswerToBegin(within: .seconds(12))
            }
            return report
        }
    }
}

/// The result of a measurement.
struct AgentReport: Sendable, Codable {
    struct Turn: Sendable, Codable {
        var name: String
        var seconds: Double
        var text: [String]
        var errors: Int
        var voiceToVoiceMs: Int?
    }

    var words = 0
    var wordErrors = 0
    var turns: [Turn] = []
    var metrics: [TurnMetrics] = []
    /// From the user's first sound to the assistant's last.
    var bargeInMs: [Int] = []

    var text: String {
        var lines = [""]
        if words > 0 {
            lines.append(
                String(format: "  word error rate   %.1f %% (%d of %d words)", Double(wordErrors) * 100 / Double(words), wordErrors, words))
            lines.append("  answered          \(turns.filter { $0.voiceToVoiceMs != nil }.count) of \(turns.count) recordings")
            let short = turns.filter { $0.seconds <= 3 }.compactMap(\.voiceToVoiceMs)
            lines.append("  voice to voice    \(Self.spread(turns.compactMap(\.voiceToVoiceMs))); up to 3 s: \(Self.spread(short))")
        }
        if !metrics.isEmpty {
            lines.append("  end of turn       \(Self.spread(metrics.compactMap(\.endOfTurnMs)))")
            lines.append("  recognition       \(Self.spread(metrics.compactMap(\.recognitionMs)))")
            lines.append("  first audio       \(Self.spread(metrics.compactMap(\.firstAudioMs)))")
        }
        if !bargeInMs.isEmpty { lines.append("  barge-in          \(Self.spread(bargeInMs))") }
        return (lines + [""]).joined(separator: "\n")
    }

    /// Median, 95th percentile and maximum.
    private static func spread(_ values: [Int]) -> String {
        guard !values.isEmpty else { return "–" }
        let sorted = values.sorted()
        return
            "median \(sorted[sorted.count / 2]) ms, p95 \(sorted[min(sorted.count - 1, sorted.count * 95 / 100)]) ms, max \(sorted.last ?? 0) ms"
    }
}
