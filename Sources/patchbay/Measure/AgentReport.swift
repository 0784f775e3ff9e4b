import Foundation
import PatchbayAgents
import Wire

/// The result of a measurement.
struct AgentReport: Sendable, Codable {
    struct Turn: Sendable, Codable {
        var name: String
        var seconds: Double
        var text: [String]
        var errors: Int
        /// As heard, and as the assistant reports it (`turn.metrics`).
        var voiceToVoiceMs: Int?
        var reportedMs: Int?
    }

    var words = 0
    var wordErrors = 0
    var turns: [Turn] = []
    var metrics: [TurnMetrics] = []
    /// From the user's first sound to the assistant's last.
    var bargeInMs: [Int] = []
    /// By how many words the transcript of each interrupted answer differs from what was heard.
    var heardWordsOff: [Int] = []
    /// Whether each noise interrupted the assistant for good.
    var falseStarts: [Bool] = []
    /// From the user's join to the first audio.
    var greetingMs: [Int] = []
    /// Calls whose greeting was spoken to its end, and those in which the assistant apologized.
    var greeted = 0
    var apologies = 0
    /// From the user's join to the assistant's, in calls that follow one another, and how many users were understood.
    var assistantMs: [Int] = []
    var understood = 0
    var calls: [Calls] = []

    /// Several calls at once.
    struct Calls: Sendable, Codable {
        var calls: Int
        var answers: Int
        var asked: Int
        /// Ascending.
        var voiceToVoiceMs: [Int]
        /// CPU time per time.
        var cores: Double

        func percentile(_ percent: Int) -> Int {
            voiceToVoiceMs.isEmpty ? 0 : voiceToVoiceMs[min(voiceToVoiceMs.count - 1, voiceToVoiceMs.count * percent / 100)]
        }

        var text: String {
            String(
                format: "%3d calls: voice to voice median %4d ms, p95 %4d ms; %d of %d answers; %.2f cores", calls, percentile(50),
                percentile(95), answers, asked, cores)
        }
    }

    var text: String {
        var lines = [""]
        if words > 0 {
            lines.append(
                String(format: "  word error rate   %.1f %% (%d of %d words)", Double(wordErrors) * 100 / Double(words), wordErrors, words))
            lines.append("  answered          \(turns.filter { $0.voiceToVoiceMs != nil }.count) of \(turns.count) recordings")
            let short = turns.filter { $0.seconds <= 3 }.compactMap(\.voiceToVoiceMs)
            lines.append("  voice to voice    \(Self.spread(turns.compactMap(\.voiceToVoiceMs))); up to 3 s: \(Self.spread(short))")
        }
        let off = turns.compactMap { turn in turn.reportedMs.flatMap { reported in turn.voiceToVoiceMs.map { reported - $0 } } }.sorted()
        if !off.isEmpty {
            let far = off.map(abs).sorted()
            lines.append("  reported          off by median \(off[off.count / 2]) ms; without sign \(Self.spread(far))")
        }
        if !metrics.isEmpty {
            lines.append("  end of turn       \(Self.spread(metrics.compactMap(\.endOfTurnMs)))")
            lines.append("  recognition       \(Self.spread(metrics.compactMap(\.recognitionMs)))")
            lines.append("  first audio       \(Self.spread(metrics.compactMap(\.firstAudioMs)))")
        }
        if !bargeInMs.isEmpty {
            lines.append("  barge-in          \(Self.spread(bargeInMs))")
            lines.append(
                "  transcript        within one word of what was heard in \(heardWordsOff.count { $0 <= 1 }) of \(heardWordsOff.count)")
        }
        if !falseStarts.isEmpty { lines.append("  false starts      \(falseStarts.count { $0 }) of \(falseStarts.count) interrupted") }
        if greeted + apologies > 0 { lines.append("  openings          \(greeted) greetings spoken to the end, \(apologies) apologies") }
        if !assistantMs.isEmpty {
            lines.append("  assistant joined  \(Self.spread(assistantMs)), in \(assistantMs.count) calls; \(understood) users understood")
        }
        if !greetingMs.isEmpty { lines.append("  greeting          \(Self.spread(greetingMs))") }
        lines += calls.map { "  " + $0.text }
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
