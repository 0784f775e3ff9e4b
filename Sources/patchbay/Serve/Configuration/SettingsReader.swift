import Backend
import Configuration
import Foundation
import Logging
import YAMLSettings

/// Reads settings of the table from flags, environment and file, and reports invalid ones in one line (`UsageError`).
struct SettingsReader {
    private let config: ConfigReader
    private let file: ConfigurationFile?

    /// - Parameter flags: the values given as options of `serve`, by key.
    init(flags: [String: ConfigContent?], environment: [String: String], file: ConfigurationFile?) {
        let flags = flags.compactMapValues(\.self).map { (AbsoluteConfigKey(Self.components($0)), ConfigValue($1, isSecret: false)) }
        var providers: [any ConfigProvider] = [
            InMemoryProvider(name: "flags", values: Dictionary(uniqueKeysWithValues: flags)),
            EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: "patchbay"),
        ]
        if let file { providers.append(file.provider) }
        config = ConfigReader(providers: providers)
        self.file = file
    }

    // MARK: Values, or the table's defaults

    func text(_ key: String) throws -> String { try text(ifSet: key) ?? standard(key) }

    func number(_ key: String) throws -> Int {
        guard let value = try number(ifSet: key) ?? Int(standard(key)) else { preconditionFailure("the default of \(key) is no number") }
        return value
    }

    func seconds(_ key: String) throws -> Duration { .seconds(try number(key)) }

    func flag(_ key: String) throws -> Bool { try flag(ifSet: key) ?? (standard(key) == "true") }

    func choice<Value: RawRepresentable<String>>(_ key: String) throws -> Value {
        let text = try text(key)
        guard case .choice(let words) = Setting.named(key).kind else { preconditionFailure("\(key) is no choice") }
        guard words.contains(text), let value = Value(rawValue: text) else {
            throw UsageError("\(key): \"\(text)\" is not one of \(words.joined(separator: ", "))")
        }
        return value
    }

    private func standard(_ key: String) -> String {
        guard let standard = Setting.named(key).standard else { preconditionFailure("\(key) has no default") }
        return standard
    }

    // MARK: Values, or nil

    func text(ifSet key: String) throws -> String? {
        try present(key, "text") { try config.requiredString(forKey: $0) }
    }

    func texts(ifSet key: String) throws -> [String]? {
        try present(key, "texts, separated by commas") { try config.requiredStringArray(forKey: $0) }
    }

    func number(ifSet key: String) throws -> Int? {
        guard case .number(let range) = Setting.named(key).kind else { preconditionFailure("\(key) is no number") }
        guard let value = try present(key, "a whole number", { try config.requiredInt(forKey: $0) }) else { return nil }
        guard range ~= value else { throw UsageError("\(key): \(value) is not between \(range.lowerBound) and \(range.upperBound)") }
        return value
    }

    func flag(ifSet key: String) throws -> Bool? {
        try present(key, "true or false") { try config.requiredBool(forKey: $0) }
    }

    /// - Throws: if the value has the wrong type. That of a file has been checked (`ConfigurationFile`), so the environment has it.
    private func present<Value>(_ key: String, _ expected: String, _ read: (ConfigKey) throws -> Value) throws -> Value? {
        do {
            return try read(ConfigKey(Self.components(Setting.named(key).key)))
        } catch {
            // The library's error type is not public; only its text distinguishes missing from invalid values.
            if "\(error)".hasPrefix("Missing required") { return nil }
            throw UsageError("\(Setting.variable(of: key)) must be \(expected)")
        }
    }

    private static func components(_ key: String) -> [String] { key.split(separator: ".").map(String.init) }

    // MARK: All settings

    /// - Throws: `UsageError` for a setting that has no effect because the one it needs is missing.
    func refuseIdleSettings() throws {
        for setting in Setting.all {
            guard let needed = setting.needs.map(Setting.named), try isSet(setting), try !isProvided(needed) else { continue }
            let fault =
                setting.key == "accounts.confirm_email"
                ? "nobody would send the codes to users" : "has no effect without \(needed.provides ?? "`\(needed.key)`")"
            throw UsageError("\(setting.key): \(fault); set `\(needed.key)`, or remove it")
        }
    }

    /// Whether the setting is there, or the one that replaces it: a store in `database` provides what one in `data` does.
    private func isProvided(_ setting: Setting) throws -> Bool {
        if try isSet(setting) { return true }
        return try setting.key == "data" && isSet(Setting.named("database"))
    }

    private func isSet(_ setting: Setting) throws -> Bool {
        switch setting.kind {
        case .number: try number(ifSet: setting.key) != nil
        case .flag: try flag(ifSet: setting.key).map { "\($0)" != setting.standard } ?? false
        case .texts, .urls: try texts(ifSet: setting.key)?.isEmpty == false
        case .text, .url, .path, .choice: try text(ifSet: setting.key) != nil
        case .own: file?.settings[setting.key] != nil
        }
    }

    /// The settings in force, without secrets, and of URLs only the host.
    ///
    /// - Parameter others: values of the settings whose defaults depend on something else, and of those that the file itself reads.
    func summary(_ others: Logger.Metadata) throws -> Logger.Metadata {
        try Setting.all.filter { !$0.isSecret }.reduce(into: [:]) { summary, setting in
            Self.insert(try others[setting.key] ?? value(of: setting), at: Self.components(setting.key)[...], into: &summary)
        }
    }

    private func value(of setting: Setting) throws -> Logger.MetadataValue {
        let unset = Logger.MetadataValue.string(setting.defaultText ?? "")
        return switch setting.kind {
        case .number: try (number(ifSet: setting.key) ?? setting.standard.flatMap { Int($0) }).map { .stringConvertible($0) } ?? unset
        case .flag: try (flag(ifSet: setting.key) ?? setting.standard.map { $0 == "true" }).map { .stringConvertible($0) } ?? unset
        case .texts: try texts(ifSet: setting.key).map { .array($0.map { .string($0) }) } ?? unset
        case .urls: try .array((texts(ifSet: setting.key) ?? []).map { .string(EndpointName.host(of: $0)) })
        case .url: try text(ifSet: setting.key).map { .string(EndpointName.host(of: $0)) } ?? unset
        case .text, .path, .choice: try text(ifSet: setting.key).map { .string($0) } ?? unset
        case .own: unset
        }
    }

    private static func insert(_ value: Logger.MetadataValue, at path: ArraySlice<String>, into map: inout Logger.Metadata) {
        guard let name = path.first, path.count > 1 else { return map[path.first ?? ""] = value }
        var inner = if case .dictionary(let inner) = map[name] { inner } else { Logger.Metadata() }
        insert(value, at: path.dropFirst(), into: &inner)
        map[name] = .dictionary(inner)
    }
}

