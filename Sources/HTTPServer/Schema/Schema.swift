/// The subset of JSON Schema that the API needs. Describes request and response bodies in OpenAPI, and validates them.
package indirect enum Schema: Sendable, Hashable {
    /// These fields and no others.
    case object([Field])
    /// Any member names, with values of this schema.
    case map(of: Schema)
    /// - Parameter count: nil for any number.
    case array(of: Schema, count: ClosedRange<Int>?)
    /// Counted in Unicode scalars, as JSON Schema does.
    case string(Format?, ClosedRange<Int>)
    case choice([String])
    case integer(ClosedRange<Int64>)
    case number(ClosedRange<Double>)
    case boolean
    case nullable(Schema)
    case anything
    /// Emitted once in the OpenAPI document, under this name.
    case named(String, Schema)

    package enum Format: String, Sendable, Hashable {
        case uuid, email, uri
        case time = "date-time"
        /// Never returned in a response.
        case password
    }

    package struct Field: Sendable, Hashable {
        package let name: String
        package let schema: Schema
        package let isRequired: Bool

        package static func required(_ name: String, _ schema: Schema) -> Field {
            Field(name: name, schema: schema, isRequired: true)
        }

        /// May be omitted but not null (see `.nullable`).
        package static func optional(_ name: String, _ schema: Schema) -> Field {
            Field(name: name, schema: schema, isRequired: false)
        }
    }
}

extension Schema {
    /// Limited only by the size of the body.
    package static let text = Schema.string(nil, 0...1 << 20)
    package static func text(_ length: ClosedRange<Int>) -> Schema { .string(nil, length) }
    package static let uuid = Schema.string(.uuid, 36...36)
    /// RFC 3339: `2026-11-21T13:16:56.000Z`.
    package static let time = Schema.string(.time, 20...40)
    package static let email = Schema.string(.email, 3...254)
    /// Chosen by the user.
    package static let password = Schema.string(.password, 8...1_024)
    package static let uri = Schema.string(.uri, 1...2_048)
    package static let integer = Schema.integer(-(1 << 53)...1 << 53)
    package static let count = Schema.integer(0...1 << 53)
    package static func array(of element: Schema) -> Schema { .array(of: element, count: nil) }
    package static func array(of element: Schema, atMost most: Int) -> Schema { .array(of: element, count: 0...most) }
    /// `{}`.
    package static let empty = Schema.object([])
    /// The body of every error.
    package static let error = Schema.named("Error", .object([.required("code", .text(1...64)), .required("message", .text)]))
}
