import CallCounter
import Foundation
import Gateway

/// Measures a gateway in this process while another process generates load.
struct Bench {
    let gateway: Gateway
    let loadtest: String

    /// Counts for 7 s, of which the gateway reports at least five whole ones, during 50 calls that send continuously.
    func measureFrameCost() async throws -> FrameCost {
        let load = try startLoad(calls: 50, seconds: 14)
        defer { end(load) }
        try await waitForParticipants(100)
        try await Task.sleep(for: .seconds(2))
        var samples: [FrameCost.Sample] = []
        let end = ContinuousClock.now + .seconds(7)
        while ContinuousClock.now < end {
            samples.append(FrameCost.Sample(frames: framesSent))
            try await Task.sleep(for: .milliseconds(5))
        }
        return FrameCost(samples)
    }

    /// Bytes allocated per connection: the difference between 1,000 and none, after warm-up.
    func measureConnectionBytes() async throws -> Int {
        try await waitForParticipants(0)
        let before = Int(call_counter_bytes())
        let load = try startLoad(calls: 500, seconds: 120, pattern: "silent")
        defer { end(load) }
        try await waitForParticipants(1_000)
        try await Task.sleep(for: .seconds(1))
        return (Int(call_counter_bytes()) - before) / 1_000
    }

    private var framesSent: UInt64 { gateway.metrics.snapshot.reduce(0) { $0 + $1.framesOut } }

    private func waitForParticipants(_ count: Int) async throws {
        for _ in 0..<400 {
            if gateway.metrics.snapshot.reduce(0, { $0 + $1.participants }) == count { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw ParticipantCountTimeout(
            description: "expected \(count) participants within 40 s, found \(gateway.metrics.snapshot.map(\.participants))")
    }

    private func startLoad(calls: Int, seconds: Int, pattern: String = "constant") throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: loadtest)
        process.arguments = [
            "--url", "wss://127.0.0.1:\(gateway.port)", "--dev", "--insecure", "--calls", "\(calls)", "--seconds", "\(seconds)",
            "--pattern", pattern, "--json",
        ]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        return process
    }

    private func end(_ process: Process) {
        // SIGTERM, which the gateway blocks, is blocked in its child processes, too.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}

struct ParticipantCountTimeout: Error, CustomStringConvertible {
    let description: String
}
