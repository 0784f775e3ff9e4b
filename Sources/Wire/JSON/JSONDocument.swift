/// A text that was read: its bytes, and where in them its values are. Nothing else of it is made before somebody asks.
final class JSONDocument: Sendable {
    private let bytes: [UInt8]
    let tokens: [JSONToken]

    /// - Throws: `DecodingError.dataCorrupted` for what is not JSON.
    init(parsing bytes: [UInt8]) throws(DecodingError) {
        self.bytes = bytes
        self.tokens = try JSONParser.tokens(of: bytes)
    }
}

// MARK: Containers

extension JSONDocument {
    /// The value of the first member of the object at `object` that is called as `key` says. Linear in the members.
    func member(_ key: String, of object: Int, names: JSONNames) -> Int? {
        let key = key.utf8
        // Taken once: to go through `self` for each name would count a reference each time.
        let (bytes, tokens) = (bytes, tokens)
        let end = tokens[object].next
        var name = object + 1
        while name < end {
            let isFound =
                tokens[name].kind == .plainText
                ? names.isName(bytes.span.extracting(tokens[name].bytes), of: key.span) : isName(escaped: name, of: key.span, names)
            if isFound { return name + 1 }
            name = Int(tokens[name + 1].next)
        }
        return nil
    }

    private func isName(escaped name: Int, of key: Span<UInt8>, _ names: JSONNames) -> Bool {
        let unescaped = Array(text(at: name).utf8)
        return names.isName(unescaped.span, of: key)
    }

    /// The tokens of an object's names; each has its value right behind it.
    func memberNames(of object: Int) -> [Int] {
        contents(of: object) { self.tokens[$0 + 1].next }
    }

    /// The tokens of an array's elements.
    func elements(of array: Int) -> [Int] {
        contents(of: array) { self.tokens[$0].next }
    }

    private func contents(of container: Int, next: (Int) -> UInt32) -> [Int] {
        var contents: [Int] = []
        var index = container + 1
        while index < tokens[container].next {
            contents.append(index)
            index = Int(next(index))
        }
        return contents
    }

    /// How to get from the whole text to the value at `target`. Found from the tokens, so that reading has no path to keep.
    func path(to target: Int) -> [any CodingKey] {
        var path: [JSONPathKey] = []
        var container = 0
        while container != target {
            if tokens[container].kind == .object {
                guard let name = memberNames(of: container).last(where: { $0 < target }) else { break }
                path.append(JSONPathKey(stringValue: text(at: name)))
                container = name + 1
            } else {
                let elements = elements(of: container)
                guard let position = elements.lastIndex(where: { $0 <= target }) else { break }
                path.append(JSONPathKey(intValue: position))
                container = elements[position]
            }
        }
        return path
    }
}

// MARK: Scalars

extension JSONDocument {
    /// The text of a string or of a name.
    func text(at index: Int) -> String {
        let written = bytes[tokens[index].bytes]
        return tokens[index].kind == .plainText ? String(decoding: written, as: UTF8.self) : String(unescaping: written)
    }

    func number(at index: Int) -> JSONNumber { JSONNumber(bytes[tokens[index].bytes]) }
}

extension String {
    /// - Parameter written: the inside of a JSON string whose escapes are known to be right.
    fileprivate init(unescaping written: ArraySlice<UInt8>) {
        var units = written.makeIterator()
        var plain: [UInt8] = []
        plain.reserveCapacity(written.count)

        func hexadecimal() -> UInt16 {
            (0..<4).reduce(0) { unit, _ in unit << 4 | UInt16(Character(Unicode.Scalar(units.next() ?? 0)).hexDigitValue ?? 0) }
        }
        func scalar() -> Unicode.Scalar {
            let unit = hexadecimal()
            guard UTF16.isLeadSurrogate(unit) else { return Unicode.Scalar(unit) ?? "\u{FFFD}" }
            _ = (units.next(), units.next())
            return UTF16.decode(UTF16.EncodedScalar([unit, hexadecimal()]))
        }
        while let byte = units.next() {
            guard byte == UInt8(ascii: "\\"), let letter = units.next() else {
                plain.append(byte)
                continue
            }
            switch letter {
            case UInt8(ascii: "b"): plain.append(0x08)
            case UInt8(ascii: "f"): plain.append(0x0C)
            case UInt8(ascii: "n"): plain.append(0x0A)
            case UInt8(ascii: "r"): plain.append(0x0D)
            case UInt8(ascii: "t"): plain.append(0x09)
            case UInt8(ascii: "u"): plain += UTF8.encode(scalar()) ?? UTF8.encodedReplacementCharacter
            default: plain.append(letter)
            }
        }
        self.init(decoding: plain, as: UTF8.self)
    }
}
