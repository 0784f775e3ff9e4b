/// Writes an array's elements one after another.
struct JSONArrayWriter {
    let writer: JSONWriter
    /// How many containers are around an element: the array is the innermost.
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

/// One generic method stands in for the protocol's fourteen about numbers. It is inlined where the protocol's are
/// met, because a number's type is known there and not behind.
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
