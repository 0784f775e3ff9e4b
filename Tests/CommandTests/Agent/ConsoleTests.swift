import Foundation
import Testing

/// `patchbay agent console` with typed lines, and with an assistant of a configuration.
@Suite(.timeLimit(.minutes(4)))
struct ConsoleTests {
    private static func answers(in outcome: Program.Outcome) -> [String] {
        outcome.output.split(separator: "\n").filter { $0.hasPrefix("assistant: ") }.map { String($0.dropFirst("assistant: ".count)) }
    }

    @Test func pastedLinesAreAnsweredInOrderUntilTheAssistantEndsTheCall() async throws {
        let script = #"printf 'What is seven times eight?\nCount to three.\nGoodbye.\nHello.\n' | "$0" agent console"#
        let outcome = try await Program.run(URL(filePath: "/bin/sh"), ["-c", script, try Program.executable.path], seconds: 90)
        #expect(outcome.status == 0, "\(outcome.output)\n\(outcome.complaint)")
        #expect(Self.answers(in: outcome) == ["7 times 8 is 56.", "1, 2, 3.", "Goodbye, and have a nice day."])
    }

    @Test func theAssistantIsThatOfTheConfiguration() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "patchbay-console-\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        try "assistants:\n  - {id: shop, name: Robin}\n".write(to: file, atomically: true, encoding: .utf8)
        let outcome = try await Program.run(nil, ["agent", "console", "--config", file.path, "--say", "Who are you?"], seconds: 90)
        #expect(outcome.status == 0, "\(outcome.output)\n\(outcome.complaint)")
        #expect(Self.answers(in: outcome) == ["I am Robin, a voice assistant. You can interrupt me at any time."])

        let unknown = try await Program.run(nil, ["agent", "console", "--config", file.path, "--assistant", "robyn"], seconds: 30)
        #expect(unknown.status == 2 && unknown.complaint.contains("there is no assistant \"robyn\"; use one of shop, default"))
    }
}
