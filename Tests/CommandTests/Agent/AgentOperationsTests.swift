import Backend
import Foundation
import Testing

@testable import patchbay

/// What operators of `patchbay agent start` rely on: its log, its metrics, its probes, and errors before models are loaded.
@Suite(.timeLimit(.minutes(4)))
struct AgentOperationsTests {
    private func objects(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map { line in
            try #require(try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "no JSON: \(line)")
        }
    }

    @Test func theLogIsJSONAndMetricsAreServed() async throws {
        let gateway = try await ServedGateway()
        let folder = try TemporaryFolder()
        let log = folder.file("log")
        try Data().write(to: log)
        let process = try Program.process(
            nil, ["agent", "start", "--dev", "--url", gateway.url, "--log-format", "json", "--metrics-port", "0", "--capacity", "3"], [:])
        process.standardOutput = try FileHandle(forWritingTo: log)
        process.standardError = process.standardOutput
        try process.run()
        defer { kill(process.processIdentifier, SIGKILL) }
        try await eventually("a registered agent") { try String(contentsOf: log, encoding: .utf8).contains("\"message\":\"ready\"") }
        let lines = try objects(String(contentsOf: log, encoding: .utf8))
        let port = try #require(lines.first { $0["message"] as? String == "metrics" }?["port"] as? Int)
        #expect(lines.contains { $0["message"] as? String == "registered" && $0["jobs"] as? Int == 0 }, "numbers are numbers")

        let metrics = try await Program.run(
            URL(filePath: "/usr/bin/env"), ["curl", "-sS", "--fail", "http://127.0.0.1:\(port)/metrics"], seconds: 20)
        #expect(metrics.status == 0, "\(metrics.complaint)")
        for line in ["patchbay_agent_registered 1", "patchbay_agent_capacity 3", "patchbay_agent_jobs_ended_total{outcome=\"failed\"} 0"] {
            #expect(metrics.output.contains("\n\(line)\n"), "\(metrics.output)")
        }
        let types = metrics.output.matches(of: #/\n# TYPE ([a-z_]+) \w/#).map { String($0.1) }
        #expect(types == Array(Metric.agent.map(\.name).suffix(types.count)) && types.count >= Metric.agent.count - 1)
        for (path, status) in [("healthz", "200"), ("readyz", "200"), ("other", "404")] {
            let answer = try await Program.run(
                URL(filePath: "/usr/bin/env"),
                ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "http://127.0.0.1:\(port)/\(path)"], seconds: 20)
            #expect(answer.output == status, "/\(path)")
        }
        kill(process.processIdentifier, SIGTERM)
        try await eventually("the end") { !process.isRunning }
        #expect(process.terminationStatus == 0)
        #expect(try objects(String(contentsOf: log, encoding: .utf8)).contains { $0["message"] as? String == "draining" })
    }

    @Test func theDocumentListsTheMetrics() throws {
        let document = try String(contentsOf: Program.package.appending(path: "OPERATIONS.md"), encoding: .utf8)
        for metric in Metric.agent {
            #expect(
                document.contains("| `\(metric.name)` | \(metric.kind.name) |") && document.contains("| \(metric.help) |"), "\(metric.name)"
            )
        }
    }

    @Test func aWrongSecretIsReportedBeforeTheModelsAreLoaded() async throws {
        let gateway = try await ServedGateway()
        let outcome = try await Program.run(
            nil, ["agent", "start", "--dev", "--url", gateway.url, "--api-secret", "wrong", "--log-format", "json"], seconds: 60)
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        let lines = try objects(outcome.complaint)
        #expect(!lines.contains { $0["message"] as? String == "loading the speech models" }, "\(outcome.complaint)")
        #expect((lines.last?["message"] as? String)?.contains("check the API secret") == true, "\(outcome.complaint)")
        #expect(lines.last?["level"] as? String == "error")
    }

    @Test(arguments: [
        ["agent", "start", "--log-format=json", "--capacity", "0"], ["serve", "--log-format", "json", "--config", "/nowhere.yaml"],
        ["serve", "--log-format", "json", "--prot", "1"], ["agent", "start", "--log-format", "json", "--metrics-host", "nowhere.invalid"],
    ])
    func errorsAtTheStartAreLinesOfJSON(arguments: [String]) async throws {
        let outcome = try await Program.run(
            nil, arguments + (arguments.contains("--metrics-host") ? ["--metrics-port", "0"] : []), seconds: 60)
        #expect(outcome.status == 2, "\(outcome.complaint)")
        #expect(try !objects(outcome.complaint).isEmpty)
    }
}
