package import Backend
package import Configuration
internal import Foundation
internal import HTTPServer
package import Identity
package import Wire

/// The YAML file of `serve`: checked against the table of settings, with paths relative to the file, issuers with arbitrary names, and lists of
/// maps. All errors are `ConfigurationError`.
package struct ConfigurationFile {
    private let name: String
    private let tree: YAMLMap
    private let reader: IssuerReader

    package init(path: String) throws {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw ConfigurationError("cannot read the configuration \(path); check the path and its permissions")
        }
        try self.init(yaml: text, name: path, path: path)
    }

    package init(yaml: String, name: String, path: String? = nil) throws {
        self.name = name
        reader = IssuerReader(source: name, file: path)
        let value = try YAMLValue.parse(yaml, source: name)
        let tree: YAMLMap? = if let value, !value.isEmpty { value.map } else { YAMLMap() }
        guard let tree else { throw ConfigurationError("\(name) must be a map of settings, such as `port: 7880`") }
        self.tree = tree
        if let fault = ConfigurationSchema.fault(in: tree) { throw ConfigurationError("\(name): \(fault)") }
    }

    /// The keys of the file; those of maps as `room.auto_create`.
    package var keys: Set<String> { Set(settings.keys) }

    /// The value of each setting, secrets included, by its key as in `keys`.
    package var settings: [String: YAMLValue] { ConfigurationSchema.flattened(tree) }

    /// The settings for swift-configuration, except those that this type reads.
    package var provider: InMemoryProvider {
        let values = settings.compactMap { key, value in
            Setting.byKey[key].flatMap { setting in
                content(of: value, setting.kind).map {
                    (AbsoluteConfigKey(key.split(separator: ".").map(String.init)), ConfigValue($0, isSecret: setting.isSecret))
                }
            }
        }
        return InMemoryProvider(name: name, values: Dictionary(uniqueKeysWithValues: values))
    }

    /// Nil for what is not read through the provider; the schema has checked that the value is of its kind.
    private func content(of value: YAMLValue, _ kind: Setting.Kind) -> ConfigContent? {
        switch (kind, value.content) {
        case (.text, _), (.url, _), (.choice, _): value.scalar.map(ConfigContent.string)
        case (.path, _): value.scalar.map { .string(reader.resolved($0)) }
        case (.number, .integer(let number)): .int(number)
        case (.flag, .flag(let flag)): .bool(flag)
        case (.texts, .list(let elements)), (.urls, .list(let elements)): .stringArray(elements.compactMap(\.scalar))
        default: nil
        }
    }

    /// The issuers under `keys`.
    package func issuers() throws -> [IssuerSettings] {
        guard let keys = tree["keys"] else { return [] }
        guard let keys = keys.map else {
            throw ConfigurationError("\(name): `keys` must be a map, such as `keys: {my-app: a-long-secret}`")
        }
        return try reader.issuers(keys)
    }

    /// The issuer of users' tokens under `users`: like an entry of `keys`, with name and audience.
    package func outsideIssuer() throws -> (issuer: IssuerSettings, audience: String?)? {
        guard let fields = tree["users"]?.map else { return nil }
        guard let issuer = fields["issuer"]?.scalar else { throw ConfigurationError("\(name): users.issuer is missing") }
        return (try reader.issuer(issuer, fields.without(["issuer", "audience"])), fields["audience"]?.scalar)
    }

    /// `allowed_origins`: a string or a list.
    package func allowedOrigins() throws -> [String] {
        guard let value = tree["allowed_origins"] else { return [] }
        if let origin = value.text { return [origin] }
        let origins = value.list?.compactMap(\.text)
        guard let origins, origins.count == value.list?.count else {
            throw ConfigurationError("\(name): `allowed_origins` must be a list, such as `allowed_origins: [https://app.example]`")
        }
        return origins
    }

    /// `assistants`: a list of definitions. A tool's `parameters` may be a map instead of JSON text.
    package func assistants() throws -> [AssistantDefinition] {
        guard let value = tree["assistants"] else { return [] }
        guard let list = value.list else {
            throw ConfigurationError("\(name): `assistants` must be a list of definitions, each with an `id`")
        }
        var definitions: [AssistantDefinition] = []
        for (index, element) in list.enumerated() {
            let definition: AssistantDefinition
            do {
                definition = try AssistantDefinition(yaml: element)
            } catch {
                throw ConfigurationError("\(name): assistants[\(index)]: \(error)")
            }
            if definitions.contains(where: { $0.id == definition.id }) {
                throw ConfigurationError("\(name): assistants[\(index)]: the id \"\(definition.id)\" is used twice")
            }
            definitions.append(definition)
        }
        return definitions
    }

    /// `dispatch`: assistants for rooms by name.
    package func dispatchRules() throws -> [DispatchRule] {
        guard let value = tree["dispatch"] else { return [] }
        let example = "such as `dispatch: [{room: \"support-*\", assistant: helper}]`"
        let rules = value.list?.compactMap(\.map)
        guard let rules, rules.count == value.list?.count else {
            throw ConfigurationError("\(name): `dispatch` must be a list of maps, \(example)")
        }
        return try rules.map { fields in
            for field in fields.names.sorted() where !["room", "assistant"].contains(field) {
                throw ConfigurationError(
                    "\(name): \(ConfigurationSchema.unknown("dispatch.\(field)", among: ["dispatch.room", "dispatch.assistant"]))")
            }
            guard let room = fields["room"]?.text, let assistant = fields["assistant"]?.text, !room.isEmpty, !assistant.isEmpty
            else { throw ConfigurationError("\(name): each rule of `dispatch` has a `room` and an `assistant`, \(example)") }
            return DispatchRule(room: room, assistant: assistant)
        }
    }
}

