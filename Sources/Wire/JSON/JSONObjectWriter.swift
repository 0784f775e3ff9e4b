/// Writes an object's members in the order in which they come.
struct JSONObjectWriter<Key: CodingKey> {
    let writer: JSONWriter
    /// How many containers are around a member: the object is the innermost.
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

/// One generic method stands in for the protocol's fourteen about numbers. It is inlined where the protocol's are
/// met, because a number's type is known there and not behind.
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
