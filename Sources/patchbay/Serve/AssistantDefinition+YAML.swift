import Backend
import Configuration
import Foundation
import HTTPServer
import Wire
import Yams

/// Why an entry of `assistants` is invalid.
struct AssistantFault: Error, CustomStringConvertible {
    let description: String
}

extension AssistantDefinition {
    /// Reads a definition from a YAML map.
    ///
    /// - Throws: `AssistantFault`.
    init(yaml: Any) throws {
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
    fileprivate init?(yaml: Any) {
        switch yaml {
        case is NSNull: self = .null
        case let text as String: self = .string(text)
        case let boolean as Bool: self = .boolean(boolean)
        case let integer as Int: self = .integer(Int64(integer))
        case let number as Double where number.isFinite: self = .number(number)
        case let list as [Any]:
            let elements = list.compactMap(JSONValue.init(yaml:))
            guard elements.count == list.count else { return nil }
            self = .array(elements)
        case let map as [String: Any]:
            let members = map.sorted { $0.key < $1.key }.compactMap { name, value in JSONValue(yaml: value).map { Member(name, $0) } }
            guard members.count == map.count else { return nil }
            self = .object(members)
        default: return nil
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

/// A YAML file without its lists of maps, which swift-configuration refuses and `ConfigurationFile` reads itself.
final class SettingsSnapshot: FileConfigSnapshot {
    typealias ParsingOptions = YAMLSnapshot.ParsingOptions

    private let settings: YAMLSnapshot

    init(data: RawSpan, providerName: String, parsingOptions: ParsingOptions) throws {
        let text = data.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        let reduced = Array(try Self.withoutListsOfMaps(text).utf8)
        settings = try YAMLSnapshot(data: reduced.span.bytes, providerName: providerName, parsingOptions: parsingOptions)
    }

    private static func withoutListsOfMaps(_ text: String) throws -> String {
        guard let settings = try Yams.compose(yaml: text)?.mapping else { return "{}" }
        let readable = settings.filter { !isListOfMaps($0.value) }
        if readable.count == settings.count { return text }
        return readable.isEmpty ? "{}" : try Yams.serialize(node: .mapping(Node.Mapping(readable.map { ($0.key, $0.value) })))
    }

    private static func isListOfMaps(_ node: Node) -> Bool {
        node.sequence?.contains { $0.scalar == nil } ?? false
    }

    var providerName: String { settings.providerName }
    var description: String { settings.description }
    var debugDescription: String { settings.debugDescription }

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        try settings.value(forKey: key, type: type)
    }
}
