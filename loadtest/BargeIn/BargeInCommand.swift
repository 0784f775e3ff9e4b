import ArgumentParser
import Audio
import Foundation
import Identity
import PatchbayClient
import Wire

/// The program `patchbay-barge-in`: measures how quickly an assistant falls silent, and how accurate `played_ms` is.
@main
struct BargeInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patchbay-barge-in",
        abstract: "Interrupts an assistant repeatedly and measures when the subscriber's playout stops.",
        discussion: """
            In each try the assistant sends three seconds of audio at once, and then `playout.clear`. Measures the time until the last old sample \
            has left the subscriber's player, and the difference between the reply's `played_ms` and what that player counted.

            EXAMPLES
              patchbay serve --dev &
              patchbay-barge-in --dev --tries 200

            EXIT CODES
              0 within the bounds (40 ms at the 99th percentile, 20 ms of error), 1 outside, 2 usage error
            """)

    @Option(help: "The gateway's URL.")
    var url = "wss://127.0.0.1:7880"
    @Flag(help: "For development: trust the certificate authority of `make certs` and sign with devkey.")
    var dev = false
    @Option(help: "A PEM file with an additional trusted certificate authority.")
    var ca: String?
    @Option(help: "Number of interruptions.")
    var tries = 200
    @Flag(help: "Print the results as JSON.")
    var json = false

    func run() async throws {
        let options = RoomOptions(trust: (dev ? "certs/dev/ca.cert.pem" : ca).map { .authority(path: $0) } ?? .system)
        let room = "barge-in-\(UInt32.random(in: 0 ... .max))"
        let assistant = try await RoomConnection.connect(
            url: url, token: try token("assistant", .agent, room), options: options)
        let user = try await RoomConnection.connect(url: url, token: try token("user", .standard, room), options: options)
        let voice = try await assistant.publish(source: .assistant, mode: .ahead)
        var report = BargeInReport()
        let meter = try await PlayoutMeter(to: "assistant", in: user)
        let metering = Task { await meter.run() }
        for number in 1...tries {
            report.add(try await interrupt(voice, meter))
            showProgress("try \(number) of \(tries)")
        }
        showProgress("")
        metering.cancel()
        await assistant.leave()
        await user.leave()
        print(json ? try report.json : report.text)
        if !report.isWithinBounds { throw ExitCode(1) }
    }

    /// Replaces the progress line, if standard error is a terminal.
    private func showProgress(_ progress: String) {
        if isatty(STDERR_FILENO) == 1 { FileHandle.standardError.write(Data("\r\u{1B}[K\(progress)".utf8)) }
    }

    private func interrupt(_ voice: LocalTrack, _ meter: PlayoutMeter) async throws -> BargeInReport.Try {
        meter.reset()
        try await voice.push(Self.tone)
        // Random, so that interruptions are not in phase with the player's chunks or the gateway's ticks.
        try await Task.sleep(for: .microseconds(Int.random(in: 300_000..<1_500_000)))
        let start = ContinuousClock.now
        let cut = try await voice.clear(reason: "barge-in")
        let replied = ContinuousClock.now
        try await Task.sleep(for: .milliseconds(150))
        let played = meter.played
        return BargeInReport.Try(
            silentAfter: (played.lastSound ?? start) - start, repliedAfter: replied - start,
            playedMs: Double(cut.heard.playedMs), countedMs: played.milliseconds, isEstimated: cut.heard.isEstimated)
    }

    /// Three seconds of a 440 Hz tone.
    private static let tone = PCMBuffer(samples: (0..<3 * 48_000).map { Int16(8_000 * sin(2 * .pi * 440 * Double($0) / 48_000)) })

    private func token(_ identity: String, _ kind: ParticipantKind, _ room: String) throws -> String {
        let key = try KeyRing([IssuerSettings(issuer: "devkey", algorithm: .hs256, key: SecretText("secret"))]).signer
        guard let key else { throw ValidationError("the development key is invalid") }
        let now = Int64(Date().timeIntervalSince1970)
        return try TokenMinter.mint(
            AccessToken(identity: identity, notBefore: now - 60, expires: now + 3_600, kind: kind, video: .joining(room)), with: key)
    }
}
