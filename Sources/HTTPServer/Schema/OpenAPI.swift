internal import HTTPTypes
package import Wire

/// Generates the OpenAPI 3.1 document of routes.
package enum OpenAPI {
    package static func document(of routes: [Route], version: String) -> JSONValue {
        let paths = Dictionary(grouping: routes, by: \.path.inOpenAPI).sorted { $0.key < $1.key }
        let items = paths.map { path, routes in
            JSONValue.Member(path, .object(routes.map { .init($0.method.rawValue.lowercased(), operation($0)) }))
        }
        var schemas = Schema.error.components
        for route in routes {
            for schema in ([route.body] + route.outcomes.map(\.schema) + route.parameters.map(\.schema)).compactMap(\.self) {
                schemas.merge(schema.components) { $1 }
            }
        }
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "Patchbay", "version": .string(version),
                "description":
                    "The HTTP side of a WebSocket media gateway. Errors are an object with code and message; the field X-Patchbay-Error has the code too.",
            ],
            "paths": .object(items),
            "components": [
                "schemas": .object(schemas.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.inOpenAPI) }),
                "securitySchemes": ["token": ["type": "http", "scheme": "bearer", "bearerFormat": "JWT"]],
            ],
        ]
    }

    private static func operation(_ route: Route) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("summary", .string(route.summary)), .init("operationId", .string(operationID(of: route))),
            .init("parameters", .array(parameters(of: route))),
        ]
        if let body = route.body {
            members.append(.init("requestBody", ["required": true, "content": ["application/json": ["schema": body.inOpenAPI]]]))
        }
        let outcomes = Dictionary(grouping: route.outcomes, by: \.status.code).sorted { $0.key < $1.key }
        members.append(.init("responses", .object(outcomes.map { .init(String($0.key), response($0.value)) })))
        if route.token != nil { members.append(.init("security", [["token": []]])) }
        return .object(members)
    }

    /// `get_v1_sessions_id`.
    private static func operationID(of route: Route) -> String {
        let segments = route.path.description.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "." }
        return ([route.method.rawValue.lowercased()] + segments.map { String($0).replacing(".", with: "_") }).joined(separator: "_")
    }

    private static func parameters(of route: Route) -> [JSONValue] {
        let described = route.parameters.map { parameter($0.name, $0.location, $0.schema, isRequired: $0.isRequired, $0.summary) }
        let plain = route.path.parameterNames.filter { name in !route.parameters.contains { $0.location == .path && $0.name == name } }
        return described + plain.map { parameter($0, .path, .text(1...256), isRequired: true, "") }
    }

    private static func parameter(
        _ name: String, _ location: RouteParameter.Location, _ schema: Schema, isRequired: Bool, _ summary: String
    ) -> JSONValue {
        [
            "name": .string(name), "in": .string(location.rawValue), "required": .boolean(isRequired), "description": .string(summary),
            "schema": schema.inOpenAPI,
        ]
    }

    private static func response(_ outcomes: [RouteOutcome]) -> JSONValue {
        let content = outcomes.compactMap { outcome in
            outcome.contentType.map { JSONValue.Member($0, outcome.schema.map { ["schema": $0.inOpenAPI] } ?? [:]) }
        }
        let description = JSONValue.Member("description", .string(outcomes[0].status.reasonPhrase))
        return .object(content.isEmpty ? [description] : [description, .init("content", .object(content))])
    }
}

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
