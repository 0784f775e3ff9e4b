/// A JSON coder (RFC 8259) for `Codable` types, used for bodies of HTTP. Messages on sockets are `Fields`, on top of the same reader and
/// writer, because `Codable` takes three to ten times as long.
///
/// Values are written directly into their bytes, and text is parsed in one pass into a flat array of tokens (`JSONDocument`) from which
/// fields are looked up.
///
/// Output is on one line, with members in the order in which `encode(to:)` names them. Input must conform strictly: UTF-8 without a byte order
/// mark, no trailing commas, nothing after the value, no lone surrogates. The first of several members with the same name counts.
///
/// `[String: String]` is the only supported dictionary type. Its names are data and are not converted to snake_case; those of other
/// dictionaries would be treated as coding keys.
package enum JSON {
    /// Maximum nesting of objects and arrays.
    package static let depthMax = 512

    /// - Throws: `EncodingError` for a number that is not finite, or what `value` throws.
    package static func encode(_ value: some Encodable, names: JSONNames) throws -> [UInt8] {
        let writer = JSONWriter(names: names)
        try writer.encode(value)
        return writer.output.bytes
    }

    /// - Parameter capacity: expected size in bytes.
    package static func text(_ value: some JSONWritable, capacity: Int = 256) -> [UInt8] {
        var output = JSONOutput(names: .asDeclared, capacity: capacity)
        value.write(to: &output)
        return output.bytes
    }

    /// - Throws: `DecodingError`, or what `T` throws.
    package static func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8], names: JSONNames) throws -> T {
        let document = try JSONDocument(parsing: bytes)
        return try JSONValueReader(document: document, index: 0, names: names).decode(type)
    }
}

/// How member names derive from coding keys.
package enum JSONNames: Sendable {
    /// `sessionId` becomes `sessionId`.
    case asDeclared
    /// `sessionId` becomes `session_id`. Each capital gets an underscore, so `sessionID` becomes `session_i_d`.
    case snakeCase
}

extension JSONNames {
    /// Whether `name` is the member name of `key`. Compares without converting, so it does not allocate.
    func isName(_ name: Span<UInt8>, of key: Span<UInt8>) -> Bool {
        // A converted name is at least as long as its key.
        guard name.count >= key.count else { return false }
        var position = 0
        for index in key.indices {
            var byte = key[index]
            if self == .snakeCase && byte.isCapital {
                guard position < name.count, name[position] == UInt8(ascii: "_") else { return false }
                position += 1
                byte = byte.lowercased
            }
            guard position < name.count, name[position] == byte else { return false }
            position += 1
        }
        return position == name.count
    }
}

extension UInt8 {
    var isCapital: Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self }

    /// - Precondition: the byte is a capital.
    var lowercased: UInt8 { self | 0x20 }
}

/// A value that writes itself as JSON without `Codable`, for large or frequent messages: `Encodable` allocates boxes for each member and
/// resolves at run time what is known at compile time.
package protocol JSONWritable {
    func write(to json: inout JSONOutput)
}

extension Array: JSONWritable where Element: JSONWritable {
    package func write(to json: inout JSONOutput) {
        json.writeArray(self) { $1.write(to: &$0) }
    }
}

/// Nil is encoded as null.
extension Optional: JSONWritable where Wrapped: JSONWritable {
    package func write(to json: inout JSONOutput) {
        if let self { self.write(to: &json) } else { json.writeNull() }
    }
}

/// Members with their values.
extension JSONOutput {
    package mutating func writeMember(_ name: StaticString, _ value: some JSONWritable) {
        writeMember(name)
        value.write(to: &self)
    }

    package mutating func writeMember(_ name: StaticString, _ text: String) {
        writeMember(name)
        write(text)
    }

    package mutating func writeMember(_ name: StaticString, _ boolean: Bool) {
        writeMember(name)
        write(boolean)
    }

    package mutating func writeMember(_ name: StaticString, _ number: some FixedWidthInteger) {
        writeMember(name)
        write(number)
    }

    /// Nil is encoded as null.
    package mutating func writeMember(_ name: StaticString, _ number: UInt32?) {
        writeMember(name)
        if let number { write(number) } else { writeNull() }
    }
}

/// One component of a coding path: a member's name as it appears in the text, or an element's index.
struct JSONPathKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        self.intValue = nil
    }

    init(intValue: Int) {
        self.stringValue = String(intValue)
        self.intValue = intValue
    }
}
