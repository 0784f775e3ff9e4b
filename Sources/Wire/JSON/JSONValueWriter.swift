/// Writes one value. `Encodable` types see it as their encoder.
struct JSONValueWriter {
    let writer: JSONWriter
    /// How many containers are around the value.
    let depth: Int
}

extension JSONValueWriter: Encoder {
    /// Always empty: what does not encode is a mistake of ours, which a path would not mend.
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

/// One generic method stands in for the protocol's fourteen about numbers. It is inlined where the protocol's are
/// met, because a number's type is known there and not behind.
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
