import Foundation
import Store
import Testing

struct WallTimeTests {
    @Test(arguments: [
        ("2026-11-21T13:16:56Z", 1_795_267_016_000), ("2026-11-21T13:16:56.250Z", 1_795_267_016_250),
        ("2026-11-21T14:16:56+01:00", 1_795_267_016_000), ("1970-01-01T00:00:00Z", 0),
    ])
    func timesAreParsedAsInRFC3339(text: String, milliseconds: Int64) throws {
        #expect(try #require(WallTime(text: text)).milliseconds == milliseconds)
    }

    @Test(arguments: ["", "now", "2026-11-21", "2026-13-21T13:16:56Z", "10000-01-01T00:00:00Z", "99999999999"])
    func malformedTimesAreRefused(text: String) {
        #expect(WallTime(text: text) == nil)
    }

    @Test(arguments: [0, 1, 999, 1_795_267_016_250, -1])
    func formattedTimesAreParsedAgain(milliseconds: Int64) {
        let time = WallTime(milliseconds: milliseconds)
        #expect(WallTime(text: time.description) == time)
    }

    /// The first and last days of months and years, of leap years and of years that are none, and others in between.
    @Test func timesAreFormattedByTheCalendar() {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        var days: [Int64] = Array(stride(from: -141_427, through: 2_932_896, by: 1_009))
        for year in [1_583, 1_600, 1_700, 1_900, 1_970, 2_000, 2_024, 2_026, 2_100, 9_999] as [Int64] {
            let firstOfJanuary = 365 * (year - 1_970) + (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 - 477
            days += firstOfJanuary..<firstOfJanuary + 365
        }
        for (index, day) in days.enumerated() {
            let time = WallTime(milliseconds: day * 86_400_000 + Int64(index) * 7_919_011 % 86_400_000)
            // Plus half a millisecond, because a binary fraction of a second is often slightly below the millisecond.
            let date = Date(timeIntervalSince1970: (Double(time.milliseconds) + 0.5) / 1_000)
            #expect(time.description == style.format(date))
        }
    }

    /// When the calendar was another.
    @Test(arguments: ["0001-01-03T00:00:00.000Z", "0400-12-14T01:12:32.693Z", "1582-10-04T23:59:59.999Z", "1582-10-15T00:00:00.000Z"])
    func timesBefore1970AreFormatted(text: String) throws {
        #expect(try #require(WallTime(text: text)).description == text)
    }
}
