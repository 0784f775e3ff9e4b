/// Values to JSON (RFC 8259) and back, for `Codable` types.
///
/// Foundation's coders build a tree of boxes and dictionaries either way, which was two fifths of what a join cost. Here a value is
/// written straight into its bytes, and a text is read in one pass into one flat array (`JSONDocument`), from which the fields are
/// taken.
///
/// What is written is on one line, its members in the order in which `encode(to:)` names them. What is read must be JSON to the letter:
/// UTF-8 without a byte order mark, no comma too many, nothing behind the value, no lone surrogate. Of a name that occurs twice, the
/// first counts.
///
/// `[String: String]` is the one dictionary that messages have: its names are data and stay as they are. A dictionary of another kind
/// would have them taken for coding keys.
package enum JSON {
    /// Objects and arrays inside each other.
    package static let depthMax = 512

    /// - Throws: `EncodingError` for a number that JSON has no word for, or what `value` throws.
    package static func encode(_ value: some Encodable, names: JSONNames) throws -> [UInt8] {
        let writer = JSONWriter(names: names)
        try writer.encode(value)
        return writer.output.bytes
    }

    /// - Parameter capacity: about how many bytes it will be.
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
