import Foundation
import Testing
import Wire
import YAMLSettings

/// The documents about settings are what the table declares. `make reference` writes them anew.
@Suite(.serialized)
struct SettingReferenceTests {
    @Test func theExampleFileIsThatOfTheProgram() throws {
        try Document("patchbay.example.yaml").check { _ in SettingDocuments.exampleFile }
    }

    @Test func theReferenceIsThatOfTheProgram() throws {
        let titles = SettingDocuments.tableTitles
        let rows = [titles, titles.map { _ in "---" }] + SettingDocuments.table
        let table = rows.map { cells in
            "|" + cells.map { $0 == "---" ? "---|" : $0.isEmpty ? " |" : " \($0.replacing("|", with: "\\|")) |" }.joined() + "\n"
        }.joined()
        try Document("docs/settings.md").check { text in
            let parts = text.components(separatedBy: "<!-- generated -->\n\n")
            let rest = try #require(parts.last?.range(of: "\n<!-- /generated -->"), "docs/settings.md has no marks")
            return parts[0] + "<!-- generated -->\n\n" + table + parts[1][rest.lowerBound...]
        }
    }

    /// A file of the repository.
    private struct Document {
        let name: String
        private let url: URL

        init(_ name: String) {
            self.name = name
            url = URL(filePath: #filePath).appending(path: "../../../\(name)").standardizedFileURL
        }

        /// Compares, or writes what the program says if `PATCHBAY_WRITE_REFERENCE` is set.
        func check(_ expected: (String) throws -> String) throws {
            let text = try String(contentsOf: url, encoding: .utf8)
            let meant = try expected(text)
            if ProcessInfo.processInfo.environment["PATCHBAY_WRITE_REFERENCE"] != nil {
                try meant.write(to: url, atomically: true, encoding: .utf8)
            } else {
                #expect(text == meant, "\(name) is out of date; run `make reference`")
            }
        }
    }
}

struct SettingTests {
    /// The example with all settings in effect: prose comments begin with `# `, settings with `#` and a letter, a dash or two spaces.
    private static var everything: String {
        SettingDocuments.exampleFile.split(separator: "\n").filter { line in
            !(line.hasPrefix("# ") && !line.hasPrefix("#  ")) && !line.dropFirst().trimmingPrefix { $0 == " " }.hasPrefix("# ")
        }.map { $0.dropFirst() }.joined(separator: "\n")
    }

    @Test func theExampleChangesNothing() throws {
        #expect(try ConfigurationFile(yaml: SettingDocuments.exampleFile, name: "example").keys.isEmpty)
    }

    @Test func theExampleHasEverySettingWithItsDefault() throws {
        let file = try ConfigurationFile(yaml: Self.everything, name: "example")
        #expect(file.keys == Set(Setting.all.map(\.key)))
        for setting in Setting.all {
            if let standard = setting.standard { #expect("\(file.settings[setting.key]?.written ?? "")" == standard, "\(setting.key)") }
        }
        #expect(try file.assistants().count == 1 && file.dispatchRules().count == 1 && file.allowedOrigins().count == 1)
    }

    @Test func everyLineOfTheHelpFitsATerminal() {
        #expect(!SettingDocuments.help.split(separator: "\n").contains { $0.count > 78 || !$0.hasPrefix("  ") })
    }

    @Test func settingsNeedSettingsThatExist() {
        for setting in Setting.all { if let needed = setting.needs { #expect(Setting.named(needed).provides != nil, "\(setting.key)") } }
    }

    @Test func everySettingHasASentence() {
        for setting in Setting.all { #expect(setting.summary.contains(/^[A-Za-z].*[.:]/), "\(setting.key)") }
    }
}
