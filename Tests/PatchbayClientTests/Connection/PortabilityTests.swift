import Foundation
import Testing

/// Checks on Linux that the client library can be compiled for Apple platforms: its part of the package graph has no system library, and no
/// platform's module is imported unconditionally.
struct PortabilityTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test(arguments: ["ios", "macos", "tvos", "watchos", "visionos"], ["PatchbayClient", "AssistantWidgetModel"])
    func noSystemLibraryRemainsOnApplePlatforms(platform: String, product: String) throws {
        let manifest = try PackageManifest.shared.get()
        let targets = try #require(manifest.targets(of: product, on: platform))
        #expect(targets.contains { $0.name == product })
        #expect(targets.filter { $0.type == "system" }.map(\.name) == [])
    }

    /// Checks that the manifest's reader recognizes system libraries.
    @Test func theCodecOfLinuxIsASystemLibrary() throws {
        let manifest = try PackageManifest.shared.get()
        let targets = try #require(manifest.targets(of: "PatchbayClient", on: "linux"))
        #expect(Set(targets.filter { $0.type == "system" }.map(\.name)) == ["COpus", "CSpeexDSP"])
    }

    @Test(arguments: ["Wire", "Audio", "PatchbayClient", "AssistantWidgetModel"])
    func platformImportsAreConditional(module: String) throws {
        let platforms: Set = [
            "Glibc", "Musl", "Darwin", "FoundationEssentials", "Network", "COpus", "CSpeexDSP", "AVFAudio", "AudioToolbox",
        ]
        let serverOnly: Set = ["Sockets", "TLSRecords", "CLibwebsockets", "COpenSSL", "Identity", "Gateway", "OggOpus", "COgg"]
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

/// The repository's manifest as evaluated by SwiftPM.
private struct PackageManifest: Decodable {
    static let shared = Result { try PackageManifest() }

    struct Target: Decodable {
        var name: String
        /// `system` for a system library.
        var type: String
        var dependencies: [Dependency]
    }

    /// A target of this package or a product of another one, with the platforms it applies to; nil for all.
    struct Dependency: Decodable {
        var target: String?
        var platforms: [String]?

        private struct Condition: Decodable {
            var platformNames: [String]?
        }

        private enum Kind: String, CodingKey { case byName, target, product }

        init(from decoder: any Decoder) throws {
            let kinds = try decoder.container(keyedBy: Kind.self)
            // A list with the name; for products, also the package and its aliases; the condition comes last.
            let kind = try #require(kinds.allKeys.first)
            var fields = try kinds.nestedUnkeyedContainer(forKey: kind)
            let name = try fields.decode(String.self)
            if kind != .product { target = name }
            while !fields.isAtEnd {
                if let condition = try? fields.decode(Condition.self) {
                    platforms = condition.platformNames.flatMap { $0.isEmpty ? nil : $0 }
                } else if (try? fields.decodeNil()) != true {
                    _ = try? fields.decode(Skipped.self)
                }
            }
        }

        /// A value that is skipped.
        private struct Skipped: Decodable {
            init(from decoder: any Decoder) {}
        }
    }

    struct Product: Decodable {
        var name: String
        var targets: [String]
    }

    private var targets: [Target]
    private var products: [Product]

    private init() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "patchbay-manifest-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        // A separate scratch path: the repository's is locked while its tests run.
        process.arguments = [
            "swift", "package", "--package-path", root.path, "--scratch-path", directory.path, "dump-package",
        ]
        process.standardOutput = output
        try process.run()
        let manifest = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.fileReadUnknown) }
        self = try JSONDecoder().decode(Self.self, from: manifest)
    }

    /// Returns the targets of this package that a product consists of on a platform; nil if there is no such product.
    ///
    /// Conditions on traits count as met, so that no combination of traits can add a target.
    func targets(of product: String, on platform: String) -> [Target]? {
        guard let product = products.first(where: { $0.name == product }) else { return nil }
        var found: [String: Target] = [:]
        var names = product.targets
        while let name = names.popLast() {
            guard found[name] == nil, let target = targets.first(where: { $0.name == name }) else { continue }
            found[name] = target
            names += target.dependencies.filter { $0.platforms?.contains(platform) ?? true }.compactMap(\.target)
        }
        return Array(found.values)
    }
}
