import Foundation
import Testing

/// The built command, run as a user runs it.
struct Program {
    struct Outcome {
        var status: Int32
        var output: String
        var complaint: String
    }

    /// The folder of the package: certificates and fixtures are found from here.
    static let package = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL

    /// The executable lies beside the test bundle.
    static var executable: URL {
        get throws {
            let bundles = CommandLine.arguments.filter { $0.hasSuffix(".xctest") } + [CommandLine.arguments[0]]
            for bundle in bundles {
                let candidate = URL(filePath: bundle).deletingLastPathComponent().appending(path: "patchbay")
                if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
            }
            throw Missing(what: "the executable `patchbay` beside \(bundles)")
        }
    }

    struct Missing: Error, CustomStringConvertible {
        var what: String
        var description: String { "not found: \(what)" }
    }

    /// Runs a program to its end.
    ///
    /// - Parameter seconds: after which it is killed; its status is then that of the signal.
    static func run(
        _ executable: URL? = nil, _ arguments: [String], environment: [String: String] = [:], seconds: Double = 60
    ) async throws -> Outcome {
        let process = try process(executable, arguments, environment)
        let output = Pipe()
        let complaint = Pipe()
        process.standardOutput = output
        process.standardError = complaint
        async let outputData = readAll(output)
        async let complaintData = readAll(complaint)
        let status = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int32, any Error>) in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                continuation.resume(throwing: error)
                return
            }
            let pid = process.processIdentifier
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak process] in
                if process?.isRunning == true { kill(pid, SIGKILL) }
            }
        }
        return Outcome(status: status, output: await outputData, complaint: await complaintData)
    }

    static func process(_ executable: URL?, _ arguments: [String], _ environment: [String: String]) throws -> Process {
        let process = Process()
        process.executableURL = try executable ?? Self.executable
        process.arguments = arguments
        process.currentDirectoryURL = package
        process.standardInput = FileHandle.nullDevice
        // The profiles of whoever runs the tests are not theirs.
        process.environment = ProcessInfo.processInfo.environment
            .merging(["XDG_CONFIG_HOME": "/nonexistent", "PATCHBAY_PROFILE": ""]) { $1 }.merging(environment) { $1 }
        return process
    }

    /// On a thread of its own: a blocked read must not take one of Swift's.
    private static func readAll(_ pipe: Pipe) async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let data = pipe.fileHandleForReading.readDataToEndOfFile()
                continuation.resume(returning: String(decoding: data, as: UTF8.self))
            }
        }
    }
}

/// `patchbay serve --dev` on a free port.
final class ServedGateway {
    let port: Int
    private let process: Process

    /// - Parameter log: a file for standard error, which is created; nil discards it.
    init(_ arguments: [String] = [], environment: [String: String] = [:], log: URL? = nil) async throws {
        let process = try Program.process(nil, ["serve", "--dev", "--port", "0"] + arguments, environment)
        let output = Pipe()
        process.standardOutput = output
        if let log { try Data().write(to: log) }
        process.standardError = try log.map { try FileHandle(forWritingTo: $0) } ?? .nullDevice
        try process.run()
        self.process = process
        let line = await Self.firstLine(output)
        guard let port = line.firstMatch(of: /wss:\/\/[^"\s]*:(\d+)/).flatMap({ Int($0.1) }) else {
            process.terminate()
            throw Program.Missing(what: "a port in the first line of `serve`: \"\(line)\"")
        }
        self.port = port
    }

    var url: String { "wss://127.0.0.1:\(port)" }
    var processID: Int32 { process.processIdentifier }

    func signal(_ number: Int32) {
        kill(process.processIdentifier, number)
    }

    /// Waits for the end requested by a signal.
    func status() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [process] in
                process.waitUntilExit()
                continuation.resume(returning: process.terminationStatus)
            }
        }
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    private static func firstLine(_ pipe: Pipe) async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var line = Data()
                while let byte = try? pipe.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) { line += byte }
                continuation.resume(returning: String(decoding: line, as: UTF8.self))
                // Keep reading, because the gateway would block on a full pipe.
                while let more = try? pipe.fileHandleForReading.read(upToCount: 4_096), !more.isEmpty {}
            }
        }
    }
}

extension ServedGateway {
    /// Waits until a room has a participant, according to `patchbay room show`.
    func waits(for identity: String, in room: String) async throws {
        for _ in 0..<100 {
            let outcome = try await Program.run(nil, ["room", "show", room, "--json", "--dev", "--url", url], seconds: 10)
            if outcome.status == 0, outcome.output.contains("\"\(identity)\"") { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Program.Missing(what: "\(identity) in the room \(room) within 100 looks")
    }
}
