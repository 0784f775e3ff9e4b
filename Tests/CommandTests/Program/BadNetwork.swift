import Foundation
import Synchronization

/// Two network namespaces joined by a wire that is as bad as one likes: `Tests/BadNetwork/badnetwork.c`, compiled when it is first needed.
///
/// Lives as long as this object; the namespaces go with it.
final class BadNetwork {
    /// Why there can be none here; nil if there can.
    static let obstacle: String? = {
        do {
            _ = try BadNetwork(seed: 1)
            return nil
        } catch {
            return "\(error)"
        }
    }()

    private static let program = Result { try compile() }
    private static let count = Atomic(0)

    private let process: Process
    private let orders = Pipe()
    private let answers = Pipe()
    private let name: String

    /// The gateway's address, in the namespace `near`.
    let gatewayHost = "10.77.0.1"

    /// - Parameter seed: of the lots that packets draw.
    init(seed: Int) throws {
        name = "patchbay-\(getpid())-\(Self.count.add(1, ordering: .relaxed).newValue)"
        process = Process()
        process.executableURL = try Self.program.get()
        process.arguments = [name, "\(seed)"]
        process.standardInput = orders
        process.standardOutput = answers
        process.standardError = FileHandle.nullDevice
        try process.run()
        let greeting = answer()
        guard greeting == "ready" else { throw Program.Missing(what: "a network to make bad (\(greeting))") }
    }

    deinit {
        try? orders.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Changes the wire; returns when it is so. `delay 50`, `loss 2`, `down`, `up`.
    func set(_ order: String) throws {
        try orders.fileHandleForWriting.write(contentsOf: Data((order + "\n").utf8))
        let answer = answer()
        guard answer == "ok" else { throw Program.Missing(what: "obedience to \"\(order)\": \(answer)") }
    }

    /// The command, to be run at one end of the wire.
    func patchbay(atFarEnd isFar: Bool, _ arguments: [String]) throws -> Process {
        let command = try Program.executable.path
        return try Program.process(
            URL(filePath: "/usr/bin/env"), ["ip", "netns", "exec", "\(name)-\(isFar ? "b" : "a")", command] + arguments, [:])
    }

    private func answer() -> String {
        var line = Data()
        while let byte = try? answers.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) { line += byte }
        return String(decoding: line, as: UTF8.self)
    }

    private static func compile() throws -> URL {
        let program = FileManager.default.temporaryDirectory.appending(path: "patchbay-badnetwork-\(getpid())")
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = ["clang", "-O1", "-o", program.path, Program.package.appending(path: "Tests/BadNetwork/badnetwork.c").path]
        compiler.standardError = FileHandle.nullDevice
        try compiler.run()
        compiler.waitUntilExit()
        guard compiler.terminationStatus == 0 else { throw Program.Missing(what: "a C compiler, clang") }
        return program
    }
}
