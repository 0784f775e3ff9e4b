/// A parsed text: its bytes and the tokens that locate its values. Values are decoded on demand.
final class JSONDocument: Sendable {
    private let bytes: [UInt8]
    let tokens: [JSONToken]

    /// - Throws: `DecodingError.dataCorrupted` for text that is not JSON.
    init(parsing bytes: [UInt8]) throws(DecodingError) {
        self.bytes = bytes
        self.tokens = try JSONParser.tokens(of: bytes)
    }
}

// MARK: Containers

extension JSONDocument {
    /// Finds the value of the first member of `object` named by `key`. O(n) in its members.
    func member(_ key: String, of object: Int, names: JSONNames) -> Int? {
        let key = key.utf8
        return member(of: object) { names.isName($0, of: key.span) }
    }

    /// Finds the value of the first member of `object` with this name. O(n) in its members.
    func member(_ name: StaticString, of object: Int) -> Int? {
        let name = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return member(of: object) { found in
            found.count == name.count && found.indices.allSatisfy { found[$0] == name[$0] }
        }
    }

    /// Inlined so that the closure is not allocated.
    @inline(__always)
    private func member(of object: Int, _ isFound: (Span<UInt8>) -> Bool) -> Int? {
        // Copied once: each access through `self` would retain and release.
        let (bytes, tokens) = (bytes, tokens)
        let end = tokens[object].next
        var name = object + 1
        while name < end {
            if tokens[name].kind == .plainText {
                if isFound(bytes.span.extracting(tokens[name].bytes)) { return name + 1 }
            } else {
                let unescaped = Array(text(at: name).utf8)
                if isFound(unescaped.span) { return name + 1 }
            }
            name = Int(tokens[name + 1].next)
        }
        return nil
    }

    /// The tokens of an object's names; each is followed by its value.
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

    /// The coding path of the value at `target`, reconstructed from the tokens so that decoding does not have to track it.
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
    /// The value of a string or a name.
    func text(at index: Int) -> String {
        let written = bytes[tokens[index].bytes]
        return tokens[index].kind == .plainText ? String(decoding: written, as: UTF8.self) : String(unescaping: written)
    }

    /// Whether a number has neither a point nor an exponent.
    func isPlainInteger(at index: Int) -> Bool {
        !bytes[tokens[index].bytes].contains { [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")].contains($0) }
    }

    func number(at index: Int) -> JSONNumber { JSONNumber(bytes[tokens[index].bytes]) }
}

extension String {
    /// - Parameter written: the content of a JSON string whose escapes have been validated.
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

/// An exact number: ±significand · 10^exponent.
struct JSONNumber {
    private let digits: ArraySlice<UInt8>
    private var isNegative = false
    private var significand: UInt64 = 0
    private var exponent = 0
    /// Whether `significand` does not hold all digits.
    private var isTooLong = false

    /// - Parameter digits: a number in JSON's grammar.
    init(_ digits: ArraySlice<UInt8>) {
        self.digits = digits
        var isFraction = false
        for (index, byte) in zip(digits.indices, digits) {
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                exponent += Self.power(digits[(index + 1)...])
                return
            default:
                add(digit: UInt64(byte & 0x0F))
                if isFraction { exponent -= 1 }
            }
        }
    }

    private mutating func add(digit: UInt64) {
        let (shifted, isOver) = significand.multipliedReportingOverflow(by: 10)
        let (sum, carries) = shifted.addingReportingOverflow(digit)
        if isOver || carries { isTooLong = true } else { significand = sum }
    }

    /// The exponent after `e`, limited to ±1,000,000.
    private static func power(_ written: ArraySlice<UInt8>) -> Int {
        let isNegative = written.first == UInt8(ascii: "-")
        let power = written.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
            .reduce(0) { min($0 * 10 + Int($1 & 0x0F), 1_000_000) }
        return isNegative ? -power : power
    }
}

extension JSONNumber {
    /// Nil if it is not a value of `T`. `1.0` and `1e2` are integers.
    func integer<T: FixedWidthInteger>(_: T.Type) -> T? {
        guard !isTooLong else { return nil }
        var magnitude = significand
        var rest = magnitude == 0 ? 0 : exponent
        while rest > 0 {
            let (product, isOver) = magnitude.multipliedReportingOverflow(by: 10)
            guard !isOver else { return nil }
            magnitude = product
            rest -= 1
        }
        while rest < 0 {
            let (quotient, remainder) = magnitude.quotientAndRemainder(dividingBy: 10)
            guard remainder == 0 else { return nil }
            magnitude = quotient
            rest += 1
        }
        return T(exactly: isNegative ? -Int128(magnitude) : Int128(magnitude))
    }

    /// The nearest `Double`; nil if it overflows, or underflows to zero.
    var double: Double? {
        if let exact = exactQuotientOrProduct { return isNegative ? -exact : exact }
        guard let value = Double(String(decoding: digits, as: UTF8.self)), value.isFinite, value != 0 || significand == 0 else {
            return nil
        }
        return value
    }

    /// If significand and power of ten are both exact as `Double`, a single operation rounds correctly (Clinger 1990).
    private var exactQuotientOrProduct: Double? {
        guard !isTooLong, significand <= 1 << 53, Self.powersOfTen.indices.contains(abs(exponent)) else { return nil }
        let power = Self.powersOfTen[abs(exponent)]
        return exponent < 0 ? Double(significand) / power : Double(significand) * power
    }

    /// All powers that a `Double` represents exactly.
    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]
}
