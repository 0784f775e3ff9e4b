import Foundation
import Testing

/// `Tests/Interop/apns_server.py`, a server that speaks APNs' contract: HTTP/2 over TLS and nothing else. It ends with its owner.
final class APNsServer: Sendable {
    struct Request: Decodable, Sendable {
        var path: String
        var fields: [String: String]
        var body: String
        /// From 1.
        var connection: Int
    }

    let url: String
    private let log = FileManager.default.temporaryDirectory.appending(path: "apns-\(UUID().uuidString)")
    /// The server's standard input: it ends when this process no longer holds it.
    private let input = Pipe()

    /// - Parameter answers: statuses and bodies in the order of the requests; the last one is repeated.
    init(_ answers: (status: Int, body: String)...) async throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
        let python = package.appending(path: ".venv-interop/bin/python")
        try #require(
            FileManager.default.isExecutableFile(atPath: python.path),
            "these tests need the Python environment of the interop tests: run `make interop` (or `make test`, which does it)")
        let list = try JSONSerialization.data(withJSONObject: answers.map { [$0.status, $0.body] as [Any] })
        let (files, output, process) = (Certificate.usual, Pipe(), Process())
        process.executableURL = python
        process.arguments = [
            package.appending(path: "Tests/Interop/apns_server.py").path, files.certificateURL.path, files.keyURL.path, log.path,
            String(decoding: list, as: UTF8.self),
        ]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var line = Data()
                while let byte = try? output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) {
                    line += byte
                }
                continuation.resume(returning: String(decoding: line, as: UTF8.self))
            }
        }
        let port = try #require(Int(line), "the server did not print its port")
        url = "https://127.0.0.1:\(port)"
    }

    deinit {
        try? FileManager.default.removeItem(at: log)
    }

    /// Those that were answered, and perhaps one more.
    var requests: [Request] {
        get throws {
            let lines = try Data(contentsOf: log).split(separator: UInt8(ascii: "\n"))
            return try lines.map { try JSONDecoder().decode(Request.self, from: $0) }
        }
    }
}
