package import Wire

/// Encodes a schema for OpenAPI 3.1 (JSON Schema 2020-12).
extension Schema {
    package var inOpenAPI: JSONValue {
        switch self {
        case .object(let fields):
            let properties = fields.map { JSONValue.Member($0.name, $0.schema.inOpenAPI) }
            let required = fields.filter(\.isRequired).map { JSONValue.string($0.name) }
            return [
                "type": "object", "properties": .object(properties), "required": .array(required), "additionalProperties": false,
            ]
        case .map(let element): return ["type": "object", "additionalProperties": element.inOpenAPI]
        case .array(let element, let count):
            var members = [JSONValue.Member("type", "array"), .init("items", element.inOpenAPI)]
            if let count, count.lowerBound > 0 { members.append(.init("minItems", .integer(Int64(count.lowerBound)))) }
            if let count { members.append(.init("maxItems", .integer(Int64(count.upperBound)))) }
            return .object(members)
        case .string(let format, let length):
            var members = [JSONValue.Member("type", "string")]
            if let format { members.append(.init("format", .string(format.rawValue))) }
            if length.lowerBound > 0 { members.append(.init("minLength", .integer(Int64(length.lowerBound)))) }
            if length != 0...1 << 20 { members.append(.init("maxLength", .integer(Int64(length.upperBound)))) }
            return .object(members)
        case .choice(let choices): return ["type": "string", "enum": .array(choices.map { .string($0) })]
        case .integer(let range): return ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
        case .number(let range): return ["type": "number", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)]
        case .boolean: return ["type": "boolean"]
        case .nullable(let schema): return ["anyOf": [schema.inOpenAPI, ["type": "null"]]]
        case .anything: return [:]
        case .named(let name, _): return ["$ref": .string("#/components/schemas/" + name)]
        }
    }

    /// All named schemas it contains, recursively.
    var components: [String: Schema] {
        switch self {
        case .named(let name, let schema): schema.components.merging([name: schema]) { $1 }
        case .object(let fields): fields.reduce(into: [:]) { $0.merge($1.schema.components) { $1 } }
        case .map(let element), .array(let element, _), .nullable(let element): element.components
        default: [:]
        }
    }
}
