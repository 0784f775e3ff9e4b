/// An arbitrary JSON value. Objects keep the order of their members, whose names are unique.
package indirect enum JSONValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// A number without a fraction that fits 64 bits, including `1.0` and `1e2`.
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    package struct Member: Sendable, Hashable {
        package var name: String
        package var value: JSONValue

        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// An object's member; nil if there is none, or this is not an object.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }
}

/// Parsing.
extension JSONValue {
    /// - Parameters:
    ///   - depthMax: maximum nesting of objects and arrays.
    ///   - plainIntegers: whether `1.0` and `1e2` are numbers instead of integers.
    /// - Throws: `DecodingError.dataCorrupted` for text that is not JSON, is nested deeper, repeats a member name or has a number outside the
    ///   range of `Double`.
    package init(parsing bytes: [UInt8], depthMax: Int = JSON.depthMax, plainIntegers: Bool = false) throws(DecodingError) {
        let document = try JSONDocument(parsing: bytes)
        self = try Self.value(at: 0, of: document, depthLeft: depthMax, plainIntegers)
    }

    private static func value(
        at index: Int, of document: JSONDocument, depthLeft: Int, _ plainIntegers: Bool
    ) throws(DecodingError) -> JSONValue {
        switch document.tokens[index].kind {
        case .null: return .null
        case .true: return .boolean(true)
        case .false: return .boolean(false)
        case .plainText, .escapedText: return .string(document.text(at: index))
        case .number:
            let number = document.number(at: index)
            let mayBeInteger = !plainIntegers || document.isPlainInteger(at: index)
            if mayBeInteger, let integer = number.integer(Int64.self) { return .integer(integer) }
            guard let double = number.double else { throw invalid("the number is too large or too small") }
            // Its fraction may be lost in the rounding. Written and parsed again, such a number would be an integer.
            if mayBeInteger, let integer = Int64(exactly: double) { return .integer(integer) }
            return .number(double)
        case .array:
            guard depthLeft > 0 else { throw invalid("nested too deeply") }
            var elements: [JSONValue] = []
            for element in document.elements(of: index) {
                elements.append(try value(at: element, of: document, depthLeft: depthLeft - 1, plainIntegers))
            }
            return .array(elements)
        case .object:
            guard depthLeft > 0 else { throw invalid("nested too deeply") }
            var members: [Member] = []
            var names: Set<String> = []
            for name in document.memberNames(of: index) {
                let text = document.text(at: name)
                guard names.insert(text).inserted else { throw invalid("the object repeats the name \"\(text)\"") }
                members.append(Member(text, try value(at: name + 1, of: document, depthLeft: depthLeft - 1, plainIntegers)))
            }
            return .object(members)
        }
    }

    private static func invalid(_ problem: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: problem))
    }
}

/// Encoding, by `JSON.encode` with names as declared.
extension JSONValue: Encodable {
    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .object(let members):
            var container = encoder.container(keyedBy: JSONPathKey.self)
            for member in members { try container.encode(member.value, forKey: JSONPathKey(stringValue: member.name)) }
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .boolean(let boolean):
            var container = encoder.singleValueContainer()
            try container.encode(boolean)
        case .integer(let integer):
            var container = encoder.singleValueContainer()
            try container.encode(integer)
        case .number(let number):
            var container = encoder.singleValueContainer()
            try container.encode(number)
        case .string(let text):
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    package init(stringLiteral text: String) { self = .string(text) }
    package init(booleanLiteral boolean: Bool) { self = .boolean(boolean) }
    package init(integerLiteral integer: Int64) { self = .integer(integer) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral members: (String, JSONValue)...) { self = .object(members.map { Member($0, $1) }) }
}
