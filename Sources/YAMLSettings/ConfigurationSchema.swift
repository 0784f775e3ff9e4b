/// Checks a configuration file against the table of settings.
enum ConfigurationSchema {
    /// - Returns: the value of each setting by its key, those of maps as `room.auto_create`.
    static func flattened(_ tree: YAMLMap, prefix: String = "") -> [String: YAMLValue] {
        tree.names.reduce(into: [:]) { settings, name in
            let key = prefix + name
            if Setting.byKey[key] == nil, !names(under: key + ".").isEmpty {
                settings.merge(flattened(tree[name]?.map ?? YAMLMap(), prefix: key + ".")) { $1 }
            } else {
                settings[key] = tree[name]
            }
        }
    }

    /// The names of settings and maps whose keys begin with `prefix`, without it.
    private static func names(under prefix: String) -> Set<Substring> {
        Set(Setting.all.filter { $0.key.hasPrefix(prefix) }.map { $0.key.dropFirst(prefix.count).prefix { $0 != "." } })
    }

    /// The first unknown key or wrong value of a file, as a sentence; nil if there is none.
    static func fault(in tree: YAMLMap, prefix: String = "") -> String? {
        for name in tree.names.sorted() {
            let key = prefix + name
            guard let value = tree[name] else { continue }
            if let setting = Setting.byKey[key] {
                if let fault = fault(in: value, of: setting) { return fault }
                continue
            }
            let fields = names(under: key + ".")
            guard !fields.isEmpty else { return unknown(key, among: names(under: prefix).map { prefix + $0 }) }
            guard let map = value.map else { return wrong(key, "a map with \(fields.sorted().joined(separator: ", "))", value) }
            if let fault = fault(in: map, prefix: key + ".") { return fault }
        }
        return nil
    }

    package static func unknown(_ key: String, among known: [String]) -> String {
        let hint =
            Suggestion.nearest(to: key, among: known).map { "did you mean `\($0)`?" }
            ?? "use one of \(known.sorted().joined(separator: ", "))"
        return "unknown key `\(key)`; \(hint)"
    }

    private static func fault(in value: YAMLValue, of setting: Setting) -> String? {
        switch (setting.kind, value.content) {
        case (.own, .empty): wrong(setting.key, "set", value)
        case (.own, _), (.number, .integer), (.flag, .flag): nil
        case (.number, _): wrong(setting.key, "a whole number, without quotes or a unit", value)
        case (.flag, _): wrong(setting.key, "true or false, without quotes", value)
        case (.text, _), (.url, _), (.path, _), (.choice, _): value.scalar == nil ? wrong(setting.key, "text", value) : nil
        case (.texts, _), (.urls, _):
            value.list?.allSatisfy { $0.scalar != nil } ?? false ? nil : wrong(setting.key, "a list of texts", value)
        }
    }

    /// Never quotes the values of lists and maps, which may be secrets.
    private static func wrong(_ key: String, _ expected: String, _ value: YAMLValue) -> String {
        let found =
            switch value.content {
            case .empty: "empty"
            case .list: "a list"
            case .map: "a map"
            case .flag(let flag): "\(flag)"
            case .text: "the text \"\(value.written.prefix(40))\""
            case .integer, .number, .other: value.written
            }
        return "`\(key)` must be \(expected), not \(found)"
    }
}

/// Finds what was probably meant by a misspelled name.
package enum Suggestion {
    /// - Returns: the known name with the fewest changes from `name`; nil if all need more than one, or more than one for three characters.
    package static func nearest(to name: String, among known: [String]) -> String? {
        known.sorted().map { ($0, distance($0, name)) }.filter { $0.1 <= max(1, min(3, $0.0.count / 3)) }.min { $0.1 < $1.1 }?.0
    }

    /// The number of characters to insert, delete, replace or exchange with their neighbour (optimal string alignment distance).
    private static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        var rows = [Array(0...right.count)]
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                let replaced = rows[i][j] + (left[i] == right[j] ? 0 : 1)
                row.append(min(rows[i][j + 1] + 1, row[j] + 1, replaced))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] { row[j + 1] = min(row[j + 1], rows[i - 1][j - 1] + 1) }
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
