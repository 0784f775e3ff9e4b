package import Wire

/// Wall-clock time for records: milliseconds since 1970-01-01T00:00:00Z.
package struct WallTime: Hashable, Comparable, Sendable {
    package var milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }

    package static func + (time: WallTime, span: Duration) -> WallTime {
        let (seconds, attoseconds) = span.components
        return WallTime(milliseconds: time.milliseconds + seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }

    package static func - (time: WallTime, span: Duration) -> WallTime { time + (.zero - span) }
}

/// Text form: RFC 3339 in UTC with milliseconds, `2026-11-21T13:16:56.000Z`; years 1 to 9999.
extension WallTime: Codable, CustomStringConvertible {
    private static let range = -62_135_596_800_000...253_402_300_799_999 as ClosedRange<Int64>

    /// - Returns: nil unless it is an RFC 3339 time in the years 1 to 9999.
    package init?(text: String) {
        guard let milliseconds = RFC3339.milliseconds(of: text), Self.range ~= milliseconds else { return nil }
        self.milliseconds = milliseconds
    }

    package var description: String {
        guard let time = CivilTime(milliseconds: milliseconds) else { return RFC3339.text(ofMilliseconds: milliseconds) }
        return String(unsafeUninitializedCapacity: CivilTime.textCount) { bytes in
            time.write(to: bytes)
            return CivilTime.textCount
        }
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let time = WallTime(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a time as RFC 3339 has it")
        }
        self = time
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension WallTime: JSONWritable {
    package func write(to json: inout JSONOutput) {
        guard let time = CivilTime(milliseconds: milliseconds) else { return json.write(description) }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: CivilTime.textCount) { text in
            time.write(to: text)
            json.write(plain: UnsafeBufferPointer(text))
        }
    }
}

/// A UTC calendar date, for fast formatting: lists format hundreds, and Foundation's calendars are slow.
struct CivilTime {
    /// Length of the text in bytes.
    static let textCount = 24

    private let year: Int64
    private let month: Int64
    private let day: Int64
    private let millisecondOfDay: Int64

    /// From the start of the Gregorian calendar, 15 October 1582, through the year 9999.
    static let range: ClosedRange<Int64> = -12_219_292_800_000...253_402_300_799_999
    private static let millisecondsPerDay: Int64 = 86_400_000
    /// Days from 0000-03-01 to 1970-01-01. Counting from March puts the leap day last in its year.
    private static let daysBefore1970: Int64 = 719_468

    /// - Parameter milliseconds: since 1970-01-01T00:00:00Z.
    /// - Returns: nil outside `range`.
    init?(milliseconds: Int64) {
        guard Self.range ~= milliseconds else { return nil }
        let passed = milliseconds + Self.daysBefore1970 * Self.millisecondsPerDay
        millisecondOfDay = passed % Self.millisecondsPerDay
        // The calendar repeats every 400 years, which are 146,097 days.
        let (eras, dayOfEra) = (passed / Self.millisecondsPerDay).quotientAndRemainder(dividingBy: 146_097)
        // Leap days: one every 4 years, none every 100, one every 400.
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // Starting in March, every five months have 153 days.
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = 400 * eras + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// Writes the RFC 3339 form with milliseconds.
    func write(to text: UnsafeMutableBufferPointer<UInt8>) {
        var end = 0
        func put(_ number: Int64, digits: Int, _ separator: UInt8) {
            var rest = number
            for index in stride(from: end + digits - 1, through: end, by: -1) {
                text[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
            text[end + digits] = separator
            end += digits + 1
        }
        put(year, digits: 4, UInt8(ascii: "-"))
        put(month, digits: 2, UInt8(ascii: "-"))
        put(day, digits: 2, UInt8(ascii: "T"))
        put(millisecondOfDay / 3_600_000, digits: 2, UInt8(ascii: ":"))
        put(millisecondOfDay / 60_000 % 60, digits: 2, UInt8(ascii: ":"))
        put(millisecondOfDay / 1_000 % 60, digits: 2, UInt8(ascii: "."))
        put(millisecondOfDay % 1_000, digits: 3, UInt8(ascii: "Z"))
    }
}
