/// Checks text that arrives in pieces (RFC 3629 section 4), and finds a bad byte as soon as it arrives.
///
/// The standard library validates only whole strings, which it copies.
struct UTF8Validator {
    /// Bytes that the current character still needs.
    private var bytesLeft: UInt8 = 0
    /// Which values the next of them may have. These exclude overlong forms, surrogates and what is beyond U+10FFFF.
    private var lowest = UTF8Validator.lowestTrailing
    private var highest = UTF8Validator.highestTrailing

    private static var lowestTrailing: UInt8 { 0x80 }
    private static var highestTrailing: UInt8 { 0xBF }

    /// Whether the text so far does not end within a character.
    var isComplete: Bool { bytesLeft == 0 }

    /// Whether these bytes are a whole valid text.
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var validator = UTF8Validator()
        return unsafe validator.accept(bytes) && validator.isComplete
    }

    /// Takes the next piece.
    ///
    /// - Returns: false if no text continues in this way.
    mutating func accept(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return true }
        var offset = 0
        while offset < bytes.count {
            if bytesLeft == 0 {
                offset = unsafe Self.endOfASCII(start, offset, bytes.count)
                guard offset < bytes.count else { return true }
            }
            guard unsafe accept(start.load(fromByteOffset: offset, as: UInt8.self)) else { return false }
            offset += 1
        }
        return true
    }

    /// The offset of the first byte above 127, eight bytes at a time.
    private static func endOfASCII(_ start: UnsafeRawPointer, _ offset: Int, _ count: Int) -> Int {
        var offset = offset
        while offset + 8 <= count {
            let high = unsafe UInt64(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) & 0x8080_8080_8080_8080
            guard high == 0 else { return offset + high.trailingZeroBitCount / 8 }
            offset += 8
        }
        while unsafe offset < count && start.load(fromByteOffset: offset, as: UInt8.self) < 0x80 { offset += 1 }
        return offset
    }

    private mutating func accept(_ byte: UInt8) -> Bool {
        if bytesLeft > 0 {
            guard byte >= lowest && byte <= highest else { return false }
            bytesLeft -= 1
            (lowest, highest) = (Self.lowestTrailing, Self.highestTrailing)
            return true
        }
        switch byte {
        case 0xC2...0xDF: bytesLeft = 1
        case 0xE0: (bytesLeft, lowest) = (2, 0xA0)
        case 0xED: (bytesLeft, highest) = (2, 0x9F)
        case 0xE1...0xEF: bytesLeft = 2
        case 0xF0: (bytesLeft, lowest) = (3, 0x90)
        case 0xF1...0xF3: bytesLeft = 3
        case 0xF4: (bytesLeft, highest) = (3, 0x8F)
        default: return false
        }
        return true
    }
}
