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

extension Schema.Format {
    /// Whether a text has the syntax of this format.
    func describes(_ text: String) -> Bool {
        switch self {
        case .uuid: Self.isUUID(text)
        case .email: Self.isEmail(text)
        case .time: Self.isTime(text)
        case .uri: text.contains(":") && !text.unicodeScalars.contains { $0.value <= 0x20 || $0.value == 0x7F }
        case .password: true
        }
    }

    /// RFC 9562 section 4.
    private static func isUUID(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.joined().allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    /// RFC 5321 section 4.1.2 with the characters of RFC 6531 section 3.3, without quoted local parts and address literals, which nobody types.
    private static func isEmail(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count <= 64, parts[1].utf8.count <= 253 else { return false }
        return parts[0].split(separator: ".", omittingEmptySubsequences: false).allSatisfy { isAtom($0, besides: "!#$%&'*+-/=?^_`{|}~") }
            && parts[1].split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
                isAtom(label, besides: "-") && label.utf8.count <= 63 && !label.hasPrefix("-") && !label.hasSuffix("-")
            }
    }

    /// Whether a text is not empty and has only letters, digits, characters beyond ASCII, and these.
    private static func isAtom(_ text: Substring, besides others: String) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy { scalar in
                guard scalar.isASCII else { return scalar.properties.generalCategory != .control && !scalar.properties.isWhitespace }
                return Character(scalar).isLetter || Character(scalar).isNumber || others.unicodeScalars.contains(scalar)
            }
    }

    /// RFC 3339 section 5.6, with a valid day of the month.
    private static func isTime(_ text: String) -> Bool {
        let form = /([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]{1,9})?(?:[Zz]|[+-]([0-9]{2}):([0-9]{2}))/
        guard let match = text.wholeMatch(of: form) else { return false }
        func number(_ digits: Substring?) -> Int { digits.flatMap { Int($0) } ?? 0 }
        let (year, month, day) = (number(match.1), number(match.2), number(match.3))
        guard 1...9_999 ~= year, 1...12 ~= month, number(match.4) < 24, number(match.5) < 60, number(match.6) < 60 else { return false }
        guard number(match.7) < 24, number(match.8) < 60 else { return false }
        let isLeapYear = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        let days = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return 1...days[month - 1] ~= day
    }
}