/// Checks the variables `PATCHBAY_…`: unlike the keys of a file, nothing else notices a misspelled one.
enum EnvironmentSettings {
    private static let prefix = "PATCHBAY_"
    /// Variables of `serve` that are no settings, of other commands and of the tests.
    private static let others: Set<String> = [
        "PATCHBAY_CONFIG", "PATCHBAY_MASTER_KEY", "PATCHBAY_MODELS", "PATCHBAY_API_KEY", "PATCHBAY_API_SECRET", "PATCHBAY_TOKEN",
        "PATCHBAY_PROFILE", "PATCHBAY_PASSWORD", "PATCHBAY_URL", "PATCHBAY_CHAT_URL", "PATCHBAY_CHAT_MODEL", "PATCHBAY_TRANSCRIPTION_URL",
        "PATCHBAY_TRANSCRIPTION_MODEL", "PATCHBAY_CALL_ROUNDS", "PATCHBAY_FUZZ", "PATCHBAY_WRITE_REFERENCE",
    ]

    /// - Returns: a sentence for each variable that is no setting.
    /// - Throws: `UsageError` for a setting that has no effect as a variable.
    static func check(_ environment: [String: String]) throws -> [String] {
        let known = others.union(Setting.all.compactMap(\.variable))
        let fileOnly = Set(Setting.all.filter { $0.variable == nil }.map(\.root)).sorted()
        return try environment.keys.filter { $0.hasPrefix(prefix) }.sorted().compactMap { name in
            if let key = fileOnly.first(where: { (name + "_").hasPrefix(Setting.variable(of: $0) + "_") }) {
                throw UsageError("\(name): has no effect; set `\(key)` in the configuration file")
            }
            if known.contains(name) { return nil }
            let meant = Suggestion.nearest(to: name, among: Array(known))
            return "\(name) is no setting; " + (meant.map { "did you mean \($0)?" } ?? "remove it")
        }
    }
}
