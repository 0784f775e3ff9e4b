/// A growing JSON text: the bytes so far and the stack of open containers.
package struct JSONOutput {
    private(set) var bytes: [UInt8] = []
    private let names: JSONNames
    /// Closing brackets of the open containers, innermost last.
    private var open: [UInt8] = []

    /// - Parameter capacity: in bytes. Fits small messages; a `hello` grows it a few times.
    init(names: JSONNames, capacity: Int = 256) {
        self.names = names
        bytes.reserveCapacity(capacity)
    }

    /// The number of open containers.
    var depth: Int { open.count }
}

// MARK: Values

extension JSONOutput {
    package mutating func writeNull() { bytes += "null".utf8 }

    package mutating func write(_ boolean: Bool) { bytes += boolean ? "true".utf8 : "false".utf8 }

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

    /// Writes the shortest digits that parse to the same number, without a trailing `.0`.
    mutating func write(_ number: some BinaryFloatingPoint & CustomStringConvertible) throws {
        guard number.isFinite else {
            throw EncodingError.invalidValue(number, .init(codingPath: [], debugDescription: "JSON cannot represent \(number)"))
        }
        let digits = number.description.utf8
        bytes += digits.suffix(2).elementsEqual(".0".utf8) ? digits.dropLast(2) : digits[...]
    }

    /// Sorted by name, because the order of a dictionary differs between processes.
    package mutating func write(_ texts: [String: String]) {
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
    /// Opens the container of a value at `depth`, or continues it.
    ///
    /// - Returns: the depth of its content.
    mutating func openContainer(at depth: Int, _ opening: UInt8, _ closing: UInt8) -> Int {
        closeContainers(downTo: depth + 1)
        if open.count == depth {
            openContainer(opening, closing)
        } else {
            precondition(open[depth] == closing, "a value cannot be an object and an array")
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

    /// Writes what precedes the value of the next member of the object whose content is at `depth`.
    mutating func beginMember(_ key: String, at depth: Int) {
        beginElement(at: depth)
        switch names {
        case .asDeclared: write(key)
        case .snakeCase: writeSnakeCase(key)
        }
        bytes.append(UInt8(ascii: ":"))
    }

    /// Writes what precedes the next element of the array whose content is at `depth`.
    mutating func beginElement(at depth: Int) {
        precondition(open.count >= depth, "a container can only be written to while its value is encoded")
        closeContainers(downTo: depth)
        separate()
    }

    /// Writes a comma unless a container was just opened. No value ends in an opening bracket.
    private mutating func separate() {
        guard let last = bytes.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "[") else { return }
        bytes.append(UInt8(ascii: ","))
    }
}

// MARK: Direct writing, without Codable

extension JSONOutput {
    /// - Parameter members: writes each member once, with `writeMember`.
    package mutating func writeObject(_ members: (inout JSONOutput) -> Void) {
        beginObject()
        members(&self)
        endObject()
    }

    mutating func beginObject() { bytes.append(UInt8(ascii: "{")) }
    mutating func endObject() { bytes.append(UInt8(ascii: "}")) }

    /// - Precondition: all numbers are finite.
    mutating func write(coded value: some Encodable) {
        do {
            bytes += try JSON.encode(value, names: .snakeCase)
        } catch {
            preconditionFailure("a message cannot be encoded, probably because a number is not finite: \(error)")
        }
    }

    package mutating func writeArray<Element>(_ elements: [Element], _ write: (inout JSONOutput, Element) -> Void) {
        bytes.append(UInt8(ascii: "["))
        for element in elements {
            separate()
            write(&self, element)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Writes what precedes a member's value.
    ///
    /// - Parameter name: the JSON name, without characters that need escaping.
    package mutating func writeMember(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes += UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    /// Writes text that is known not to need escaping.
    package mutating func write(plain text: UnsafeBufferPointer<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        bytes += text
        bytes.append(UInt8(ascii: "\""))
    }
}

// MARK: Text

extension JSONOutput {
    /// Copies runs without escapes as they are.
    package mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        // Avoids a copy of the string, which would be retained and released.
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
        for byte in key.utf8 {
            if byte.isCapital {
                bytes.append(UInt8(ascii: "_"))
                bytes.append(byte.lowercased)
            } else if byte.needsEscape {
                writeEscape(byte)
            } else {
                bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
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
    /// - Returns: the index of the first byte from `start` on that needs an escape, or the end.
    fileprivate func countWithoutEscape(from start: Int) -> Int {
        var index = start
        // Most text needs no escape, so eight bytes are tested at once. The subtraction sets the highest bit of each byte that was smaller, and
        // possibly of bytes after it; a word without such a bit contains none. The exclusive or turns quotes and backslashes into zeros.
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
