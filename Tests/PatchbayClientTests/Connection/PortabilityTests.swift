import Foundation
import Testing

/// The modules of the client library compile for Apple platforms: no Linux-only import outside a condition.
struct PortabilityTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test(arguments: ["Wire", "Audio", "PatchbayClient"])
    func platformImportsAreConditional(module: String) throws {
        let platforms: Set = ["Glibc", "Musl", "Darwin", "FoundationEssentials", "Network"]
        let serverOnly: Set = ["Sockets", "TLSRecords", "CLibwebsockets", "COpenSSL", "Identity", "Gateway"]
        let files = try #require(
            FileManager.default.enumerator(at: Self.root.appending(path: "Sources/\(module)"), includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            var conditions = 0
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                let words = line.split(separator: " ")
                if words.first == "#if" { conditions += 1 }
                if words.first == "#endif" { conditions -= 1 }
                guard let index = words.firstIndex(of: "import"), index <= 1, words.count > index + 1 else { continue }
                let name = String(words[index + 1])
                #expect(!serverOnly.contains(name), "\(file.lastPathComponent) imports \(name)")
                #expect(conditions > 0 || !platforms.contains(name), "\(file.lastPathComponent) imports \(name) without #if canImport")
            }
        }
    }
}
