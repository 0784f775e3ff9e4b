import Foundation
import Testing

/// The engine reads no clock, draws no lots and opens nothing: all that it knows, it is told.
struct EnginePurityTests {
    private static let forbidden = [
        "import Foundation", "Date(", "ContinuousClock", "SuspendingClock", "DispatchTime", "clock_gettime", "UUID(",
        "SystemRandomNumberGenerator", ".random(", ".shuffled(", ".randomElement(", "ObjectIdentifier", "ProcessInfo", "Glibc",
        "import Sockets", "lws_", "Task {", "Task.sleep",
    ]

    @Test func theEngineNamesNothingThatReachesOutside() throws {
        let sources = try Self.sources()
        #expect(sources.count > 20, "the engine's sources are somewhere else")
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
