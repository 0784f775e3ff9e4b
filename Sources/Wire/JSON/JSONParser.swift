/// Parses a text by the grammar of RFC 8259 in a single pass.
///
/// Keeps its own stack of open containers, so deeply nested input is limited by `JSON.depthMax` and not by the thread's stack.
struct JSONParser {
    private let bytes: [UInt8]
    private var position = 0
    private var tokens: [JSONToken] = []
    /// Tokens of the open containers, innermost last.
    private var open: [Int] = []

    static func tokens(of bytes: [UInt8]) throws(DecodingError) -> [JSONToken] {
        var parser = JSONParser(bytes)
        try parser.checkEncoding()
        try parser.readText()
        return parser.tokens
    }

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // Typical for control messages; the array grows for others.
        tokens.reserveCapacity(bytes.count / 6 + 4)
    }

    private func checkEncoding() throws(DecodingError) {
        guard UInt32(exactly: bytes.count) != nil else { throw syntaxError("too long") }
        #if canImport(Darwin)
            // `UTF8Span` needs macOS 26.
            guard String(validating: bytes, as: UTF8.self) != nil else { throw syntaxError("not UTF-8") }
        #else
            do {
                _ = try UTF8Span(validating: bytes.span)
            } catch {
                throw syntaxError("not UTF-8")
            }
        #endif
    }

    private mutating func readText() throws(DecodingError) {
        repeat {
            if try readValue() { try advance() }
        } while !open.isEmpty
        guard position == bytes.count else { throw syntaxError("unexpected text after the value") }
    }

    /// - Returns: whether the value is complete. For a container with content, only its opening and the first name have been read.
    private mutating func readValue() throws(DecodingError) -> Bool {
        skipSpace()
        switch here {
        case UInt8(ascii: "{"): return try !openContainer(.object)
        case UInt8(ascii: "["): return try !openContainer(.array)
        case UInt8(ascii: "\""): try readString()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try readNumber()
        case UInt8(ascii: "t"): try readWord("true", .true)
        case UInt8(ascii: "f"): try readWord("false", .false)
        case UInt8(ascii: "n"): try readWord("null", .null)
        default: throw syntaxError("expected a value")
        }
        return true
    }

    /// Moves from the end of a value to the next value, or to the end of the text.
    private mutating func advance() throws(DecodingError) {
        while true {
            skipSpace()
            guard let container = open.last else { return }
            if closeInnermost() { continue }
            try expect(UInt8(ascii: ","))
            if tokens[container].kind == .object { try readName() }
            return
        }
    }
}

// MARK: Containers

extension JSONParser {
    /// - Returns: whether it has content.
    private mutating func openContainer(_ kind: JSONToken.Kind) throws(DecodingError) -> Bool {
        guard open.count < JSON.depthMax else { throw syntaxError("nested too deeply") }
        open.append(tokens.count)
        add(kind, from: position)
        position += 1
        skipSpace()
        if closeInnermost() { return false }
        if kind == .object { try readName() }
        return true
    }

    /// - Returns: whether the container ends here.
    private mutating func closeInnermost() -> Bool {
        guard let container = open.last else { return false }
        guard here == (tokens[container].kind == .object ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { return false }
        position += 1
        tokens[container].end = UInt32(position)
        tokens[container].next = UInt32(tokens.count)
        open.removeLast()
        return true
    }

    private mutating func readName() throws(DecodingError) {
        skipSpace()
        try readString()
        skipSpace()
        try expect(UInt8(ascii: ":"))
    }
}

// MARK: Strings

extension JSONParser {
    private mutating func readString() throws(DecodingError) {
        try expect(UInt8(ascii: "\""))
        let start = position
        var kind = JSONToken.Kind.plainText
        while true {
            let byte = here
            if byte == UInt8(ascii: "\"") { break }
            guard byte >= 0x20 else { throw syntaxError("control character in a string, or unterminated string") }
            if byte == UInt8(ascii: "\\") {
                kind = .escapedText
                try readEscape()
            } else {
                position += 1
            }
        }
        add(kind, from: start)
        position += 1
    }

    private mutating func readEscape() throws(DecodingError) {
        position += 1
        let letter = here
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            break
        case UInt8(ascii: "u"):
            let unit = try readHexadecimal()
            guard UTF16.isSurrogate(unit) else { break }
            guard UTF16.isLeadSurrogate(unit) else { throw syntaxError("low surrogate without a high one") }
            try expect(UInt8(ascii: "\\"))
            try expect(UInt8(ascii: "u"))
            guard UTF16.isTrailSurrogate(try readHexadecimal()) else { throw syntaxError("high surrogate without a low one") }
        default: throw syntaxError("unknown escape")
        }
    }

    private mutating func readHexadecimal() throws(DecodingError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = Character(Unicode.Scalar(here)).hexDigitValue else { throw syntaxError("expected a hexadecimal digit") }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }
}

// MARK: Numbers and words

extension JSONParser {
    private mutating func readNumber() throws(DecodingError) {
        let start = position
        if here == UInt8(ascii: "-") { position += 1 }
        if here == UInt8(ascii: "0") { position += 1 } else { try readDigits() }
        if here == UInt8(ascii: ".") {
            position += 1
            try readDigits()
        }
        if here == UInt8(ascii: "e") || here == UInt8(ascii: "E") {
            position += 1
            if here == UInt8(ascii: "+") || here == UInt8(ascii: "-") { position += 1 }
            try readDigits()
        }
        add(.number, from: start)
    }

    /// Reads at least one digit.
    private mutating func readDigits() throws(DecodingError) {
        guard isAtDigit else { throw syntaxError("expected a digit") }
        while isAtDigit { position += 1 }
    }

    private var isAtDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= here }

    private mutating func readWord(_ word: String, _ kind: JSONToken.Kind) throws(DecodingError) {
        let start = position
        for byte in word.utf8 { try expect(byte) }
        add(kind, from: start)
    }
}

// MARK: Bytes and tokens

extension JSONParser {
    /// The byte at `position`, or NUL at the end, which no rule accepts.
    private var here: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private mutating func skipSpace() {
        while true {
            let byte = here
            // Fast path: no other byte that is valid here is this small.
            guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position += 1
        }
    }

    private mutating func expect(_ byte: UInt8) throws(DecodingError) {
        guard here == byte else { throw syntaxError("expected \"\(Unicode.Scalar(byte))\"") }
        position += 1
    }

    private mutating func add(_ kind: JSONToken.Kind, from start: Int) {
        tokens.append(
            JSONToken(kind: kind, start: UInt32(start), end: UInt32(position), next: UInt32(tokens.count + 1)))
    }

    private func syntaxError(_ problem: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "invalid JSON: \(problem) at byte \(position)"))
    }
}

/// A value or a member name in the flat array that a text is parsed into.
///
/// A container's token is followed by its content: for an array value after value, for an object name, value, name, value.
struct JSONToken {
    enum Kind: UInt8 {
        case object, array, number, `true`, `false`, null
        /// A string without escapes, whose bytes are its value.
        case plainText
        case escapedText
    }

    var kind: Kind
    /// Offset of the first byte; for strings, after the quote.
    var start: UInt32
    /// Offset of the end; for strings, before the quote.
    var end: UInt32
    /// Index of the token after this one and its content.
    var next: UInt32

    var bytes: Range<Int> { Int(start)..<Int(end) }
}
