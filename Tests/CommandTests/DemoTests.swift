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
        #expect(outcome.output.contains("alice: \"Go forward ten meters.\""))
        #expect(outcome.output.contains("word error rate"))
        #expect(FileManager.default.fileExists(atPath: file.path))
    }

    @Test("The console speaks with the assistant without a gateway")
    func console() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "patchbay-console-\(UUID().uuidString).ogg")
        defer { try? FileManager.default.removeItem(at: file) }
        let outcome = try await Program.run(
            nil, ["agent", "console", "--play", "demo/ps-goforward.wav", "--record", file.path], seconds: 90)
        #expect(outcome.status == 0, "\(outcome.output)\n\(outcome.complaint)")
        #expect(outcome.output.contains("user: Go forward ten meters."))
        #expect(outcome.output.contains("assistant: You said: Go forward ten meters."))
        #expect(try Data(contentsOf: file).starts(with: Data("OggS".utf8)))
    }
}
