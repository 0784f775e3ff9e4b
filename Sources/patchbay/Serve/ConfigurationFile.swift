import Backend
import Configuration
import Foundation
import HTTPServer
import Identity
import SystemPackage
import Wire
import Yams

/// The YAML file as a tree, for what swift-configuration does not support: detection of unknown keys, and issuers with arbitrary names.
struct ConfigurationFile {
    private static let known: [String: Set<String>?] = [
        "host": nil, "port": nil, "cert": nil, "key": nil, "shards": nil, "shard_ports": nil, "data": nil, "node": nil, "log_level": nil,
        "tls": ["fast_path"],
        "drain_timeout": nil, "resume_seconds": nil, "connections_max": nil, "keys": nil,
        "master_key_file": nil, "public_url": nil, "record_sessions": nil, "allowed_origins": nil,
        "users": ["issuer", "algorithm", "public_key_file", "secret", "audience"], "summaries": ["url", "model", "api_key"],
        "room": ["auto_create", "empty_timeout", "departure_timeout", "max_participants", "silence_limit"],
        "webhook": ["urls", "api_key", "ca"], "assistants": nil, "dispatch": nil,
    ]

    private let name: String
    private let path: String?
    private let tree: [String: Any]

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
        } catch {
            let line = "\(error)".split(separator: "\n").first.map(String.init) ?? "it does not parse"
            throw UsageError("\(name) is not valid YAML: \(line)")
        }
        guard let tree = (loaded ?? [String: Any]()) as? [String: Any] else {
            throw UsageError("\(name) must be a map of settings, such as `port: 7880`")
        }
        self.tree = tree
        try checkKeys()
    }

    /// The keys of the file; those of maps as `room.auto_create`.
    var keys: Set<String> {
        Set(
            tree.flatMap { key, value in
                Self.known[key].flatMap { $0 } == nil ? [key] : (value as? [String: Any])?.keys.map { "\(key).\($0)" } ?? []
            })
    }

    /// Everything that can be configured, as in `keys`.
    static var allKeys: Set<String> { Set(known.flatMap { key, fields in fields.map { $0.map { "\(key).\($0)" } } ?? [key] }) }

    func provider() async throws -> any ConfigProvider {
        do {
            return try await FileProvider<SettingsSnapshot>(filePath: FilePath(path ?? ""))
        } catch {
            throw UsageError("\(name) cannot be used as a configuration: \(error)")
        }
    }

    /// The issuers under `keys`: a secret, or a map with `algorithm` and `secret` or `public_key_file`.
    func issuers() throws -> [IssuerSettings] {
        guard let keys = tree["keys"] else { return [] }
        guard let keys = keys as? [String: Any] else {
            throw UsageError("\(name): `keys` must be a map, such as `keys: {my-app: a-long-secret}`")
        }
        return try keys.sorted { $0.key < $1.key }.map { issuer, value in
            if let fields = value as? [String: Any] { return try self.issuer(issuer, fields) }
            return IssuerSettings(issuer: issuer, algorithm: .hs256, key: SecretText("\(value)"))
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
                throw unknown("dispatch.\(field)", among: ["dispatch.room", "dispatch.assistant"])
            }
            guard let room = fields["room"] as? String, let assistant = fields["assistant"] as? String, !room.isEmpty, !assistant.isEmpty
            else { throw UsageError("\(name): each rule of `dispatch` has a `room` and an `assistant`, \(example)") }
            return DispatchRule(room: room, assistant: assistant)
        }
    }

    private func issuer(_ issuer: String, _ fields: [String: Any]) throws -> IssuerSettings {
        for field in fields.keys where !["algorithm", "secret", "public_key_file"].contains(field) {
            throw unknown("keys.\(issuer).\(field)", among: ["algorithm", "secret", "public_key_file"])
        }
        let word = fields["algorithm"] as? String ?? "HS256"
        guard let algorithm = KeyAlgorithm(rawValue: word) else {
            throw UsageError("\(name): keys.\(issuer).algorithm: \"\(word)\" is not one of HS256, RS256, ES256")
        }
        if algorithm == .hs256 {
            guard let secret = fields["secret"] as? String else { throw UsageError("\(name): keys.\(issuer).secret is missing") }
            return IssuerSettings(issuer: issuer, algorithm: .hs256, key: SecretText(secret))
        }
        guard let path = fields["public_key_file"] as? String else {
            throw UsageError("\(name): keys.\(issuer).public_key_file is missing")
        }
        guard let pem = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw UsageError("\(name): keys.\(issuer).public_key_file: cannot read \(path); check the path and its permissions")
        }
        return IssuerSettings(issuer: issuer, algorithm: algorithm, key: SecretText(pem))
    }

    private func checkKeys() throws {
        for (key, value) in tree.sorted(by: { $0.key < $1.key }) {
            guard let inner = Self.known[key] else { throw unknown(key, among: Array(Self.known.keys)) }
            guard let inner else { continue }
            guard let map = value as? [String: Any] else { throw UsageError("\(name): `\(key)` must be a map") }
            for field in map.keys.sorted() where !inner.contains(field) {
                throw unknown("\(key).\(field)", among: inner.map { "\(key).\($0)" })
            }
        }
    }

    private func unknown(_ key: String, among known: [String]) -> UsageError {
        let near = known.map { ($0, Self.distance($0, key)) }.filter { $0.1 <= 3 }.min { $0.1 < $1.1 }
        let hint = near.map { "; did you mean `\($0.0)`?" } ?? "; use one of \(known.sorted().joined(separator: ", "))"
        return UsageError("\(name): unknown key `\(key)`\(hint)")
    }

    /// Levenshtein distance, to suggest the nearest key.
    private static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right)
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let cost = min(row[j] + 1, row[j + 1] + 1, diagonal + (a == b ? 0 : 1))
                diagonal = row[j + 1]
                row[j + 1] = cost
            }
        }
        return row[right.count]
    }
}
