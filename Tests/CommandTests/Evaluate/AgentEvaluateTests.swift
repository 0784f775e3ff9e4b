import Audio
import Foundation
import Testing

@testable import patchbay

/// `patchbay agent evaluate`, as users run it: exit codes, and calls to the embedded assistant in real time.
@Suite(.timeLimit(.minutes(4)))
struct AgentEvaluateTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func scenarios(_ yaml: String) throws -> String {
        let file = folder.file("scenarios.yaml")
        try Data(yaml.utf8).write(to: file)
        return file.path
    }

    private static let recording = Program.package.appending(path: "demo/ps-goforward.wav").path

    @Test func aQuestionAndAnInterruptionOfTheEmbeddedAssistantAreMeasured() async throws {
        let file = try scenarios(
            """
            scenarios:
              - name: question
                steps: [{play: \(Self.recording), text: go forward ten meters, expect: {contains: [ten meters]}}]
              - name: interruption
                steps:
                  - say: "What can you do?"
                  - {say: "Stop. What time is it?", interrupt_after_ms: 1200, expect: {stops_within_ms: 2000, answered: true}}
            """)
        let page = folder.file("pages/report.html")
        let outcome = try await Program.run(
            nil, ["agent", "evaluate", file, "--html", page.path, "--record", folder.file("calls").path, "--json"], seconds: 150)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.complaint)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let report = try decoder.decode(EvaluationReport.self, from: Data(outcome.output.utf8))
        #expect(report.passed && report.scenarios.map(\.name) == ["question", "interruption"])
        #expect(report.figures.asked == 3 && report.figures.answered == 3 && report.figures.cutIn == 0)
        let lines = report.scenarios.flatMap { $0.calls.flatMap(\.lines) }
        #expect(lines.allSatisfy { 50...5_000 ~= $0.responseMs ?? 0 }, "\(outcome.output)")
        #expect(lines[0].words == 4 && lines[2].stopMs.map { 50...2_000 ~= $0 } == true)
        #expect(lines[2].unheardWords != nil, "the assistant publishes word times")
        #expect(try String(contentsOf: page, encoding: .utf8).contains("</html>"))
        let recording = try WAVFile.read(Array(Data(contentsOf: folder.file("calls/question.wav"))))
        #expect(recording.channels == 2 && recording.duration > .seconds(3))
    }

    @Test func anExpectationThatDoesNotHoldIsExitCode1() async throws {
        let file = try scenarios(
            "scenarios: [{name: a, steps: [{play: \(Self.recording), expect: {contains: [bananas]}}]}]")
        let outcome = try await Program.run(nil, ["agent", "evaluate", file], seconds: 100)
        #expect(outcome.status == 1 && outcome.complaint.isEmpty, "\(outcome.complaint)")
        #expect(outcome.output.contains("An expectation or threshold does not hold:\n  a: step 1, ps-goforward.wav: the answer does not"))
    }

    @Test func aBadFileIsExitCode2() async throws {
        let outcome = try await Program.run(nil, ["agent", "evaluate", try scenarios("scenarios:\n- name: a")], seconds: 20)
        #expect(outcome.status == 2)
        #expect(outcome.complaint.contains("scenarios.yaml: line 2: the scenario needs `steps`"), "\(outcome.complaint)")
        let missing = try await Program.run(nil, ["agent", "evaluate", "/nowhere.yaml"], seconds: 20)
        #expect(missing.status == 2)
        #expect(missing.complaint == "patchbay: cannot read the scenarios /nowhere.yaml; check the path and its permissions\n")
    }

    @Test func anUnknownScenarioIsExitCode2() async throws {
        let outcome = try await Program.run(nil, ["agent", "evaluate", "--only", "qestion"], seconds: 20)
        #expect(outcome.status == 2)
        #expect(outcome.complaint == "patchbay: --only: there is no scenario \"qestion\"; did you mean \"question\"?\n")
    }

    @Test func anAssistantOfARunningGatewayIsDispatchedAndCalled() async throws {
        let gateway = try await ServedGateway()
        let file = try scenarios("scenarios: [{name: a, steps: [{play: \(Self.recording), expect: {contains: [ten meters]}}]}]")
        let arguments = ["agent", "evaluate", file, "--dev", "--url", gateway.url]
        let alone = try await Program.run(nil, arguments, seconds: 60)
        #expect(alone.status == 1)
        #expect(alone.complaint.contains("within 20 s; check --assistant, and that a process serves it"), "\(alone.complaint)")

        let agent = try RunningProgram(Program.process(nil, ["agent", "start", "--dev", "--url", gateway.url], [:]))
        await agent.waits { !$0.isEmpty }
        let outcome = try await Program.run(nil, arguments, seconds: 60)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.complaint)")
        #expect(outcome.output.contains("1 of 1, a: 1 of 1 answered"))
        agent.stop(times: 2)
        await agent.ends()
    }

    @Test func withoutModelsOrAGatewayItSaysSo() async throws {
        let models = try await Program.run(
            nil, ["agent", "evaluate"], environment: ["PATCHBAY_MODELS": folder.file("none").path], seconds: 20)
        #expect(models.status == 1)
        #expect(models.complaint.hasPrefix("patchbay: the embedded assistant cannot speak: "), "\(models.complaint)")
        let file = try scenarios("scenarios: [{name: a, steps: [{play: \(Self.recording)}]}]")
        let gateway = try await Program.run(nil, ["agent", "evaluate", file, "--dev", "--url", "wss://127.0.0.1:1"], seconds: 20)
        #expect(gateway.status == 1)
        #expect(gateway.complaint.hasPrefix("patchbay: no gateway answers at 127.0.0.1 port 1"), "\(gateway.complaint)")
    }
}
