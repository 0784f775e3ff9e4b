import Foundation
import Testing

/// Runs the shell commands of the README.
@Suite(.timeLimit(.minutes(5)))
struct ReadmeTests {
    /// Returns the `bash` blocks of a section.
    private func blocks(under heading: String) throws -> [String] {
        let text = try String(contentsOf: Program.package.appending(path: "README.md"), encoding: .utf8)
        let section = try #require(text.components(separatedBy: "\n## ").first { $0.hasPrefix(heading + "\n") })
        let parts = section.components(separatedBy: "```")
        return parts.filter { $0.hasPrefix("bash\n") }.map { String($0.dropFirst("bash\n".count)) }
    }

    private func run(_ commands: String, on gateway: ServedGateway) async throws -> Program.Outcome {
        let path = try Program.executable.deletingLastPathComponent().path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
        return try await Program.run(
            URL(filePath: "/usr/bin/env"), ["bash", "-euo", "pipefail", "-c", commands],
            environment: ["API": "127.0.0.1:\(gateway.port)", "PATH": path], seconds: 110)
    }

    @Test func backendExampleRunsTwice() async throws {
        let blocks = try blocks(under: "Use it")
        for attempt in 1...3 {
            let folder = FileManager.default.temporaryDirectory.appending(path: "patchbay-readme-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let gateway = try await ServedGateway(["--data", folder.path])
            let outcome = try await run(blocks.joined(), on: gateway)
            if attempt < 3, speakerStalled(outcome) { continue }
            #expect(outcome.status == 0, "\(outcome.output)\n\(outcome.complaint)")
            #expect(outcome.output.contains("\"summary_text\": \""), "\(outcome.output)")
            let subtitles = try #require(outcome.output.range(of: "WEBVTT")).lowerBound
            let assistant = try #require(outcome.output.range(of: "Assistant default ready")).lowerBound
            try expectSubtitles(String(outcome.output[subtitles..<assistant]), "Please book a table", "I have booked a table")
            #expect(outcome.output.components(separatedBy: "\"summary_snippet\"").count == 2, "one session is listed")
            #expect(outcome.output.contains("user: Go forward ten meters."), "the assistant heard the user\n\(outcome.output)")
            #expect(
                outcome.output.contains("assistant: I can't go forward ten meters, because I am only a voice."),
                "the user heard the assistant")

            let again = try await run(blocks[0], on: gateway)
            #expect(again.status == 0, "\(again.output)\n\(again.complaint)")
            return #expect(again.output.components(separatedBy: "\"summary_snippet\"").count == 4, "three sessions are listed")
        }
    }

    /// Whether the gateway reports silence within the user's recording, which has none: `join --play` was not scheduled for over 200 ms, and
    /// shifts the rest of the recording then (`Pacer`). What remains of the interrupted word may be recognized as another.
    private func speakerStalled(_ outcome: Program.Outcome) -> Bool {
        outcome.output.contains(#/  [0-9a-f-]{36} has stopped talking \(silence\)/#)
    }

    /// Checks a WebVTT file (section 4.1): a header, then cues of identifier, times and text, separated by empty lines.
    private func expectSubtitles(_ text: String, _ words: String...) throws {
        let blocks = text.trimmingCharacters(in: .newlines).components(separatedBy: "\n\n")
        #expect(blocks[0].hasPrefix("WEBVTT - "))
        #expect(blocks.count == words.count + 1)
        for (block, words) in zip(blocks.dropFirst(), words) {
            let lines = block.components(separatedBy: "\n")
            #expect(lines.count == 3 && lines[2].contains(words))
            #expect(try /\d\d:\d\d:\d\d\.\d{3} --> \d\d:\d\d:\d\d\.\d{3}/.wholeMatch(in: lines[1]) != nil, "\(lines[1])")
        }
    }
}
