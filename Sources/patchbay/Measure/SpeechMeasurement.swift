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
                let before = notes.state.withLock { state in
                    state.finals = []
                    return state.metrics.count
                }
                user.say(recording.sound)
                try? await user.waitForSilence(of: .milliseconds(1_500), within: recording.sound.duration + .seconds(12))
                let (finals, metrics) = notes.state.withLock { ($0.finals, $0.metrics.dropFirst(before)) }
                let errors = WordErrors(of: finals.joined(separator: " "), comparedTo: recording.text)
                let delay = user.voiceToVoice.map { Int($0.inMilliseconds) }
                report.words += errors.words
                report.wordErrors += errors.count
                report.turns.append(
                    AgentReport.Turn(
                        name: recording.name, seconds: Double(recording.sound.duration.inMilliseconds) / 1_000, text: finals,
                        errors: errors.count,
                        voiceToVoiceMs: delay, reportedMs: metrics.last?.voiceToVoiceMs))
                progress(
                    "\(recording.name): \(errors.count) errors, \(finals.count) turns, \(delay.map { "\($0) ms" } ?? "no answer"), reported \(metrics.last?.voiceToVoiceMs ?? 0) ms  \(finals.joined(separator: " | "))"
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

/// How many calls one process carries.
extension AgentMeasurement {
    /// Voice to voice beyond which a worker counts as overloaded, in milliseconds.
    private static let limitMs = 1_200
    /// Questions that each user asks.
    private static let questions = 6

    /// Runs more and more calls at once, until their 95th percentile from voice to voice exceeds 1.2 s. Gateway and users run in this process,
    /// too.
    func calls(with recordings: [SpokenRecording]) async throws -> AgentReport {
        let questions = recordings.filter { $0.sound.duration <= .seconds(4) }
        guard !questions.isEmpty else { throw UsageError("--recordings: none of the recordings is 4 s long or shorter") }
        var report = AgentReport()
        for count in [1, 4, 8, 10, 12, 14, 16, 20, 24, 32, 40, 50] {
            let began = ProcessInfo.processInfo.systemUptime
            let cpuBefore = Self.processorSeconds
            let delays = try await withThrowingTaskGroup(of: [Int].self) { group in
                for index in 0..<count {
                    group.addTask { try await conversation(index, of: count, questions) }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            let cores = (Self.processorSeconds - cpuBefore) / (ProcessInfo.processInfo.systemUptime - began)
            let step = AgentReport.Calls(
                calls: count, answers: delays.count, asked: count * Self.questions, voiceToVoiceMs: delays.sorted(), cores: cores)
            report.calls.append(step)
            progress(step.text)
            if step.percentile(95) > Self.limitMs || step.answers < step.asked { break }
        }
        return report
    }

    /// One user's questions, with pauses; users begin at different times.
    private func conversation(_ index: Int, of count: Int, _ recordings: [SpokenRecording]) async throws -> [Int] {
        try await Task.sleep(for: .milliseconds(8_000 * index / count))
        return try await call(answering: "I heard you, and this is an answer of usual length.", room: "conversation-\(index)") {
            user, _ in
            var delays: [Int] = []
            for question in 0..<Self.questions {
                user.say(recordings[(index + question) % recordings.count].sound)
                try? await user.waitForSilence(of: .milliseconds(1_500), within: .seconds(12))
                if let delay = user.voiceToVoice { delays.append(Int(delay.inMilliseconds)) }
            }
            return delays
        }
    }

    /// CPU time of this process.
    private static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
