/// How control messages become JSON and back: in snake_case.
enum ControlCoding {
    static func decode<T: Decodable>(_ type: T.Type, from text: [UInt8]) throws -> T {
        try JSON.decode(type, from: text, names: .snakeCase)
    }

    static func bytes(of value: some Encodable) -> [UInt8] {
        do {
            return try JSON.encode(value, names: .snakeCase)
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
