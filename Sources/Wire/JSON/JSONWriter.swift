/// Encodes a value into one array of bytes, front to back. The containers that a type fills all share it.
///
/// A container is closed when the value that opened it has been encoded, or when something is written next to it; so a type may ask for
/// its container twice and add to the first one's members.
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
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: "it encoded nothing"))
        }
    }

    /// All that is to be written at one go: each access to a class's property is checked for exclusivity, which costs more than to
    /// write a comma.
    @inline(__always)
    func write<Result>(_ body: (inout JSONOutput) throws -> Result) rethrows -> Result { try body(&output) }
}
