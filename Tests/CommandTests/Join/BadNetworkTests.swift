import Audio
import Foundation
import OggOpus
import Testing

/// A gateway at one end of a bad wire and listeners at the other, with the kernel's own TCP between them.
@Suite(.serialized, .timeLimit(.minutes(6)), .enabled(if: BadNetwork.obstacle == nil, "namespaces and TUN devices are not for us here"))
struct BadNetworkTests {
    private let folder: TemporaryFolder
    private let key = ["--api-key", "test", "--api-secret", "a-secret-of-at-least-32-characters"]

    init() throws {
        folder = try TemporaryFolder()
    }

    /// One line of `join --events --listen`, printed every second.
    private struct Playout: Decodable {
        struct Data: Decodable {
            var playedMs: Double
            var concealedPercent: Double
            var delayMs: Double
        }

        var type: String
        var data: Data
    }

    private typealias Report = (playout: Playout.Data, at: ContinuousClock.Instant)

    private func playouts(_ lines: [RunningProgram.Line]) -> [Report] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return lines.filter { $0.text.contains("\"playout.statistics\"") }.compactMap { line in
            (try? decoder.decode(Playout.self, from: Data(line.text.utf8))).map { ($0.data, line.at) }
        }
    }

    /// The shipped recording eight times over: 22 s.
    private func makeSpeech() throws -> URL {
        let wav = try Data(contentsOf: Program.package.appending(path: "Tests/Fixtures/ps-goforward.wav"))
        let sound = try WAVFile.read([UInt8](wav), mono: true).resampled(to: 48_000)
        let samples = (0..<8).flatMap { _ in sound.samples }
        var encoder = try OpusEncoder(application: .voip)
        var writer = try OggOpusWriter(OpusHead(preSkip: encoder.preSkip), tags: OpusTags(vendor: "test"), serial: 1)
        var file = try writer.start()
        for start in stride(from: 0, to: samples.count - 960, by: 960) {
            file += try writer.append(try encoder.encode(Array(samples[start..<start + 960])))
        }
        file += try writer.finish()
        let path = folder.file("speech.ogg")
        try Data(file).write(to: path)
        return path
    }

    /// Runs a gateway, a publisher beside it and subscribers behind the impaired network while `body` runs.
    ///
    /// - Returns: the statistics of a subscriber beside the gateway.
    private func call(
        on network: BadNetwork, listeners names: [String], _ body: ([RunningProgram]) async throws -> Void
    ) async throws -> Playout.Data? {
        let settings = folder.file("gateway.yaml")
        try Data("keys: {test: a-secret-of-at-least-32-characters}\n".utf8).write(to: settings)
        let gateway = try RunningProgram(
            network.patchbay(
                atFarEnd: false,
                [
                    "serve", "--host", "0.0.0.0", "--config", settings.path, "--cert", "certs/dev/server.cert.pem", "--key",
                    "certs/dev/server.key.pem",
                ]))
        defer { gateway.stop(times: 2) }
        await gateway.waits { !$0.isEmpty }
        let join = ["join", "--insecure", "--room", "lobby"] + key
        let listeners = try names.map { name in
            let arguments = join + ["--url", "wss://\(network.gatewayHost):7880", "--identity", name, "--listen", "--events"]
            return try RunningProgram(network.patchbay(atFarEnd: true, arguments))
        }
        let arguments = join + ["--url", "wss://127.0.0.1:7880", "--identity", "beside", "--listen", "--events"]
        let beside = try RunningProgram(network.patchbay(atFarEnd: false, arguments))
        defer { for listener in listeners + [beside] { listener.stop() } }
        for listener in listeners + [beside] { await listener.waits { $0.contains { $0.text.contains("\"hello\"") } } }
        let speaker = try RunningProgram(
            network.patchbay(
                atFarEnd: false, join + ["--url", "wss://127.0.0.1:7880", "--identity", "alice", "--play", makeSpeech().path, "--json"]))
        defer { speaker.stop() }
        try await body(listeners)
        let course = playouts(beside.lines).map(\.playout)
        guard var end = course.last else { return nil }
        end.delayMs = course.map(\.delayMs).max() ?? 0
        return end
    }

    @Test func fiftyMillisecondsAndTwoPercentLossNeedLittleConcealment() async throws {
        try await holdsInMostRuns { seed in
            var heard: [[Report]] = []
            let network = try BadNetwork(seed: seed)
            try network.set("delay 25")
            try network.set("loss 2")
            let beside = try await call(on: network, listeners: ["bob", "carol"]) { heard = await reports(20, of: $0) }
            let concealed = mean(heard.compactMap(\.last?.playout.concealedPercent))
            let delay = mean(heard.map { mean($0.dropFirst(3).map(\.playout.delayMs)) })
            let isComplete = heard.count == 2 && heard.allSatisfy { $0.count == 20 }
            return Run(
                holds: isComplete && concealed < 1 && delay < 120, summary: "\(concealed) % concealed, delay of \(delay) ms", beside: beside
            )
        }
    }

    @Test func twoSecondsAfterAnOutageOfThreeTheDelayIsWhatItWas() async throws {
        try await holdsInMostRuns { seed in
            var (before, after) = (0.0, Double.infinity)
            let network = try BadNetwork(seed: seed)
            try network.set("delay 25")
            let beside = try await call(on: network, listeners: ["bob"]) { listeners in
                before = mean(await reports(6, of: listeners)[0].suffix(3).map(\.playout.delayMs))
                try network.set("down")
                try await Task.sleep(for: .seconds(3))
                try network.set("up")
                let isDue = ContinuousClock.now + .seconds(2)
                await listeners[0].waits { lines in playouts(lines).contains { $0.at > isDue } }
                after = try #require(playouts(listeners[0].lines).first { $0.at > isDue }).playout.delayMs
            }
            return Run(holds: abs(after - before) <= 20, summary: "\(before) ms before, \(after) ms after", beside: beside)
        }
    }

    private struct Run {
        var holds: Bool
        var summary: String
        /// Statistics of a subscriber that is not behind the impaired network.
        var beside: Playout.Data?

        /// That subscriber has bad audio too, because the machine is overloaded.
        var isDisturbed: Bool { beside.map { $0.concealedPercent >= 0.2 || $0.delayMs >= 60 } ?? true }
    }

    /// Expects a bound to hold for the median of three runs with different packet losses. Two runs suffice if they agree. Failed runs on an
    /// overloaded machine are repeated, at most three times.
    private func holdsInMostRuns(_ run: (_ seed: Int) async throws -> Run) async throws {
        var runs: [Run] = []
        var disturbed = 0
        while runs.count(where: \.holds) < 2, runs.count(where: { !$0.holds }) < 2 {
            let new = try await run(7 + runs.count + disturbed)
            if !new.holds, new.isDisturbed, disturbed < 3 { disturbed += 1 } else { runs.append(new) }
        }
        #expect(runs.count(where: \.holds) == 2, "\(runs.map(\.summary).joined(separator: "; "))")
    }

    /// The listeners' first reports, as far as they come.
    private func reports(_ count: Int, of listeners: [RunningProgram]) async -> [[Report]] {
        for listener in listeners { await listener.waits { $0.filter { $0.text.contains("\"playout.statistics\"") }.count >= count } }
        return listeners.map { Array(playouts($0.lines).prefix(count)) }
    }

    private func mean(_ values: [Double]) -> Double {
        values.reduce(0, +) / Double(max(values.count, 1))
    }
}
