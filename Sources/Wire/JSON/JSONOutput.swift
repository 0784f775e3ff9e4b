/// JSON as it grows: the bytes so far, and which containers are open at their end.
package struct JSONOutput {
    private(set) var bytes: [UInt8] = []
    private let names: JSONNames
    /// The closing brackets of the containers around the end of `bytes`, the innermost last.
    private var open: [UInt8] = []

    /// - Parameter capacity: in bytes. Small messages fit; a `hello` grows it a few times.
    init(names: JSONNames, capacity: Int = 256) {
        self.names = names
        bytes.reserveCapacity(capacity)
    }

    /// How many containers are open.
    var depth: Int { open.count }
}

// MARK: Values

extension JSONOutput {
    package mutating func writeNull() { bytes += "null".utf8 }

    package mutating func write(_ truth: Bool) { bytes += truth ? "true".utf8 : "false".utf8 }

    mutating func write(_ number: some FixedWidthInteger) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        let start = bytes.count
        var rest = number.magnitude
        repeat {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
            rest = quotient
        } while rest != 0
        bytes[start...].reverse()
    }

    /// The shortest digits that are read back as `number`, and no `.0`.
    mutating func write(_ number: some BinaryFloatingPoint & CustomStringConvertible) throws {
        guard number.isFinite else {
            throw EncodingError.invalidValue(number, .init(codingPath: [], debugDescription: "JSON has no word for \(number)"))
        }
        let digits = number.description.utf8
        bytes += digits.suffix(2).elementsEqual(".0".utf8) ? digits.dropLast(2) : digits[...]
    }

    /// A dictionary has another order in every process: its names are sorted.
    mutating func write(_ texts: [String: String]) {
        let depth = open.count
        openContainer(UInt8(ascii: "{"), UInt8(ascii: "}"))
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
            separate()
            write(name)
            bytes.append(UInt8(ascii: ":"))
            write(text)
        }
        closeContainers(downTo: depth)
    }
}

// MARK: Containers

extension JSONOutput {
    /// Opens the container of a value at `depth`, or goes on with it.
    ///
    /// - Returns: the depth of its content.
    mutating func openContainer(at depth: Int, _ opening: UInt8, _ closing: UInt8) -> Int {
        closeContainers(downTo: depth + 1)
        if open.count == depth {
            openContainer(opening, closing)
        } else {
            precondition(open[depth] == closing, "A value is an object or an array, not both.")
        }
        return depth + 1
    }

    private mutating func openContainer(_ opening: UInt8, _ closing: UInt8) {
        bytes.append(opening)
        open.append(closing)
    }

    mutating func closeContainers(downTo depth: Int) {
        while open.count > depth { bytes.append(open.removeLast()) }
    }

    /// Everything before the value of the next member of the object whose content is at `depth`.
    mutating func beginMember(_ key: String, at depth: Int) {
        beginElement(at: depth)
        switch names {
        case .asDeclared: write(key)
        case .snakeCase: writeSnakeCase(key)
        }
        bytes.append(UInt8(ascii: ":"))
    }

    /// Everything before the next element of the array whose content is at `depth`.
    mutating func beginElement(at depth: Int) {
        precondition(open.count >= depth, "A container is written to while its value is encoded, and not later.")
        closeContainers(downTo: depth)
        separate()
    }

    /// A comma, unless a container has just been opened: no value ends in an opening bracket.
    private mutating func separate() {
        guard let last = bytes.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "[") else { return }
        bytes.append(UInt8(ascii: ","))
    }
}

// MARK: What writes itself

extension JSONOutput {
    /// - Parameter members: writes them with `writeMember`, each once.
    package mutating func writeObject(_ members: (inout JSONOutput) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        members(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    package mutating func writeArray<Element>(_ elements: [Element], _ write: (inout JSONOutput, Element) -> Void) {
        bytes.append(UInt8(ascii: "["))
        for element in elements {
            separate()
            write(&self, element)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Everything before a member's value.
    ///
    /// - Parameter name: as it stands in JSON; nothing in it needs an escape.
    package mutating func writeMember(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes += UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    /// Text of which is known that nothing in it needs an escape.
    package mutating func write(plain text: UnsafeBufferPointer<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        bytes += text
        bytes.append(UInt8(ascii: "\""))
    }
}

// MARK: Text

extension JSONOutput {
    /// In runs: what needs no escape is copied as it is.
    package mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        // Without a copy of the text, which would be counted as a reference.
        if text.utf8.withContiguousStorageIfAvailable({ writeEscaping($0) }) == nil {
            var text = text
            text.withUTF8 { writeEscaping($0) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func writeEscaping(_ utf8: UnsafeBufferPointer<UInt8>) {
        var start = 0
        var index = utf8.countWithoutEscape(from: 0)
        while index < utf8.count {
            bytes += UnsafeBufferPointer(rebasing: utf8[start..<index])
            writeEscape(utf8[index])
            start = index + 1
            index = utf8.countWithoutEscape(from: start)
        }
        bytes += UnsafeBufferPointer(rebasing: utf8[start...])
    }

    private mutating func writeSnakeCase(_ key: String) {
        bytes.append(UInt8(ascii: "\""))
        writeRuns(of: key, between: { $0.isCapital || $0.needsEscape }) { output, byte in
            guard byte.isCapital else { return output.writeEscape(byte) }
            output.bytes.append(UInt8(ascii: "_"))
            output.bytes.append(byte.lowercased)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Inlined so that neither closure is one.
    @inline(__always)
    private mutating func writeRuns(
        of text: String, between isSpecial: (UInt8) -> Bool, _ writeSpecial: (inout JSONOutput, UInt8) -> Void
    ) {
        var text = text
        text.withUTF8 { utf8 in
            var start = 0
            for index in utf8.indices where isSpecial(utf8[index]) {
                bytes += utf8[start..<index]
                writeSpecial(&self, utf8[index])
                start = index + 1
            }
            bytes += utf8[start...]
        }
    }

    private mutating func writeEscape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0..<0x20:
            bytes += "u00".utf8
            bytes += (byte < 0x10 ? "0" : "1").utf8
            bytes += String(byte & 0x0F, radix: 16).utf8
        default: bytes.append(byte)
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// - Returns: where the first byte from `start` on is that needs an escape; the end if there is none.
    fileprivate func countWithoutEscape(from start: Int) -> Int {
        var index = start
        // Nearly all text needs none, so eight bytes are looked at together. Subtracting sets the highest bit of a byte that was smaller,
        // and of some behind one that was; so a word with none set has no such byte. A quote is a 0 after the exclusive or.
        while index + 8 <= count {
            let word = UnsafeRawPointer(baseAddress! + index).loadUnaligned(as: UInt64.self)
            let quotes = word ^ 0x2222_2222_2222_2222
            let backslashes = word ^ 0x5C5C_5C5C_5C5C_5C5C
            let found =
                (word &- 0x2020_2020_2020_2020) & ~word | (quotes &- 0x0101_0101_0101_0101) & ~quotes
                | (backslashes &- 0x0101_0101_0101_0101) & ~backslashes
            if found & 0x8080_8080_8080_8080 != 0 { break }
            index += 8
        }
        while index < count, !self[index].needsEscape { index += 1 }
        return index
    }
}

extension UInt8 {
    fileprivate var needsEscape: Bool { self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\") }
}
