import Testing
import Wire

@testable import Engine

struct MalformedCountTests {
    private let start = Instant(nanoseconds: 5_000_000_000)

    @Test func theHundredthInASecondIsOneTooMany() {
        var count = MalformedMessageCounter(now: start)
        for number in 1..<Limits.malformedPerSecondMax {
            let isTooMany = count.exceedsLimit(afterMessageAt: start + .milliseconds(number * 9))
            #expect(!isTooMany, "number \(number)")
        }
        let isTooMany = count.exceedsLimit(afterMessageAt: start + .milliseconds(999))
        #expect(isTooMany)
    }

    @Test func eachSecondIsCountedAnew() {
        var count = MalformedMessageCounter(now: start)
        for second in 0..<3 {
            for number in 1..<Limits.malformedPerSecondMax {
                let isTooMany = count.exceedsLimit(afterMessageAt: start + .seconds(second) + .milliseconds(number))
                #expect(!isTooMany, "number \(number) of second \(second)")
            }
        }
    }
}
