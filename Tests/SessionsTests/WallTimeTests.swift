import Sessions
import Testing

struct WallTimeTests {
    @Test(arguments: [
        ("2026-11-21T13:16:56Z", 1_795_267_016_000), ("2026-11-21T13:16:56.250Z", 1_795_267_016_250),
        ("2026-11-21T14:16:56+01:00", 1_795_267_016_000), ("1970-01-01T00:00:00Z", 0),
    ])
    func aTimeIsReadAsRFC3339HasIt(text: String, milliseconds: Int64) throws {
        #expect(try #require(WallTime(text: text)).milliseconds == milliseconds)
    }

    @Test(arguments: ["", "now", "2026-11-21", "2026-13-21T13:16:56Z", "10000-01-01T00:00:00Z", "99999999999"])
    func whatIsNoTimeIsRefused(text: String) {
        #expect(WallTime(text: text) == nil)
    }

    @Test(arguments: [0, 1, 999, 1_795_267_016_250, -1])
    func whatIsWrittenIsReadAgain(milliseconds: Int64) {
        let time = WallTime(milliseconds: milliseconds)
        #expect(WallTime(text: time.description) == time)
    }
}
