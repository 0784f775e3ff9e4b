import ArgumentParser
import Foundation
import Testing

@testable import patchbay

/// What the Debian package adds to the command; `make test-packages` tests the package itself.
struct PackagingTests {
    private static func names(of command: any ParsableCommand.Type, under path: String = "") -> [String] {
        let name = path + (command.configuration.commandName ?? "")
        return [name] + command.configuration.subcommands.flatMap { names(of: $0, under: name + " ") }
    }

    @Test func theManualPageDescribesEveryCommand() async throws {
        let script = #""$0" --experimental-dump-help | packaging/manual-page 0.1.0 2026-01-01"#
        let outcome = try await Program.run(
            URL(filePath: "/usr/bin/env"), ["bash", "-euo", "pipefail", "-c", script, try Program.executable.path], seconds: 20)
        #expect(outcome.status == 0, "\(outcome.complaint)")
        let headings = outcome.output.replacing("\\", with: "").split(separator: "\n").filter { $0.hasPrefix(".SS ") }
        let commands = Self.names(of: PatchbayCommand.self).dropFirst()
        #expect(headings.map { $0.dropFirst(4).trimmingCharacters(in: ["\""]) } == Array(commands))
        // Samples keep their lines and their backslashes.
        #expect(outcome.output.contains(#"patchbay join \-\-dev \-\-room lobby \-\-identity alice \e"#))
    }

    @Test func theUnitAllowsWhatTheDefaultsNeed() throws {
        let unit = try String(contentsOf: Program.package.appending(path: "packaging/patchbay.service"), encoding: .utf8)
        let example = try String(contentsOf: Program.package.appending(path: "patchbay.example.yaml"), encoding: .utf8)
        func number(_ name: String, _ separator: String, in text: String) throws -> Int {
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name + separator) })
            return try #require(Int(line.dropFirst((name + separator).count)))
        }
        let drain = try number("#drain_timeout", ": ", in: example)
        let connections = try number("#connections_max", ": ", in: example)
        #expect(try number("TimeoutStopSec", "=", in: unit) > drain + 10)
        #expect(try number("LimitNOFILE", "=", in: unit) > connections + 10_000)
        #expect(unit.contains("ExecStart=/usr/bin/patchbay serve --config /etc/patchbay/patchbay.yaml\n"))
    }
}
