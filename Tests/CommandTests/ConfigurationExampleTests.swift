import Foundation
import Testing

@testable import patchbay

struct ConfigurationExampleTests {
    private static func example() throws -> String {
        try String(contentsOf: Program.package.appending(path: "patchbay.example.yaml"), encoding: .utf8)
    }

    /// The example with all settings in effect: prose comments begin with `# `, settings with `#` and a letter or an indentation.
    private static func settings() throws -> String {
        var isWithinMap = false
        return try example().split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            guard line.first == "#" else {
                isWithinMap = false
                return String(line)
            }
            let rest = line.dropFirst()
            let isProse = rest.first == " " && !(isWithinMap && rest.hasPrefix("  ")) || rest.hasPrefix("  # ")
            isWithinMap = !isProse || isWithinMap
            return isProse ? String(line) : String(rest).replacing("#secret:", with: "secret:")
        }.joined(separator: "\n")
    }

    @Test func theExampleChangesNothing() throws {
        #expect(try ConfigurationFile(yaml: Self.example(), name: "example").keys.isEmpty)
    }

    @Test func theExampleNamesEveryKey() throws {
        let file = try ConfigurationFile(yaml: Self.settings(), name: "example")
        #expect(file.keys == ConfigurationFile.allKeys)
        #expect(try file.assistants().count == 1 && file.dispatchRules().count == 1 && file.allowedOrigins().count == 1)
    }
}
