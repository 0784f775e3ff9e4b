/// Reads an array's elements one after another.
struct JSONArrayReader {
    private let array: JSONValueReader
    /// The token of the next element, or the one behind the array.
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
            let context = DecodingError.Context(codingPath: codingPath, debugDescription: "no element \(currentIndex)")
            throw DecodingError.valueNotFound(Any.self, context)
        }
        return JSONValueReader(document: array.document, index: next, names: array.names)
    }

    /// What `read` makes of the next element, which is passed over only if it succeeds.
    private mutating func taking<T>(_ read: (JSONValueReader) throws -> T) throws -> T {
        let value = try read(element())
        next = Int(array.document.tokens[next].next)
        currentIndex += 1
        return value
    }
}

/// One generic method stands in for the protocol's fourteen about numbers. It is inlined where the protocol's are
/// met, because a number's type is known there and not behind.
extension JSONArrayReader: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { array.codingPath }
    /// Linear in the elements.
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
