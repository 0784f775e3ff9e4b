import FoundationEssentials

/// How control messages become JSON and back: snake_case, keys in a fixed order.
enum ControlCoding {
    static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    static func bytes(of value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(value))
        } catch {
            preconditionFailure("a control message of ours does not encode (a number that JSON has no word for?): \(error)")
        }
    }

    /// What is wrong with a message, in one clause for the one who sent it.
    static func explain(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, _): "`\(snakeCase(key))` is missing"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            "`\(path(context))` has the wrong type"
        case DecodingError.dataCorrupted(let context):
            context.codingPath.isEmpty ? "it does not parse" : "`\(path(context))` has a value that is not allowed"
        case let field as MissingField: field.description
        default: "it does not parse"
        }
    }

    private static func path(_ context: DecodingError.Context) -> String {
        let path = context.codingPath.map(snakeCase).joined(separator: ".")
        return path.isEmpty ? "the message" : String(path.prefix(128))
    }

    private static func snakeCase(_ key: any CodingKey) -> String {
        key.stringValue.reduce(into: "") { text, character in
            if character.isUppercase { text += "_" + character.lowercased() } else { text.append(character) }
        }
    }
}
