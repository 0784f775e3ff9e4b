import Engine
import Testing
import Wire

struct TokenBucketTests {
    @Test func aBurstPassesAndThenThePace() {
        var bucket = TokenBucket(perSecond: 100, burst: 100)
        let passed = (0..<1_000).count { number in bucket.take(at: .at(5_000 + number)) }
        #expect(199...201 ~= passed)
    }

    @Test func whatIsNotUsedIsSavedUpToTheBurst() {
        var bucket = TokenBucket(perSecond: 100, burst: 100)
        let passed = [1_000, 60_000].map { now in (0..<200).count { _ in bucket.take(at: .at(now)) } }
        #expect(passed == [100, 100])
    }

    @Test func aSteadySenderAtThePaceNeverWaits() {
        var bucket = TokenBucket(perSecond: 100, burst: 100)
        let passed = (0..<10_000).count { bucket.take(at: .at($0 * 10)) }
        #expect(passed == 10_000)
    }

    @Test func itIsFullAtTheStartOfTheClock() {
        var bucket = TokenBucket(perSecond: 100, burst: 100)
        let passed = (0..<200).count { _ in bucket.take(at: .at(0)) }
        #expect(passed == 100)
    }
}
