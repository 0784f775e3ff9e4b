import Foundation
import Testing

/// `patchbay demo`, as `make demo` runs it.
@Suite(.timeLimit(.minutes(4)))
struct DemoTests {
    @Test("Through the relay every packet returns unchanged")
    func relay() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "patchbay-relay-\(UUID().uuidString).ogg")
        defer { try? FileManager.default.removeItem(at: file) }
        let outcome = try await Program.run(nil, ["demo", "--relay", "--out", file.path], seconds: 60)
        #expect(outcome.status == 0, "\(outcome.output)\n\(outcome.complaint)")
        #expect(outcome.output.contains("returned packets are identical to those sent"))
        #expect(FileManager.default.fileExists(atPath: file.path))
    }

    @Test("The recorded user and the assistant hold a conversation of three turns")
    func conversation() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "patchbay-conversation-\(UUID().uuidString).ogg")
        defer { try? FileManager.default.removeItem(at: file) }
        let outcome = try await Program.run(nil, ["demo", "--out", file.path], seconds: 180)
        #expect(outcome.status == 0, "\(outcome.output)\n\(outcome.complaint)")
        #expect(["ten", "10"].contains { outcome.output.contains("alice: \"Go forward \($0) meters.\"") }, "\(outcome.output)")
        #expect(outcome.output.contains("word error rate"))
        #expect(FileManager.default.fileExists(atPath: file.path))
    }

    @Test("The console prints a conversation for people, or as JSON", arguments: [false, true])
    func console(isJSON: Bool) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "patchbay-console-\(UUID().uuidString).ogg")
        defer { try? FileManager.default.removeItem(at: file) }
        let outcome = try await Program.run(
            nil, ["agent", "console", "--play", "demo/ps-goforward.wav", "--record", file.path] + (isJSON ? ["--json"] : []), seconds: 90)
        #expect(outcome.status == 0, "\(outcome.output)\n\(outcome.complaint)")
        let lines = outcome.output.split(separator: "\n")
        for (role, start, end) in [("user", "Go", "."), ("assistant", "I can't go", ", because I am only a voice.")] {
            // The recognizer writes the number as a word or in digits, depending on where its window ended.
            let expected = ["ten", "10"].map { number in
                let text = "\(start) forward \(number) meters\(end)"
                return isJSON ? #"{"data":{"role":"\#(role)","text":"\#(text)"},"type":"transcript"}"# : "\(role): \(text)"
            }
            #expect(lines.contains { expected.contains(String($0)) }, "\(outcome.output)")
        }
        if isJSON { #expect(lines.contains { $0.contains(#""first_audio_ms":"#) && $0.hasSuffix(#""type":"turn.metrics"}"#) }) }
        #expect(try Data(contentsOf: file).starts(with: Data("OggS".utf8)))
    }
}
