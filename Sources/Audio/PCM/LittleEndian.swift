// WAV, OpusHead and OpusTags store numbers in little-endian order.
extension [UInt8] {
    package mutating func append(littleEndian number: some FixedWidthInteger) {
        for shift in stride(from: 0, to: number.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}

extension ArraySlice<UInt8> {
    /// The number at `offset` in the slice, or nil if the slice is too short.
    package func littleEndian<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type = Number.self) -> Number? {
        let width = Number.bitWidth / 8
        guard offset >= 0, offset <= count - width else { return nil }
        var number: Number = 0
        for index in (0..<width).reversed() {
            // Shifting a one-byte number by eight yields zero, as intended.
            number = number << 8 | Number(truncatingIfNeeded: self[startIndex + offset + index])
        }
        return number
    }

    package func starts(withASCII text: StaticString, at offset: Int = 0) -> Bool {
        guard offset >= 0, offset <= count - text.utf8CodeUnitCount else { return false }
        return self[(startIndex + offset)...].starts(with: text.description.utf8)
    }
}
