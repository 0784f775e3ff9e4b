/// Reads one value of a document. `Decodable` types see it as their decoder.
struct JSONValueReader {
    let document: JSONDocument
    /// The value's token.
    let index: Int
    let names: JSONNames

    private var token: JSONToken { document.tokens[index] }
    var isNull: Bool { token.kind == .null }

    func decode(_: String.Type) throws -> String {
        switch token.kind {
        case .plainText, .escapedText: return document.text(at: index)
        default: throw mismatch(String.self)
        }
    }

    func decode(_: Bool.Type) throws -> Bool {
        switch token.kind {
        case .true: return true
        case .false: return false
        default: throw mismatch(Bool.self)
        }
    }

    func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) throws -> T {
        guard token.kind == .number else { throw mismatch(type) }
        guard let number = document.number(at: index).integer(type) else { throw doesNotFit(type) }
        return number
    }

    func decode<T: BinaryFloatingPoint & Decodable>(_ type: T.Type) throws -> T {
        guard token.kind == .number else { throw mismatch(type) }
        guard let number = document.number(at: index).double else { throw doesNotFit(type) }
        return T(number)
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if type == [String: String].self, let dictionary = try decodeTexts() as? T { return dictionary }
        return try T(from: self)
    }

    /// An object's members under their own names.
    private func decodeTexts() throws -> [String: String] {
        guard token.kind == .object else { throw mismatch([String: String].self) }
        var texts: [String: String] = [:]
        for name in document.memberNames(of: index) {
            let text = try JSONValueReader(document: document, index: name + 1, names: names).decode(String.self)
            let name = document.text(at: name)
            if texts[name] == nil { texts[name] = text }
        }
        return texts
    }
}

extension JSONValueReader: Decoder {
    var codingPath: [any CodingKey] { document.path(to: index) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy _: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard token.kind == .object else { throw mismatch([String: Any].self) }
        return KeyedDecodingContainer(JSONObjectReader<Key>(object: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard token.kind == .array else { throw mismatch([Any].self) }
        return JSONArrayReader(array: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension JSONValueReader: SingleValueDecodingContainer {
    func decodeNil() -> Bool { isNull }
}

extension JSONValueReader {
    private func mismatch(_ type: Any.Type) -> DecodingError {
        let context = DecodingError.Context(codingPath: codingPath, debugDescription: "\(token.kind) is no \(type)")
        return isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    private func doesNotFit(_ type: Any.Type) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: "no \(type) is this number"))
    }
}
