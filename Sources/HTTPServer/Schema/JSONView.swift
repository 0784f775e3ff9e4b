package import Wire

/// How a value is shown to clients: an object whose members are declared once, for its JSON and for its schema.
package struct JSONView<Value: Sendable>: Sendable {
    package struct Member: Sendable {
        fileprivate let field: Schema.Field
        fileprivate let write: @Sendable (Value, inout JSONOutput) -> Void

        package static func required<Shown: JSONWritable & SendableMetatype>(
            _ name: StaticString, _ schema: Schema, _ value: @escaping @Sendable (Value) -> Shown
        ) -> Member {
            Member(field: .required("\(name)", schema)) { $1.writeMember(name, value($0)) }
        }

        /// Omitted if it is nil.
        package static func optional<Shown: JSONWritable & SendableMetatype>(
            _ name: StaticString, _ schema: Schema, _ value: @escaping @Sendable (Value) -> Shown?
        ) -> Member {
            Member(field: .optional("\(name)", schema)) { whole, json in
                if let value = value(whole) { json.writeMember(name, value) }
            }
        }

        package static func count(_ name: StaticString, _ value: @escaping @Sendable (Value) -> Int64) -> Member {
            Member(field: .required("\(name)", .count)) { $1.writeMember(name, value($0)) }
        }

        /// Omitted if it is nil.
        package static func optionalCount(_ name: StaticString, _ value: @escaping @Sendable (Value) -> Int64?) -> Member {
            Member(field: .optional("\(name)", .count)) { whole, json in
                if let value = value(whole) { json.writeMember(name, value) }
            }
        }

        /// Null if it is nil.
        package static func nullable<Shown: JSONWritable & SendableMetatype>(
            _ name: StaticString, _ schema: Schema, _ value: @escaping @Sendable (Value) -> Shown?
        ) -> Member {
            .required(name, .nullable(schema), value)
        }
    }

    package let schema: Schema
    private let members: [Member]

    /// - Parameter name: of the schema.
    package init(_ name: String, _ members: [Member]) {
        schema = .named(name, .object(members.map(\.field)))
        self.members = members
    }

    package func callAsFunction(_ value: Value) -> Shown { Shown(value: value, members: members) }

    package struct Shown: JSONWritable, Sendable {
        fileprivate let value: Value
        fileprivate let members: [Member]

        package func write(to json: inout JSONOutput) {
            json.writeObject { json in
                for member in members { member.write(value, &json) }
            }
        }
    }
}
