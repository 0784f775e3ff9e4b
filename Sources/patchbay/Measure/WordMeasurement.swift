import Audio
import Foundation
import PatchbayAgents
import PatchbayClient
import Synchronization
import Wire

/// How well and how fast users are understood.
extension AgentMeasurement {
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

    /// The time from a user's join to the first audio of a greeting.
    func greetings(tries: Int) async throws -> AgentReport {
        var report = AgentReport()
        for index in 1...tries {
            let delay = try await call(answering: "Okay.", greetings: ["Hello {name}, how can I help you today?"]) { user, _ in
                let joined = user.joinedAt
                try await user.waitForAnswerToBegin(within: .seconds(10))
                return user.answerBegan.map { Int(($0 - joined).inMilliseconds) }
            }
            if let delay { report.greetingMs.append(delay) }
            progress("greeting \(index): audible after \(delay ?? -1) ms")
        }
        return report
    }
}