/// Why an entry of `assistants` is invalid.
struct AssistantFault: Error, CustomStringConvertible {
    let description: String
}

extension AssistantDefinition {
    /// Reads a definition from a YAML map.
    ///
    /// - Throws: `AssistantFault`.
    init(yaml: YAMLValue) throws {
        guard var value = JSONValue(yaml: yaml) else {
            throw AssistantFault(description: "only text, numbers, booleans, lists and maps are allowed; quote dates")
        }
        if case .object(let members) = value {
            value = .object(members.map { JSONValue.Member($0.name, $0.name == "tools" ? $0.value.withParametersAsText : $0.value) })
        }
        if let fault = Self.schema.fault(in: value) { throw AssistantFault(description: fault) }
        self = try JSON.decode(Self.self, from: JSON.encode(value, names: .asDeclared), names: .snakeCase)
        if let fault { throw AssistantFault(description: fault) }
    }
}

extension JSONValue {
    /// Nil for values that JSON does not have, such as dates.
    fileprivate init?(yaml: YAMLValue) {
        switch yaml.content {
        case .empty: self = .null
        case .text: self = .string(yaml.written)
        case .flag(let flag): self = .boolean(flag)
        case .integer(let integer): self = .integer(Int64(integer))
        case .number(let number) where number.isFinite: self = .number(number)
        case .number, .other: return nil
        case .list(let list):
            let elements = list.compactMap(JSONValue.init(yaml:))
            guard elements.count == list.count else { return nil }
            self = .array(elements)
        case .map(let map):
            let members = map.names.sorted().compactMap { name in
                map[name].flatMap(JSONValue.init(yaml:)).map { Member(name, $0) }
            }
            guard members.count == map.names.count else { return nil }
            self = .object(members)
        }
    }

    /// A list of tools whose `parameters` are JSON text.
    fileprivate var withParametersAsText: JSONValue {
        guard case .array(let tools) = self else { return self }
        return .array(
            tools.map { tool in
                guard case .object(let members) = tool else { return tool }
                return .object(
                    members.map { member in
                        guard member.name == "parameters", case .object = member.value,
                            let text = try? JSON.encode(member.value, names: .asDeclared)
                        else { return member }
                        return Member(member.name, .string(String(decoding: text, as: UTF8.self)))
                    })
            })
    }
}
