import Foundation
import PatchbayAgents
import Testing
import Wire

/// `Tests/Interop/providers/emulator.py` on a free port. It ends with this process.
struct OpenAIEmulator {
    let port: Int

    static let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized

    /// One for all tests.
    static func shared() async throws -> OpenAIEmulator { try await emulator.value }

    private static let emulator = Task { try await OpenAIEmulator() }
    /// Its standard input: the emulator ends when this process no longer holds it.
    private static let input = Pipe()

    private init() async throws {
        let python = Self.package.appending(path: ".venv-interop/bin/python")
        try #require(
            FileManager.default.isExecutableFile(atPath: python.path),
            "these tests need the Python environment of the interop tests: run `make interop` (or `make test`, which does it)")
        let process = Process()
        process.executableURL = python
        process.arguments = ["-W", "ignore", "Tests/Interop/providers/emulator.py"]
        process.currentDirectoryURL = Self.package
        let output = Pipe()
        process.standardInput = Self.input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
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
        port = try #require(Int(line), "the emulator did not print its port")
    }
}

/// A case of `Tests/Interop/providers/cases.json`, which `contract.py` runs with the official client.
struct ContractCase: Decodable, Sendable, CustomTestStringConvertible {
    var stage: String
    var title: String
    var model: String
    var say: String?
    var seconds: Double?
    var voice: String?
    var key: String?
    var timeoutMs: Int?
    var retries: Int?
    /// Whether the conversation contains a tool call and its result.
    var results: Bool?

    /// The code of the expected error; nil for success.
    var swift: String?
    var text: String?
    /// Calls as a name and the arguments' values.
    var tools: [String]?
    var endsCall: Bool?
    var rate: Int?
    var samples: Int?
    var heard: String?
    var cancelled: Bool?

    var testDescription: String { "\(stage): \(title)" }

    static func all(_ stage: String) -> [ContractCase] {
        let file = OpenAIEmulator.package.appending(path: "Tests/Interop/providers/cases.json")
        guard let text = try? Data(contentsOf: file),
            let cases = try? JSON.decode([ContractCase].self, from: Array(text), names: .snakeCase)
        else {
            fatalError("cannot read \(file.path)")
        }
        return cases.filter { $0.stage == stage }
    }

    /// The settings for the emulator, and the secret that they name.
    func settings() async throws -> (ProviderSettings, ProviderSecrets) {
        let port = try await OpenAIEmulator.shared().port
        let model = model.hasSuffix("-once") ? model + "/" + Hex.encode(randomBytes(4)) : model
        let settings = ProviderSettings(
            baseUrl: "http://127.0.0.1:\(port)/v1", apiKeyEnv: "KEY", model: model, voice: voice, timeoutMs: timeoutMs ?? 10_000,
            retries: retries ?? 0)
        return (settings, ["KEY": key ?? "key"])
    }
}
