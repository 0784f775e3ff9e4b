/// Reads an object's members by their keys.
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

    /// Nil for null as for nothing.
    private func present(_ key: Key) -> JSONValueReader? {
        guard let member = member(key), !member.isNull else { return nil }
        return member
    }
}

/// One generic method stands in for the protocol's fourteen about numbers. It is inlined where the protocol's are
/// met, because a number's type is known there and not behind.
extension JSONObjectReader: KeyedDecodingContainerProtocol {
    var codingPath: [any CodingKey] { object.codingPath }

    /// Names that are not as `names` would write them are given too, but find nothing.
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

    // Those that messages use are written out, because the protocol's own would look for the member three times.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try present(key)?.decode(type) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try present(key)?.decode(type) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try present(key)?.decode(type) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try present(key)?.decode(type) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try present(key)?.decode(type) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try present(key)?.decode(type) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try present(key)?.decode(type) }
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? { try present(key)?.decode(type) }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type, forKey key: Key) throws -> KeyedDecodingContainer<NestedKey> {
        try required(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try required(key).unkeyedContainer() }
    func superDecoder() throws -> any Decoder { try required(JSONPathKey(stringValue: "super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try required(key) }
}
