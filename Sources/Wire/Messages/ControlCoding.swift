/// Encodes and decodes control messages as JSON with snake_case names.
enum ControlCoding {
    static func decode<T: Decodable>(_ type: T.Type, from text: [UInt8]) throws -> T {
        try JSON.decode(type, from: text, names: .snakeCase)
    }

    static func bytes(of value: some Encodable) -> [UInt8] {
        do {
            return try JSON.encode(value, names: .snakeCase)
        } catch {
            preconditionFailure("control message cannot be encoded, probably because a number is not finite: \(error)")
        }
    }

    /// Describes a decoding error in one clause, for the client that sent the message.
    static func explain(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, _): "`\(snakeCase(key))` is missing"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            "`\(path(context))` has the wrong type"
        case DecodingError.dataCorrupted(let context):
            context.codingPath.isEmpty ? "it does not parse" : "`\(path(context))` has a value that is not allowed"
        case let field as FieldError: field.description
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

/// The envelope of all text messages from clients: `{"type","id","data"}`.
enum RequestEnvelope {
    typealias Parts<Content> = (id: UInt64?, content: Result<Content, RequestError>)

    private enum Key: String, CodingKey { case type, id, data }

    /// Decodes one message. Errors in it are returned as `content`, not thrown, so that the reply can carry the request's `id`.
    ///
    /// - Parameters:
    ///   - unknown: makes the error message for an unknown type from its first 64 characters.
    ///   - read: makes a request from its type and its `data`, if present.
    static func read<Kind: RawRepresentable<String>, Content>(
        _ decoder: any Decoder, unknown: (Substring) -> String, _ read: (Kind, (any Decoder)?) throws -> Content
    ) throws -> Parts<Content> {
        let message = try decoder.container(keyedBy: Key.self)
        let id: UInt64?
        do {
            id = try message.decodeIfPresent(UInt64.self, forKey: .id)
        } catch {
            return (nil, .failure(RequestError(.malformed, "`id` must be an unsigned integer")))
        }
        guard let name = try? message.decode(String.self, forKey: .type) else {
            return (id, .failure(RequestError(.malformed, "`type` is missing or not a string")))
        }
        guard let type = Kind(rawValue: name) else { return (id, .failure(RequestError(.unknownType, unknown(name.prefix(64))))) }
        do {
            return (id, .success(try read(type, message.contains(.data) ? message.superDecoder(forKey: .data) : nil)))
        } catch {
            return (id, .failure(RequestError(.invalidArgument, "\(type.rawValue): \(ControlCoding.explain(error))")))
        }
    }

    /// The error for text that is not a JSON object.
    static func malformed(_ error: any Error) -> RequestError {
        RequestError(.malformed, "the message is not a JSON object: \(ControlCoding.explain(error))")
    }
}

/// A field that is missing or has an invalid value.
struct FieldError: Error, CustomStringConvertible {
    var name: String
    var problem = "is missing"
    var description: String { "`\(name)` \(problem)" }
}

/// Unwraps a required field.
///
/// - Throws: `FieldError` if it is nil.
func required<T>(_ field: T?, _ name: String) throws -> T {
    guard let field else { throw FieldError(name: name) }
    return field
}
