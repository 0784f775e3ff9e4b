import Foundation
import Testing

/// `dispatch` in the configuration file.
@Suite(.timeLimit(.minutes(2)))
struct DispatchConfigurationTests {
    private func check(_ yaml: String) async throws -> Program.Outcome {
        let path = FileManager.default.temporaryDirectory.appending(path: "patchbay-\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: path) }
        try yaml.write(to: path, atomically: true, encoding: .utf8)
        return try await Program.run(nil, ["serve", "--check", "--dev", "--port", "0", "--config", path.path], seconds: 20)
    }

    @Test func rulesAreAccepted() async throws {
        let outcome = try await check("dispatch:\n  - {room: \"support-*\", assistant: helper}\n  - {room: lobby, assistant: greeter}\n")
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.complaint)")
    }

    @Test(arguments: [
        ("dispatch: helper", "`dispatch` must be a list of maps"), ("dispatch: [helper]", "`dispatch` must be a list of maps"),
        ("dispatch: [{room: x}]", "each rule of `dispatch` has a `room` and an `assistant`"),
        ("dispatch: [{room: \"\", assistant: a}]", "each rule of `dispatch` has a `room` and an `assistant`"),
        ("dispatch: [{room: x, asistant: a}]", "unknown key `dispatch.asistant`; did you mean `dispatch.assistant`?"),
    ])
    func mistakesAreNamed(_ yaml: String, _ complaint: String) async throws {
        let outcome = try await check(yaml)
        // `--check` reports on standard output.
        #expect(outcome.status == 2 && outcome.output.contains(complaint), "\(outcome.output)\(outcome.complaint)")
    }
}
