import Foundation
import Testing

/// The load tools `attack` and `soak` run and report. Their measurements depend on the machine and are not checked.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct LoadToolTests {
    private func report(_ tool: String, _ arguments: [String]) async throws -> (outcome: Program.Outcome, report: [String: Any]) {
        let build = try Program.executable.deletingLastPathComponent().path
        let outcome = try await Program.run(
            Program.package.appending(path: "loadtest/\(tool)"), ["--build", build, "--json"] + arguments, seconds: 240)
        let report = try? JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
        return (outcome, try #require(report, "\(outcome.output)\n\(outcome.complaint)"))
    }

    @Test func anAttackReportsTheCallsBesideIt() async throws {
        let (outcome, report) = try await report(
            "attack", ["--calls", "2", "--attackers", "2", "--seconds", "5", "--rest", "1", "--kinds", "bad-head"])
        let kind = try #require((report["kinds"] as? [[String: Any]])?.first, "\(outcome.complaint)")
        #expect(kind["kind"] as? String == "bad-head" && kind["attempts"] as? Int ?? 0 > 0)
        let phases = try #require(kind["phases"] as? [String: [String: Any]])
        for phase in ["before", "during", "after"] { #expect(phases[phase]?["frames"] as? Int ?? 0 > 0, "\(phases)") }
    }

    @Test func aSoakCountsEveryCallAndWebhook() async throws {
        let (outcome, report) = try await report("soak", ["--calls", "10", "--concurrent", "5"])
        #expect(report["sessions"] as? Int == 10, "\(outcome.complaint)")
        let webhooks = try #require(report["webhooks"] as? [String: Int])
        #expect(webhooks["room_started"] == 10 && webhooks["room_finished"] == 10 && webhooks["session_ended"] == 10, "\(webhooks)")
    }
}
