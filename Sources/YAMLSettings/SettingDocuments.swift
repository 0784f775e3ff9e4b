/// Documents that are generated from the table of settings.
package enum SettingDocuments {
    /// `patchbay.example.yaml`: all settings as comments.
    package static var exampleFile: String {
        """
        # Configuration of `patchbay serve --config FILE`. Every setting is listed, with its default, or with an example where there is none.
        # Remove the `#` of a line to change a setting. Environment variables (PATCHBAY_PORT, PATCHBAY_ROOM_EMPTY_TIMEOUT, …) and flags
        # override the file. Paths are relative to this file. `patchbay serve --config FILE --check` tests it without starting the gateway.

        """
            + Setting.sections.map { section in
                "\n# ---- \(section.title)\n\n" + lines(of: section.settings, columns: 138, isCommented: true).map { $0 + "\n" }.joined()
            }.joined()
    }

    /// The settings for `serve --help`, in lines of up to 78 characters that begin with two spaces.
    package static var help: String {
        lines(of: Setting.all, columns: 76, isCommented: false).map { "  " + $0 }.joined(separator: "\n")
    }

    /// The rows of `docs/settings.md`.
    package static var table: [[String]] {
        Setting.all.map { setting in
            let sources = [setting.option.map { "`--\($0)`" }, setting.isFileOnly ? "file only" : nil].compactMap(\.self)
            let standard = setting.otherwise ?? setting.standard.map { "`\($0)`" } ?? ""
            return [
                "`\(setting.key)`", setting.kind.name + (setting.isSecret ? " (secret)" : ""), standard, sources.joined(separator: ", "),
                setting.isReloaded ? "yes" : "", setting.needs.map { "`\($0)`" } ?? "", setting.summary,
            ]
        }
    }

    package static let tableTitles = ["setting", "type", "default", "flag", "reload", "needs", "meaning"]

    /// YAML with the sentence of each setting before it.
    private static func lines(of settings: [Setting], columns: Int, isCommented: Bool) -> [String] {
        let mark = isCommented ? "#" : ""
        var lines: [String] = []
        var open: [String] = []
        for setting in settings {
            var maps = setting.key.split(separator: ".").map(String.init)
            let name = maps.removeLast()
            for (depth, map) in maps.enumerated() where !open.starts(with: maps[...depth]) {
                lines.append(mark + String(repeating: "  ", count: depth) + map + ":")
            }
            open = maps
            let indent = String(repeating: "  ", count: maps.count)
            let prose = setting.summary + (setting.otherwise.map { " Default: \($0)." } ?? "")
            let proseIndent = maps.isEmpty ? "" : mark + indent
            lines += wrapped(prose, columns: columns - proseIndent.count - 2).map { proseIndent + "# " + $0 }
            let value = (setting.standard ?? setting.example ?? "").split(separator: "\n", omittingEmptySubsequences: false)
            lines.append("\(mark)\(indent)\(name):" + (value[0].isEmpty ? "" : " \(value[0])"))
            lines += value.dropFirst().map { "\(mark)\(indent)  \($0)" }
        }
        return lines
    }

    private static func wrapped(_ text: String, columns: Int) -> [String] {
        text.split(separator: " ").reduce(into: [""]) { lines, word in
            let last = lines.count - 1
            if lines[last].isEmpty {
                lines[last] = String(word)
            } else if lines[last].count + 1 + word.count <= columns {
                lines[last] += " " + word
            } else {
                lines.append(String(word))
            }
        }
    }
}
