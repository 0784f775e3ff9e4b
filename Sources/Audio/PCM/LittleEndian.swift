// WAV, OpusHead and OpusTags all keep their numbers least significant byte first.

extension [UInt8] {
    mutating func append(littleEndian number: some FixedWidthInteger) {
        for shift in stride(from: 0, to: number.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}

extension ArraySlice<UInt8> {
    /// The number `offset` bytes into the slice, or nil where the slice has no such bytes.
    func littleEndian<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type = Number.self) -> Number? {
        let width = Number.bitWidth / 8
        guard offset >= 0, offset <= count - width else { return nil }
        var number: Number = 0
        for place in (0..<width).reversed() {
            // A number of one byte shifted by eight is zero, as it should be.
            number = number << 8 | Number(truncatingIfNeeded: self[startIndex + offset + place])
        }
        return number
    }

    func starts(withASCII text: StaticString, at offset: Int = 0) -> Bool {
        guard offset >= 0, offset <= count - text.utf8CodeUnitCount else { return false }
        return self[(startIndex + offset)...].starts(with: text.description.utf8)
    }
}
