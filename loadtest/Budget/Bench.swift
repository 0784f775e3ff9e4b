import CallCounter
import Foundation
import Gateway

/// A gateway here, and calls to it from another process.
struct Bench {
    let gateway: Gateway
    let loadtest: String

    /// Counts over some seconds in the middle of fifty calls that talk all the time.
    func costOfAFrame() async throws -> FrameCost {
        let calls = try start(calls: 50, seconds: 12)
        defer { end(calls) }
        try await waitForParticipants(100)
        try await Task.sleep(for: .seconds(2))
        var samples: [FrameCost.Sample] = []
        let end = ContinuousClock.now + .seconds(6)
        while ContinuousClock.now < end {
            samples.append(FrameCost.Sample(frames: framesSent))
            try await Task.sleep(for: .milliseconds(5))
        }
        return FrameCost(samples)
    }

    /// How much each of a thousand connections takes, for a gateway that has had some.
    func bytesOfAConnection() async throws -> Int {
        try await waitForParticipants(0)
        let before = Int(call_counter_bytes())
        let calls = try start(calls: 500, seconds: 120, pattern: "silent")
        defer { end(calls) }
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
        throw Unreached(description: "there were never \(count) participants, but \(gateway.metrics.snapshot.map(\.participants))")
    }

    private func start(calls: Int, seconds: Int, pattern: String = "constant") throws -> Process {
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
        process.terminate()
        process.waitUntilExit()
    }
}

struct Unreached: Error, CustomStringConvertible {
    let description: String
}
