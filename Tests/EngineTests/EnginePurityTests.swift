import Foundation
import Testing

/// The engine reads no clock, uses no randomness and performs no I/O.
struct EnginePurityTests {
    private static let forbidden = [
        "import Foundation", "Date(", "ContinuousClock", "SuspendingClock", "DispatchTime", "clock_gettime", "UUID(",
        "SystemRandomNumberGenerator", ".random(", ".shuffled(", ".randomElement(", "ObjectIdentifier", "ProcessInfo", "Glibc",
        "import Sockets", "lws_", "Task {", "Task.sleep",
    ]

    @Test func engineUsesNoIOClockOrRandomness() throws {
        let sources = try Self.sources()
        #expect(sources.count > 20, "the engine's sources were not found")
        for source in sources {
            let text = try String(contentsOf: source, encoding: .utf8)
            for name in Self.forbidden {
                #expect(!text.contains(name), "\(source.lastPathComponent) names \(name)")
            }
        }
    }

    private static func sources() throws -> [URL] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let engine = tests.deletingLastPathComponent().appending(path: "Sources/Engine").resolvingSymlinksInPath()
        let files = try #require(FileManager.default.enumerator(at: engine, includingPropertiesForKeys: nil))
        return files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
    }
}
