import Backend
import Configuration
import Foundation
import HTTPServer
import Identity
import SystemPackage
import Wire
import Yams

/// The YAML file as a tree, for what swift-configuration does not support: unknown keys, paths relative to the file, lists of maps, and issuers
/// with arbitrary names.
struct ConfigurationFile {
    private let name: String
    private let path: String?
    private let tree: [String: Any]
    /// The names under `keys` in the file's order, because the first key with a secret signs.
    private let issuerNames: [String]

    init(path: String) throws {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw UsageError("cannot read the configuration \(path); check the path and its permissions")
        }
        try self.init(yaml: text, name: path, path: path)
    }

    init(yaml: String, name: String, path: String? = nil) throws {
        self.name = name
        self.path = path
        let loaded: Any?
        do {
            loaded = try Yams.load(yaml: yaml)
            issuerNames = try Yams.compose(yaml: yaml)?.mapping?["keys"]?.mapping?.compactMap(\.key.string) ?? []
        } catch {
            let line = "\(error)".split(separator: "\n").first.map(String.init) ?? "it does not parse"
            throw UsageError("\(name) is not valid YAML: \(line)")
        }
        guard let tree = (loaded ?? [String: Any]()) as? [String: Any] else {
            throw UsageError("\(name) must be a map of settings, such as `port: 7880`")
        }
        self.tree = tree
        if let fault = ConfigurationSchema.fault(in: tree) { throw UsageError("\(name): \(fault)") }
    }

    /// The file of `--config` or PATCHBAY_CONFIG; nil if neither is given.
    static func load(flags: ServeCommand) throws -> ConfigurationFile? {
        try (flags.config ?? ProcessInfo.processInfo.environment["PATCHBAY_CONFIG"]).map(ConfigurationFile.init(path:))
    }

    /// The keys of the file; those of maps as `room.auto_create`.
    var keys: Set<String> { Set(ConfigurationSchema.flattened(tree).keys) }

    /// Everything that can be configured, as in `keys`.
    static var allKeys: Set<String> { Set(ConfigurationSchema.kinds.keys) }

    /// The value of each setting as YAML, secrets included, by its key as in `keys`.
    func settings() throws -> [String: String] {
        try ConfigurationSchema.flattened(tree).mapValues { try Yams.dump(object: $0, sortKeys: true) }
    }

    /// The settings for swift-configuration: first the paths, which are relative to the file, then everything.
    func providers() async throws -> [any ConfigProvider] {
        do {
            let paths = Dictionary(
                uniqueKeysWithValues: ConfigurationSchema.flattened(tree).compactMap { key, value -> (AbsoluteConfigKey, ConfigValue)? in
                    guard case .path = ConfigurationSchema.kinds[key] else { return nil }
                    return (
                        AbsoluteConfigKey(key.split(separator: ".").map(String.init)),
                        ConfigValue(.string(resolved("\(value)")), isSecret: false)
                    )
                })
            return [
                InMemoryProvider(name: "paths of \(name)", values: paths),
                try await FileProvider<SettingsSnapshot>(filePath: FilePath(path ?? "")),
            ]
        } catch {
            throw UsageError("\(name) cannot be used as a configuration: \(error)")
        }
    }

    /// A path of the file, relative to its directory.
    private func resolved(_ path: String) -> String {
        guard let file = self.path, !path.isEmpty else { return path }
        return FilePath(file).removingLastComponent().pushing(FilePath(path)).string
    }

    /// The issuers under `keys`: a secret, or a map with `algorithm` and `secret` or `public_key_file`.
    func issuers() throws -> [IssuerSettings] {
        guard let keys = tree["keys"] else { return [] }
        guard let keys = keys as? [String: Any] else {
            throw UsageError("\(name): `keys` must be a map, such as `keys: {my-app: a-long-secret}`")
        }
        return try issuerNames.compactMap { name in keys[name].map { (name, $0) } }.map { issuer, value in
            if let fields = value as? [String: Any] { return try self.issuer(issuer, fields) }
            return IssuerSettings(issuer: issuer, algorithm: .hs256, key: try secret(value, of: "keys.\(issuer)"))
        }
    }

    /// The issuer of users' tokens under `users`: like an entry of `keys`, with name and audience.
    func outsideIssuer() throws -> (issuer: IssuerSettings, audience: String?)? {
        guard let fields = tree["users"] as? [String: Any] else { return nil }
        guard let name = fields["issuer"] as? String else { throw UsageError("\(self.name): users.issuer is missing") }
        return (try issuer(name, fields.filter { $0.key != "issuer" && $0.key != "audience" }), fields["audience"] as? String)
    }

    /// `allowed_origins`: a string or a list.
    func allowedOrigins() throws -> [String] {
        switch tree["allowed_origins"] {
        case nil: []
        case let origin as String: [origin]
        case let origins as [String]: origins
        default: throw UsageError("\(name): `allowed_origins` must be a list, such as `allowed_origins: [https://app.example]`")
        }
    }

    /// `assistants`: a list of definitions. A tool's `parameters` may be a map instead of JSON text.
    func assistants() throws -> [AssistantDefinition] {
        guard let value = tree["assistants"] else { return [] }
        guard let list = value as? [Any] else { throw UsageError("\(name): `assistants` must be a list of definitions, each with an `id`") }
        var definitions: [AssistantDefinition] = []
        for (index, element) in list.enumerated() {
            let definition: AssistantDefinition
            do {
                definition = try AssistantDefinition(yaml: element)
            } catch let fault as AssistantFault {
                throw UsageError("\(name): assistants[\(index)]: \(fault.description)")
            }
            if definitions.contains(where: { $0.id == definition.id }) {
                throw UsageError("\(name): assistants[\(index)]: the id \"\(definition.id)\" is used twice")
            }
            definitions.append(definition)
        }
        return definitions
    }

    /// `dispatch`: assistants for rooms by name.
    func dispatchRules() throws -> [DispatchRule] {
        guard let value = tree["dispatch"] else { return [] }
        let example = "such as `dispatch: [{room: \"support-*\", assistant: helper}]`"
        guard let rules = value as? [[String: Any]] else { throw UsageError("\(name): `dispatch` must be a list of maps, \(example)") }
        return try rules.map { fields in
            for field in fields.keys.sorted() where !["room", "assistant"].contains(field) {
                throw UsageError(
                    "\(name): \(ConfigurationSchema.unknown("dispatch.\(field)", among: ["dispatch.room", "dispatch.assistant"]))")
            }
            guard let room = fields["room"] as? String, let assistant = fields["assistant"] as? String, !room.isEmpty, !assistant.isEmpty
            else { throw UsageError("\(name): each rule of `dispatch` has a `room` and an `assistant`, \(example)") }
            return DispatchRule(room: room, assistant: assistant)
        }
    }

    private func issuer(_ issuer: String, _ fields: [String: Any]) throws -> IssuerSettings {
        for field in fields.keys.sorted() where !["algorithm", "secret", "public_key_file"].contains(field) {
            let known = ["algorithm", "secret", "public_key_file"].map { "keys.\(issuer).\($0)" }
            throw UsageError("\(name): \(ConfigurationSchema.unknown("keys.\(issuer).\(field)", among: known))")
        }
        let word = fields["algorithm"] as? String ?? "HS256"
        guard let algorithm = KeyAlgorithm(rawValue: word) else {
            throw UsageError("\(name): keys.\(issuer).algorithm: \"\(word)\" is not one of HS256, RS256, ES256")
        }
        let idle = algorithm == .hs256 ? "public_key_file" : "secret"
        guard fields[idle] == nil else {
            throw UsageError("\(name): keys.\(issuer).\(idle): has no effect with \(algorithm.rawValue); remove it, or change `algorithm`")
        }
        if algorithm == .hs256 {
            guard let value = fields["secret"] else { throw UsageError("\(name): keys.\(issuer).secret is missing") }
            return IssuerSettings(issuer: issuer, algorithm: .hs256, key: try secret(value, of: "keys.\(issuer).secret"))
        }
        guard let path = fields["public_key_file"] as? String else {
            throw UsageError("\(name): keys.\(issuer).public_key_file is missing")
        }
        let file = resolved(path)
        guard let pem = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw UsageError("\(name): keys.\(issuer).public_key_file: cannot read \(file); check the path and its permissions")
        }
        return IssuerSettings(issuer: issuer, algorithm: algorithm, key: SecretText(pem))
    }

    /// YAML reads unquoted digits as a number, which is then not the secret that was written.
    private func secret(_ value: Any, of key: String) throws -> SecretText {
        guard let text = value as? String else { throw UsageError("\(name): \(key) must be text; put the secret in quotes") }
        return SecretText(text)
    }
}
