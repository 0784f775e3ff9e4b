import Testing
import Wire

@testable import Engine

struct TokenBucketTests {
    @Test func burstPassesThenTheRateApplies() {
        var bucket = TokenBucket(perSecond: 100, burst: 100)
        let passed = (0..<1_000).count { number in bucket.take(at: .at(5_000 + number)) }
        #expect(199...201 ~= passed)
    }

    @Test func unusedTokensAccumulateUpToTheBurst() {
        var bucket = TokenBucket(perSecond: 100, burst: 100)
        let passed = [1_000, 60_000].map { now in (0..<200).count { _ in bucket.take(at: .at(now)) } }
        #expect(passed == [100, 100])
    }

    @Test func steadySenderAtTheRateNeverWaits() {
        var bucket = TokenBucket(perSecond: 100, burst: 100)
        let passed = (0..<10_000).count { bucket.take(at: .at($0 * 10)) }
        #expect(passed == 10_000)
    }

    @Test func bucketIsFullAtTimeZero() {
        var bucket = TokenBucket(perSecond: 100, burst: 100)
        let passed = (0..<200).count { _ in bucket.take(at: .at(0)) }
        #expect(passed == 100)
    }
}

struct MalformedMessageCounterTests {
    private let start = Instant(nanoseconds: 5_000_000_000)

    @Test func hundredthMalformedMessageInASecondExceedsTheLimit() {
        var count = MalformedMessageCounter(now: start)
        for number in 1..<Limits.malformedPerSecondMax {
            let isTooMany = count.exceedsLimit(afterMessageAt: start + .milliseconds(number * 9))
            #expect(!isTooMany, "number \(number)")
        }
        let isTooMany = count.exceedsLimit(afterMessageAt: start + .milliseconds(999))
        #expect(isTooMany)
    }

    @Test func malformedMessagesAreCountedPerSecond() {
        var count = MalformedMessageCounter(now: start)
        for second in 0..<3 {
            for number in 1..<Limits.malformedPerSecondMax {
                let isTooMany = count.exceedsLimit(afterMessageAt: start + .seconds(second) + .milliseconds(number))
                #expect(!isTooMany, "number \(number) of second \(second)")
            }
        }
    }
}
