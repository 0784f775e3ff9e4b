import ArgumentParser
import Audio
import Foundation
import Logging

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Run a call between a user and an echo assistant through a gateway.",
        discussion: """
            Starts a gateway on a free loopback port with the development certificate (`make certs`). An echo assistant and a user join over
            TLS, and the user sends a recording. Prints latencies, and compares the returned audio with what was sent.
            Exit code 0 only if all packets returned unchanged.
            """)

    @Option(help: "The WAV file that the user sends.")
    var recording = "demo/ps-goforward.wav"
    @Option(help: "The Ogg Opus file for the audio that the user receives.")
    var out = "out/demo-heard.ogg"

    func run() async throws {
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .error
            return handler
        }
        guard let file = FileManager.default.contents(atPath: recording) else {
            throw UsageError("\(recording) does not exist; start from the package directory or pass a WAV file with --recording")
        }
        let sound: PCMBuffer
        do { sound = try WAVFile.read(Array(file), mono: true) } catch { throw UsageError("--recording \(recording): \(error)") }
        try FileManager.default.createDirectory(
            at: URL(filePath: out).deletingLastPathComponent(), withIntermediateDirectories: true)

        let report = try await DemoGateway.run { gateway in
            Console.say("Gateway running at \(gateway.url).")
            return try await DemoCall(gateway: gateway, sound: sound, path: out).run()
        }
        Console.say(report.text)
        if !report.isPerfect { throw ExitCode.failure }
    }
}
