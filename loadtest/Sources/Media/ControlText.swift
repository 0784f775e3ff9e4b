/// A look at a text message that spares the parser: which kind it is tells its first bytes, `{"type":"…`.
enum ControlText {
    /// Whether it is neither `hello` nor an answer to a request, of which those with an error must be read.
    static func isOfNoInterest(_ text: UnsafeRawBufferPointer) -> Bool {
        let start = #"{"type":""#.utf8.count
        guard text.count > start + 5, let base = text.baseAddress else { return false }
        return !begins(base + start, "hello") && !begins(base + start, "reply") && !begins(base + start, "error")
    }

    private static func begins(_ text: UnsafeRawPointer, _ word: StaticString) -> Bool {
        for index in 0..<word.utf8CodeUnitCount where text.load(fromByteOffset: index, as: UInt8.self) != word.utf8Start[index] {
            return false
        }
        return true
    }
}
