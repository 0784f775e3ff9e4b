/// Encodes a value front to back into one array of bytes, shared by all containers of a value.
///
/// A container is closed when the value that opened it has been encoded, or when a sibling is written. A type may therefore request its
/// container twice and add to the members of the first.
final class JSONWriter {
    private(set) var output: JSONOutput

    init(names: JSONNames) {
        output = JSONOutput(names: names)
    }

    func encode<T: Encodable>(_ value: T) throws {
        if T.self == [String: String].self, let texts = value as? [String: String] { return output.write(texts) }
        let depth = output.depth
        let start = output.bytes.count
        try value.encode(to: JSONValueWriter(writer: self, depth: depth))
        output.closeContainers(downTo: depth)
        guard output.bytes.count > start else {
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: "the value encoded nothing"))
        }
    }

    /// Batches writes: each access to a class property is checked for exclusivity, which costs more than writing a comma.
    @inline(__always)
    func write<Result>(_ body: (inout JSONOutput) throws -> Result) rethrows -> Result { try body(&output) }
}

/// Encodes one value. This is the `Encoder` that `Encodable` types see.
struct JSONValueWriter {
    let writer: JSONWriter
    /// The number of containers around the value.
    let depth: Int
}

extension JSONValueWriter: Encoder {
    /// Always empty: a value that does not encode is a bug, and tracking the path would cost every message.
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy _: Key.Type) -> KeyedEncodingContainer<Key> {
        let inside = writer.write { $0.openContainer(at: depth, UInt8(ascii: "{"), UInt8(ascii: "}")) }
        return KeyedEncodingContainer(JSONObjectWriter<Key>(writer: writer, depth: inside))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        let inside = writer.write { $0.openContainer(at: depth, UInt8(ascii: "["), UInt8(ascii: "]")) }
        return JSONArrayWriter(writer: writer, depth: inside)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

/// One generic method serves the protocol's fourteen numeric requirements. It is inlined into each witness, where the type is known.
extension JSONValueWriter: SingleValueEncodingContainer {
    func encodeNil() { writer.write { $0.writeNull() } }
    func encode(_ value: Bool) { writer.write { $0.write(value) } }
    func encode(_ value: String) { writer.write { $0.write(value) } }
    @inline(__always)
    func encode<T: BinaryFloatingPoint & CustomStringConvertible & Encodable>(_ value: T) throws {
        try writer.write { try $0.write(value) }
    }
    @inline(__always)
    func encode<T: FixedWidthInteger & Encodable>(_ value: T) { writer.write { $0.write(value) } }
    func encode<T: Encodable>(_ value: T) throws { try writer.encode(value) }
}

/// Encodes an object's members in order.
struct JSONObjectWriter<Key: CodingKey> {
    let writer: JSONWriter
    /// The number of containers around a member, including the object.
    let depth: Int

    @inline(__always)
    private func write(_ key: some CodingKey, _ writeValue: (inout JSONOutput) throws -> Void) rethrows {
        let name = key.stringValue
        try writer.write {
            $0.beginMember(name, at: depth)
            try writeValue(&$0)
        }
    }

    private func begin(_ key: some CodingKey) -> JSONWriter {
        write(key) { _ in }
        return writer
    }
}

/// See `JSONValueWriter` for the generic numeric methods.
extension JSONObjectWriter: KeyedEncodingContainerProtocol {
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { write(key) { $0.writeNull() } }
    func encode(_ value: Bool, forKey key: Key) { write(key) { $0.write(value) } }
    func encode(_ value: String, forKey key: Key) { write(key) { $0.write(value) } }
    @inline(__always)
    func encode<T: BinaryFloatingPoint & CustomStringConvertible & Encodable>(_ value: T, forKey key: Key) throws {
        try write(key) { try $0.write(value) }
    }
    @inline(__always)
    func encode<T: FixedWidthInteger & Encodable>(_ value: T, forKey key: Key) { write(key) { $0.write(value) } }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try begin(key).encode(value) }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type, forKey key: Key) -> KeyedEncodingContainer<NestedKey> {
        JSONValueWriter(writer: begin(key), depth: depth).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        JSONValueWriter(writer: begin(key), depth: depth).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { JSONValueWriter(writer: begin(JSONPathKey(stringValue: "super")), depth: depth) }
    func superEncoder(forKey key: Key) -> any Encoder { JSONValueWriter(writer: begin(key), depth: depth) }
}

/// Encodes an array's elements in order.
struct JSONArrayWriter {
    let writer: JSONWriter
    /// The number of containers around an element, including the array.
    let depth: Int
    private(set) var count = 0

    init(writer: JSONWriter, depth: Int) {
        self.writer = writer
        self.depth = depth
    }

    @inline(__always)
    private mutating func write(_ writeValue: (inout JSONOutput) throws -> Void) rethrows {
        try writer.write {
            $0.beginElement(at: depth)
            try writeValue(&$0)
        }
        count += 1
    }

    private mutating func begin() -> JSONWriter {
        write { _ in }
        return writer
    }
}

/// See `JSONValueWriter` for the generic numeric methods.
extension JSONArrayWriter: UnkeyedEncodingContainer {
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil() { write { $0.writeNull() } }
    mutating func encode(_ value: Bool) { write { $0.write(value) } }
    mutating func encode(_ value: String) { write { $0.write(value) } }
    @inline(__always)
    mutating func encode<T: BinaryFloatingPoint & CustomStringConvertible & Encodable>(_ value: T) throws {
        try write { try $0.write(value) }
    }
    @inline(__always)
    mutating func encode<T: FixedWidthInteger & Encodable>(_ value: T) { write { $0.write(value) } }
    mutating func encode<T: Encodable>(_ value: T) throws { try begin().encode(value) }

    mutating func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        JSONValueWriter(writer: begin(), depth: depth).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        JSONValueWriter(writer: begin(), depth: depth).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { JSONValueWriter(writer: begin(), depth: depth) }
}
