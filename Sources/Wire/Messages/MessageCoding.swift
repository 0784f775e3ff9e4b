/// A message of several types, each with its fields, which `coded` declares once for writing, reading and the reference.
protocol Message: Sendable {
    static var types: MessageTypes<Self> { get }

    /// Begins the message, and goes over its fields in their order.
    ///
    /// - Returns: the message, as `fields` has written or read it. Only the case of `self` matters to a reader.
    /// - Throws: `FieldError` or `DecodingError`, when reading.
    func coded(by fields: inout some FieldCoder) throws -> Self
}

/// A type of message, for the reference.
package struct MessageDescription: Sendable {
    package let type: String
    /// Who receives an event, or may send a request.
    package let parties: String
    /// See `FieldList.names`.
    package let fields: [String]
}

/// The types of a message by their names.
struct MessageTypes<Body: Message>: Sendable {
    private let prototypes: [String: Body]
    let descriptions: [MessageDescription]

    /// - Parameter prototypes: one message of each type, with any fields.
    init(_ prototypes: [Body]) {
        descriptions = prototypes.map { prototype in
            var list = FieldList()
            do {
                _ = try prototype.coded(by: &list)
            } catch {
                preconditionFailure("listing does not fail: \(error)")
            }
            return MessageDescription(type: list.type, parties: list.parties, fields: list.names)
        }
        self.prototypes = Dictionary(uniqueKeysWithValues: zip(descriptions.map(\.type), prototypes))
    }

    /// - Parameter data: the body, if there is one.
    /// - Returns: nil if there is no such type.
    func read(_ type: String, _ data: JSONValueReader?) throws -> Body? {
        var fields = FieldReader(object: data)
        return try prototypes[type]?.coded(by: &fields)
    }

    /// Parses a request: `{"type","id","data"}`. Errors in it are returned as `content`, not thrown, so that the reply can carry the request's
    /// `id`.
    ///
    /// - Parameters:
    ///   - kind: "request" in errors.
    ///   - reference: the document that lists the types.
    func readRequest(_ text: [UInt8], kind: String, reference: String) -> (id: UInt64?, content: Result<Body, RequestError>) {
        let message: JSONValueReader
        var envelope: FieldReader
        do {
            message = try JSONValueReader(parsing: text)
            envelope = FieldReader(object: message)
            _ = try message.member("type")
        } catch {
            return (nil, .failure(RequestError(.malformed, "the message is not a JSON object: \(Self.explain(error))")))
        }
        let id: UInt64?
        do {
            id = try envelope.optional("id", nil)
        } catch {
            return (nil, .failure(RequestError(.malformed, "`id` must be an unsigned integer")))
        }
        guard let type: String = try? envelope("type", nil) else {
            return (id, .failure(RequestError(.malformed, "`type` is missing or not a string")))
        }
        do {
            guard let request = try read(type, try message.member("data")) else {
                let problem = "unknown \(kind) type \"\(type.prefix(64))\"; see docs/protocol/\(reference)"
                return (id, .failure(RequestError(.unknownType, problem)))
            }
            return (id, .success(request))
        } catch {
            return (id, .failure(RequestError(.invalidArgument, "\(type): \(Self.explain(error))")))
        }
    }

    /// Describes an error in one clause, for the client that sent the message.
    private static func explain(_ error: any Error) -> String {
        func name(_ path: [any CodingKey]) -> String { String(path.map(\.stringValue).joined(separator: ".").prefix(128)) }
        return switch error {
        case let field as FieldError: field.description
        case DecodingError.keyNotFound(let key, _): "`\(key.snakeCased)` is missing"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            "\(context.codingPath.isEmpty ? "`the message`" : "`\(name(context.codingPath))`") has the wrong type"
        case DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty:
            "`\(name(context.codingPath))` has a value that is not allowed"
        default: "it does not parse"
        }
    }
}

extension CodingKey {
    /// The member's name, if it is a key of a `CodableFieldValue`.
    fileprivate var snakeCased: String {
        stringValue.reduce(into: "") { text, character in
            if character.isUppercase { text += "_" + character.lowercased() } else { text.append(character) }
        }
    }
}

// MARK: Writing

extension JSONOutput {
    /// `{"id":…,"type":…,"data":{…}}`.
    static func bytes(of message: some Message, id: UInt64? = nil) -> [UInt8] {
        var json = JSONOutput(names: .asDeclared)
        json.writeObject { json in
            _ = json.optional("id", id)
            do {
                _ = try message.coded(by: &json)
            } catch {
                preconditionFailure("writing does not fail: \(error)")
            }
            json.endObject()
        }
        return json.bytes
    }

    static func bytes(ofBody fields: some Fields) -> [UInt8] {
        var json = JSONOutput(names: .asDeclared)
        fields.write(to: &json)
        return json.bytes
    }

    /// `{"type":…,"re":…,"data":{…}}`.
    static func bytes(ofReply type: String, re id: UInt64?, _ fields: some Fields) -> [UInt8] {
        var json = JSONOutput(names: .asDeclared)
        json.writeObject { json in
            _ = json("type", type)
            _ = json.nullable("re", id)
            _ = json("data", fields)
        }
        return json.bytes
    }
}
