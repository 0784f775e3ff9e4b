/// What JSON a route takes or responses: the subset of JSON Schema that this API needs, built in code. It describes (OpenAPI) and it checks, in
/// both directions.
package indirect enum Schema: Sendable, Hashable {
    /// Just these fields.
    case object([Field])
    /// Any names, each with such a value.
    case map(of: Schema)
    /// - Parameter count: nil is any.
    case array(of: Schema, count: ClosedRange<Int>?)
    /// Counted in Unicode scalars, as JSON Schema does.
    case string(Format?, ClosedRange<Int>)
    case choice([String])
    case integer(ClosedRange<Int64>)
    case number(ClosedRange<Double>)
    case boolean
    case nullable(Schema)
    case anything
    /// Stands in the document once, under this name.
    case named(String, Schema)

    package enum Format: String, Sendable, Hashable {
        case uuid, email, uri
        case time = "date-time"
        /// Never given back.
        case password
    }

    package struct Field: Sendable, Hashable {
        package let name: String
        package let schema: Schema
        package let isRequired: Bool

        package static func required(_ name: String, _ schema: Schema) -> Field {
            Field(name: name, schema: schema, isRequired: true)
        }

        /// May be left out, but not null: that is `.nullable`.
        package static func optional(_ name: String, _ schema: Schema) -> Field {
            Field(name: name, schema: schema, isRequired: false)
        }
    }
}

extension Schema {
    /// As long as a body can be.
    package static let text = Schema.string(nil, 0...1 << 20)
    package static func text(_ length: ClosedRange<Int>) -> Schema { .string(nil, length) }
    package static let uuid = Schema.string(.uuid, 36...36)
    /// RFC 3339: `2026-11-21T13:16:56.000Z`.
    package static let time = Schema.string(.time, 20...40)
    package static let email = Schema.string(.email, 3...254)
    /// One that a user chooses.
    package static let password = Schema.string(.password, 8...1_024)
    package static let uri = Schema.string(.uri, 1...2_048)
    package static let integer = Schema.integer(-(1 << 53)...1 << 53)
    /// Not negative.
    package static let count = Schema.integer(0...1 << 53)
    package static func array(of element: Schema) -> Schema { .array(of: element, count: nil) }
    package static func array(of element: Schema, atMost most: Int) -> Schema { .array(of: element, count: 0...most) }
    /// `{}`.
    package static let empty = Schema.object([])
    /// Any error's body.
    package static let error = Schema.named("Error", .object([.required("code", .text(1...64)), .required("message", .text)]))
}
