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

    /// How much a thousand connections more take, once a hundred have been there.
    func bytesOfAConnection() async throws -> Int {
        try await waitForParticipants(0)
        let few = try start(calls: 50, seconds: 30, pattern: "silent")
        defer { end(few) }
        try await waitForParticipants(100)
        try await Task.sleep(for: .seconds(1))
        let before = Self.residentBytes
        let many = try start(calls: 500, seconds: 30, pattern: "silent")
        defer { end(many) }
        try await waitForParticipants(1_100)
        try await Task.sleep(for: .seconds(1))
        return (Self.residentBytes - before) / 1_000
    }

    private var framesSent: UInt64 { gateway.metrics.snapshot.reduce(0) { $0 + $1.framesOut } }

    private func waitForParticipants(_ count: Int) async throws {
        for _ in 0..<600 where gateway.metrics.snapshot.reduce(0, { $0 + $1.participants }) != count {
            try await Task.sleep(for: .milliseconds(100))
        }
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

    /// Without what the allocator keeps of memory that was given back: how much that is depends on how many came at once.
    private static var residentBytes: Int {
        call_counter_trim()
        let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
    }
}
