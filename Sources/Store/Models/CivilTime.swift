/// A point in time as a calendar has it, in UTC: for writing it, which a list does a hundred times. Foundation's calendars can do far more,
/// and take far longer.
struct CivilTime {
    /// Bytes of the text.
    static let textCount = 24

    private let year: Int64
    private let month: Int64
    private let day: Int64
    private let millisecondOfDay: Int64

    /// From the first day of the calendar of today, 15 October 1582, to the end of the year 9999, in milliseconds since 1970.
    static let range: ClosedRange<Int64> = -12_219_292_800_000...253_402_300_799_999
    private static let millisecondsPerDay: Int64 = 86_400_000
    /// Before 1970: the first of March of the year 0. Counted from there a leap day is the last day of its year.
    private static let daysBefore1970: Int64 = 719_468

    /// - Parameter milliseconds: since 1970-01-01T00:00:00Z.
    /// - Returns: nil outside `range`.
    init?(milliseconds: Int64) {
        guard Self.range ~= milliseconds else { return nil }
        let passed = milliseconds + Self.daysBefore1970 * Self.millisecondsPerDay
        millisecondOfDay = passed % Self.millisecondsPerDay
        // The calendar repeats itself every 400 years, which are 146,097 days.
        let (eras, dayOfEra) = (passed / Self.millisecondsPerDay).quotientAndRemainder(dividingBy: 146_097)
        // One day too many for each 4 years, too few for each 100, too many for all 400.
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // From March on five months have 153 days, again and again.
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = 400 * eras + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// As RFC 3339 has it, with milliseconds.
    func write(to text: UnsafeMutableBufferPointer<UInt8>) {
        var end = 0
        func put(_ number: Int64, digits: Int, _ separator: UInt8) {
            var rest = number
            for place in stride(from: end + digits - 1, through: end, by: -1) {
                text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
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
