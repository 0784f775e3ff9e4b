/// Any JSON at all, for who does not know its type: an object's members in their order, each name once.
package indirect enum JSONValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// A number without a fraction that 64 bits hold; `1.0` and `1e2` are such.
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

    /// An object's member; nil if there is none of that name, or this is no object.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }
}

/// Reading.
extension JSONValue {
    /// - Parameter depthMax: objects and arrays inside each other.
    /// - Throws: `DecodingError.dataCorrupted` for what is not JSON, is nested deeper, names a member twice or has a number that no
    ///   `Double` is near.
    package init(parsing bytes: [UInt8], depthMax: Int = JSON.depthMax) throws(DecodingError) {
        let document = try JSONDocument(parsing: bytes)
        self = try Self.value(at: 0, of: document, depthLeft: depthMax)
    }

    private static func value(at index: Int, of document: JSONDocument, depthLeft: Int) throws(DecodingError) -> JSONValue {
        switch document.tokens[index].kind {
        case .null: return .null
        case .true: return .boolean(true)
        case .false: return .boolean(false)
        case .plainText, .escapedText: return .string(document.text(at: index))
        case .number:
            let number = document.number(at: index)
            if let integer = number.integer(Int64.self) { return .integer(integer) }
            guard let double = number.double else { throw fault("a number that is too large or too small") }
            return .number(double)
        case .array:
            guard depthLeft > 0 else { throw fault("nested too deep") }
            var elements: [JSONValue] = []
            for element in document.elements(of: index) { elements.append(try value(at: element, of: document, depthLeft: depthLeft - 1)) }
            return .array(elements)
        case .object:
            guard depthLeft > 0 else { throw fault("nested too deep") }
            var members: [Member] = []
            var names: Set<String> = []
            for name in document.memberNames(of: index) {
                let text = document.text(at: name)
                guard names.insert(text).inserted else { throw fault("the name \"\(text)\" twice in an object") }
                members.append(Member(text, try value(at: name + 1, of: document, depthLeft: depthLeft - 1)))
            }
            return .object(members)
        }
    }

    private static func fault(_ words: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: words))
    }
}

/// Writing: by `JSON.encode` with names as declared.
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
        case .boolean(let truth):
            var container = encoder.singleValueContainer()
            try container.encode(truth)
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
    package init(booleanLiteral truth: Bool) { self = .boolean(truth) }
    package init(integerLiteral integer: Int64) { self = .integer(integer) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral members: (String, JSONValue)...) { self = .object(members.map { Member($0, $1) }) }
}
