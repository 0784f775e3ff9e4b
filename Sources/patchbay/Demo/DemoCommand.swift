import ArgumentParser
import Audio
import Foundation
import Logging

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show a call: a user speaks to an echo assistant through a real gateway.",
        discussion: """
            Starts a gateway on a free loopback port with the development certificate (`make certs`), lets an echo assistant and a user join
            over TLS, and has the user speak a recording. Ends with what it cost, and whether what came back is what was sent.
            Exit code 0 only if it is bit for bit and nothing was lost.
            """)

    @Option(help: "The WAV file that the user speaks.")
    var recording = "demo/ps-goforward.wav"
    @Option(help: "The Ogg Opus file for what the user heard.")
    var out = "out/demo-heard.ogg"

    func run() async throws {
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .error
            return handler
        }
        guard let file = FileManager.default.contents(atPath: recording) else {
            throw UsageError("\(recording) is not there; start from the project's directory or name a WAV file with --recording")
        }
        let sound: PCMBuffer
        do { sound = try WAVFile.read(Array(file), mono: true) } catch { throw UsageError("--recording \(recording): \(error)") }
        try FileManager.default.createDirectory(
            at: URL(filePath: out).deletingLastPathComponent(), withIntermediateDirectories: true)

        let report = try await DemoGateway.run { gateway in
            Console.say("A gateway serves at \(gateway.url).")
            return try await DemoCall(gateway: gateway, sound: sound, path: out).run()
        }
        Console.say(report.text)
        if !report.isPerfect { throw ExitCode.failure }
    }
}
