import Testing
import Wire

struct RateLimiterTests {
    private static func at(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64((10_000 + seconds) * 1e9)) }

    @Test func bucketStartsFullAndIsRefilledEvenly() {
        var limiter = RateLimiter<String>(6, per: .seconds(3_600))
        for _ in 0..<6 { #expect(limiter.take(for: "a", at: Self.at(0)) == nil) }
        #expect(limiter.take(for: "a", at: Self.at(0)) == .seconds(600))
        #expect(limiter.take(for: "a", at: Self.at(599)) == .seconds(1))
        #expect(limiter.take(for: "a", at: Self.at(600)) == nil)
        #expect(limiter.take(for: "a", at: Self.at(600)) == .seconds(600))
    }

    @Test func attemptThatIsRefusedCostsNothing() {
        var limiter = RateLimiter<String>(1, per: .seconds(3_600))
        #expect(limiter.take(for: "a", at: Self.at(0)) == nil)
        for second in stride(from: 1.0, to: 3_600, by: 100) { #expect(limiter.take(for: "a", at: Self.at(second)) != nil) }
        #expect(limiter.take(for: "a", at: Self.at(3_600)) == nil)
    }

    @Test func bucketNeverHoldsMoreThanItsTokens() {
        var limiter = RateLimiter<String>(2, per: .seconds(3_600))
        #expect(limiter.take(for: "a", at: Self.at(0)) == nil)
        for _ in 0..<2 { #expect(limiter.take(for: "a", at: Self.at(100_000)) == nil) }
        #expect(limiter.take(for: "a", at: Self.at(100_000)) != nil)
    }

    @Test func sourcesDoNotShareBuckets() {
        var limiter = RateLimiter<String>(1, per: .seconds(3_600))
        #expect(limiter.take(for: "a", at: Self.at(0)) == nil)
        #expect(limiter.take(for: "b", at: Self.at(0)) == nil)
        #expect(limiter.take(for: "a", at: Self.at(0)) != nil)
    }

    @Test func bucketSurvivesTheEndOfItsGeneration() {
        var limiter = RateLimiter<String>(2, per: .seconds(3_600))
        #expect(limiter.take(for: "first", at: Self.at(0)) == nil)
        for _ in 0..<2 { #expect(limiter.take(for: "a", at: Self.at(3_500)) == nil) }
        #expect(limiter.take(for: "other", at: Self.at(3_600)) == nil)
        #expect(limiter.take(for: "a", at: Self.at(3_601)) != nil)
    }

    @Test func fullBucketsAreForgotten() {
        var limiter = RateLimiter<String>(10, per: .seconds(3_600))
        for number in 0..<100 { _ = limiter.take(for: "\(number)", at: Self.at(0)) }
        #expect(limiter.keyCount == 100)
        _ = limiter.take(for: "a", at: Self.at(3_600))
        _ = limiter.take(for: "a", at: Self.at(7_200))
        #expect(limiter.keyCount == 1)
    }

    @Test func memoryIsLimited() {
        var limiter = RateLimiter<String>(10, per: .seconds(3_600), keysMax: 50)
        for number in 0..<1_000 { _ = limiter.take(for: "\(number)", at: Self.at(0)) }
        #expect(limiter.keyCount <= 50)
    }

    /// Shards read the clock at different times.
    @Test func slightlyEarlierTimesAreAccepted() {
        var limiter = RateLimiter<String>(2, per: .seconds(3_600))
        #expect(limiter.take(for: "a", at: Self.at(1)) == nil)
        #expect(limiter.take(for: "a", at: Self.at(0.99)) == nil)
        #expect(limiter.take(for: "a", at: Self.at(1)) != nil)
    }
}
