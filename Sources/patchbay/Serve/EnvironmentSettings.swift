/// Checks the variables `PATCHBAY_…`: unlike the keys of a file, nothing else notices a misspelled one.
enum EnvironmentSettings {
    private static let prefix = "PATCHBAY_"
    /// Lists and maps that only a file can hold.
    private static let fileOnly = ["allowed_origins", "assistants", "dispatch", "users"]
    /// Variables of `serve` without a key in the file, of other commands and of the tests.
    private static let others: Set<String> = [
        "CONFIG", "KEYS", "MASTER_KEY", "MODELS", "API_KEY", "API_SECRET", "TOKEN", "PASSWORD", "URL", "CHAT_URL", "CHAT_MODEL",
        "TRANSCRIPTION_URL", "TRANSCRIPTION_MODEL", "CALL_ROUNDS", "FUZZ",
    ]

    /// - Returns: a sentence for each variable that is no setting.
    /// - Throws: `UsageError` for a setting that has no effect as a variable.
    static func check(_ environment: [String: String]) throws -> [String] {
        let settings = Dictionary(ConfigurationFile.allKeys.map { (name(of: $0), $0) }) { first, _ in first }
        let names = environment.keys.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }.sorted()
        var warnings: [String] = []
        for name in names {
            if let key = fileOnly.first(where: { name == Self.name(of: $0) || name.hasPrefix(Self.name(of: $0) + "_") }) {
                throw UsageError("\(prefix)\(name): has no effect; set `\(key)` in the configuration file")
            }
            guard settings[name] == nil, !others.contains(name) else { continue }
            let near = Suggestion.nearest(to: name, among: Array(settings.keys) + Array(others))
            warnings.append("\(prefix)\(name) is no setting\(near.map { "; did you mean \(prefix)\($0)?" } ?? "; remove it")")
        }
        return warnings
    }

    /// The variable of a key: `ROOM_EMPTY_TIMEOUT` for `room.empty_timeout`.
    private static func name(of key: String) -> String { key.replacing(".", with: "_").uppercased() }
}
