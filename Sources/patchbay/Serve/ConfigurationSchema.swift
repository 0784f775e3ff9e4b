import Foundation

/// The keys of a configuration file and the kinds of their values.
enum ConfigurationSchema {
    /// What a value must be.
    indirect enum Kind {
        /// Any scalar: `node: 7` is the text "7".
        case text
        /// Text that names a file or directory, relative to the configuration file.
        case path
        case number
        case flag
        case texts
        case map([String: Kind])
        /// Checked by whoever reads it.
        case own

        /// The kinds of a map's fields; none for other kinds.
        var fields: [String: Kind] { if case .map(let fields) = self { fields } else { [:] } }
    }

    static let keys: [String: Kind] = [
        "host": .text, "port": .number, "cert": .path, "key": .path, "shards": .number, "shard_ports": .text, "data": .path,
        "plain_port": .number, "plain_host": .text, "trusted_proxies": .texts, "proxy_protocol": .flag,
        "metrics_port": .number, "metrics_host": .text, "public_metrics": .flag, "pages": .flag,
        "node": .text, "log_level": .text, "log_format": .text,
        "tls": .map(["fast_path": .text]),
        "drain_timeout": .number, "resume_seconds": .number, "connections_max": .number, "keys": .own,
        "master_key_file": .path, "public_url": .text, "record_sessions": .flag, "allowed_origins": .own,
        "accounts": .map(["confirm_email": .flag, "registrations_per_hour": .number]),
        "users": .map(["issuer": .text, "algorithm": .text, "public_key_file": .path, "secret": .own, "audience": .text]),
        "summaries": .map(["url": .text, "model": .text, "api_key": .text]),
        "room": .map([
            "auto_create": .flag, "empty_timeout": .number, "departure_timeout": .number, "max_participants": .number,
            "silence_limit": .number,
        ]),
        "push": .map(["apns": .map(["key_file": .path, "key_id": .text, "team_id": .text, "topic": .text, "environment": .text])]),
        "webhook": .map(["urls": .texts, "api_key": .text, "ca": .path]), "assistants": .own, "dispatch": .own,
    ]

    /// - Returns: the value of each setting by its key, those of maps as `room.auto_create`.
    static func flattened(_ tree: [String: Any]) -> [String: Any] { flattened(tree, of: keys, prefix: "") }

    private static func flattened(_ tree: [String: Any], of keys: [String: Kind], prefix: String) -> [String: Any] {
        tree.reduce(into: [:]) { settings, entry in
            guard let fields = keys[entry.key]?.fields, !fields.isEmpty else {
                settings[prefix + entry.key] = entry.value
                return
            }
            settings.merge(flattened(entry.value as? [String: Any] ?? [:], of: fields, prefix: prefix + entry.key + ".")) { $1 }
        }
    }

    /// The kind of each setting by its key, as in `flattened`.
    static let kinds: [String: Kind] = kinds(of: keys, prefix: "")

    private static func kinds(of keys: [String: Kind], prefix: String) -> [String: Kind] {
        keys.reduce(into: [:]) { kinds, entry in
            let fields = entry.value.fields
            if fields.isEmpty { kinds[prefix + entry.key] = entry.value }
            kinds.merge(Self.kinds(of: fields, prefix: prefix + entry.key + ".")) { $1 }
        }
    }

    /// The first unknown key or wrong value of a file, as a sentence; nil if there is none.
    static func fault(in tree: [String: Any]) -> String? {
        fault(in: tree, of: keys, prefix: "")
    }

    private static func fault(in tree: [String: Any], of keys: [String: Kind], prefix: String) -> String? {
        for (key, value) in tree.sorted(by: { $0.key < $1.key }) {
            guard let kind = keys[key] else { return unknown(prefix + key, among: keys.keys.map { prefix + $0 }) }
            if let fault = fault(in: value, kind, name: prefix + key) { return fault }
            if case .map(let fields) = kind, let map = value as? [String: Any],
                let fault = fault(in: map, of: fields, prefix: prefix + key + ".")
            {
                return fault
            }
        }
        return nil
    }

    static func unknown(_ key: String, among known: [String]) -> String {
        let hint =
            Suggestion.nearest(to: key, among: known).map { "did you mean `\($0)`?" }
            ?? "use one of \(known.sorted().joined(separator: ", "))"
        return "unknown key `\(key)`; \(hint)"
    }

    private static func fault(in value: Any, _ kind: Kind, name: String) -> String? {
        func wrong(_ expected: String) -> String { "`\(name)` must be \(expected), not \(described(value))" }
        return switch kind {
        case .own: value is NSNull ? wrong("set") : nil
        case .number: value is Int ? nil : wrong("a whole number, without quotes or a unit")
        case .flag: value is Bool ? nil : wrong("true or false, without quotes")
        case .text, .path: isScalar(value) ? nil : wrong("text")
        case .texts: (value as? [Any])?.allSatisfy(isScalar) == true ? nil : wrong("a list of texts")
        case .map(let fields):
            value is [String: Any] ? nil : wrong("a map with \(fields.keys.sorted().joined(separator: ", "))")
        }
    }

    private static func isScalar(_ value: Any) -> Bool {
        !(value is NSNull) && !(value is [Any]) && !(value is [AnyHashable: Any])
    }

    /// Never quotes the values of lists and maps, which may be secrets.
    private static func described(_ value: Any) -> String {
        switch value {
        case is NSNull: "empty"
        case is [Any]: "a list"
        case is [AnyHashable: Any]: "a map"
        case let flag as Bool: "\(flag)"
        case let text as String: "the text \"\(text.prefix(40))\""
        default: "\(value)"
        }
    }
}
