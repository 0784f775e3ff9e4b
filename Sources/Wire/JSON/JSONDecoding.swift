/// Decodes one value of a document. This is the `Decoder` that `Decodable` types see.
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

    /// An object's members with unconverted names.
    func decodeTexts() throws -> [String: String] {
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

/// Reading without `Codable`.
extension JSONValueReader {
    /// - Throws: `DecodingError.dataCorrupted` for text that is not JSON.
    init(parsing text: [UInt8]) throws(DecodingError) {
        self.init(document: try JSONDocument(parsing: text), index: 0, names: .snakeCase)
    }

    /// Nil if there is no such member.
    ///
    /// - Throws: `DecodingError` if this is not an object.
    func member(_ name: StaticString) throws -> JSONValueReader? {
        guard token.kind == .object else { throw mismatch([String: Any].self) }
        return document.member(name, of: index).map { JSONValueReader(document: document, index: $0, names: names) }
    }

    /// - Throws: `DecodingError` if this is not an array.
    func elements() throws -> [JSONValueReader] {
        guard token.kind == .array else { throw mismatch([Any].self) }
        return document.elements(of: index).map { JSONValueReader(document: document, index: $0, names: names) }
    }

    func notAllowed(_ problem: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: problem))
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
        let context = DecodingError.Context(codingPath: codingPath, debugDescription: "found \(token.kind) instead of \(type)")
        return isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    private func doesNotFit(_ type: Any.Type) -> DecodingError { notAllowed("the number does not fit \(type)") }
}

/// Decodes an object's members by their keys.
struct JSONObjectReader<Key: CodingKey> {
    let object: JSONValueReader

    private func member(_ key: some CodingKey) -> JSONValueReader? {
        guard let index = object.document.member(key.stringValue, of: object.index, names: object.names) else { return nil }
        return JSONValueReader(document: object.document, index: index, names: object.names)
    }

    private func required(_ key: some CodingKey) throws -> JSONValueReader {
        guard let member = member(key) else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "no such member"))
        }
        return member
    }
}

/// One generic method serves the protocol's fourteen numeric requirements. It is inlined into each witness, where the type is known.
extension JSONObjectReader: KeyedDecodingContainerProtocol {
    var codingPath: [any CodingKey] { object.codingPath }

    /// Includes names that differ from what `names` produces, although decoding them finds nothing.
    var allKeys: [Key] {
        object.document.memberNames(of: object.index).compactMap { Key(stringValue: object.document.text(at: $0)) }
    }

    func contains(_ key: Key) -> Bool { member(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try required(key).isNull }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try required(key).decode(type) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try required(key).decode(type) }
    @inline(__always)
    func decode<T: BinaryFloatingPoint & Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try required(key).decode(type) }
    @inline(__always)
    func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try required(key).decode(type) }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try required(key).decode(type) }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type, forKey key: Key) throws -> KeyedDecodingContainer<NestedKey> {
        try required(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try required(key).unkeyedContainer() }
    func superDecoder() throws -> any Decoder { try required(JSONPathKey(stringValue: "super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try required(key) }
}

/// Decodes an array's elements in order.
struct JSONArrayReader {
    private let array: JSONValueReader
    /// The token of the next element, or the end of the array.
    private var next: Int
    private let end: Int
    private(set) var currentIndex = 0

    init(array: JSONValueReader) {
        self.array = array
        next = array.index + 1
        end = Int(array.document.tokens[array.index].next)
    }

    private func element() throws -> JSONValueReader {
        guard !isAtEnd else {
            let context = DecodingError.Context(codingPath: codingPath, debugDescription: "the array has no element \(currentIndex)")
            throw DecodingError.valueNotFound(Any.self, context)
        }
        return JSONValueReader(document: array.document, index: next, names: array.names)
    }

    /// Decodes the next element and advances if that succeeds.
    private mutating func taking<T>(_ read: (JSONValueReader) throws -> T) throws -> T {
        let value = try read(element())
        next = Int(array.document.tokens[next].next)
        currentIndex += 1
        return value
    }
}

/// See `JSONObjectReader` for the generic numeric methods.
extension JSONArrayReader: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { array.codingPath }
    /// O(n) in the elements.
    var count: Int? { array.document.elements(of: array.index).count }
    var isAtEnd: Bool { next == end }

    mutating func decodeNil() throws -> Bool {
        guard try element().isNull else { return false }
        return try taking { _ in true }
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try taking { try $0.decode(type) } }
    mutating func decode(_ type: String.Type) throws -> String { try taking { try $0.decode(type) } }
    @inline(__always)
    mutating func decode<T: BinaryFloatingPoint & Decodable>(_ type: T.Type) throws -> T { try taking { try $0.decode(type) } }
    @inline(__always)
    mutating func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) throws -> T { try taking { try $0.decode(type) } }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try taking { try $0.decode(type) } }

    mutating func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) throws -> KeyedDecodingContainer<NestedKey> {
        try taking { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try taking { try $0.unkeyedContainer() } }
    mutating func superDecoder() throws -> any Decoder { try taking { $0 } }
}
