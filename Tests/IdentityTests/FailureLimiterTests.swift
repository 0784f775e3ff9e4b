import Identity
import Testing
import Wire

@Suite("FailureLimiter")
struct FailureLimiterTests {
    private static func second(_ seconds: Double) -> Instant {
        Instant(nanoseconds: UInt64((1_000 + seconds) * 1_000_000_000))
    }

    private static func failing(at seconds: some Sequence<Double>) -> FailureLimiter {
        var limiter = FailureLimiter()
        for second in seconds { limiter.recordFailure(from: "a", at: Self.second(second)) }
        return limiter
    }

    @Test("The 20th failure limits a source")
    func twenty() {
        var limiter = Self.failing(at: (0..<19).map(Double.init))
        #expect(limiter.verdict(on: "a", at: Self.second(19)) == .allowed)
        limiter.recordFailure(from: "a", at: Self.second(19))
        #expect(limiter.verdict(on: "a", at: Self.second(20)) == .limited(retryAfter: .seconds(40)))
    }

    @Test("A limit ends when the oldest failure expires, and starts again at the next failure")
    func sliding() {
        var limiter = Self.failing(at: (0..<20).map(Double.init))
        #expect(limiter.verdict(on: "a", at: Self.second(59.5)) == .limited(retryAfter: .milliseconds(500)))
        #expect(limiter.verdict(on: "a", at: Self.second(60)) == .allowed)
        limiter.recordFailure(from: "a", at: Self.second(60))
        #expect(limiter.verdict(on: "a", at: Self.second(60)) == .limited(retryAfter: .seconds(1)))
        #expect(limiter.verdict(on: "a", at: Self.second(61)) == .allowed)
    }

    @Test("19 failures a minute are never limited")
    func patient() {
        let span = 60.0 / 19
        var limiter = FailureLimiter()
        for turn in 0..<500 {
            let now = Self.second(Double(turn) * span * 1.06)
            #expect(limiter.verdict(on: "a", at: now) == .allowed)
            limiter.recordFailure(from: "a", at: now)
        }
    }

    @Test("Checks are not counted as failures")
    func successes() {
        let limiter = Self.failing(at: (0..<19).map(Double.init))
        for _ in 0..<1_000 { #expect(limiter.verdict(on: "a", at: Self.second(20)) == .allowed) }
        #expect(limiter.addressCount == 1)
    }

    @Test("Sources are limited independently")
    func apart() {
        let limiter = Self.failing(at: (0..<20).map(Double.init))
        #expect(limiter.verdict(on: "b", at: Self.second(20)) == .allowed)
        #expect(limiter.verdict(on: "", at: Self.second(20)) == .allowed)
    }

    @Test("Failures during a limit extend it")
    func hammering() {
        let limiter = Self.failing(at: (0..<100).map { Double($0) / 10 })
        #expect(limiter.verdict(on: "a", at: Self.second(60)) == .limited(retryAfter: .seconds(8)))
    }

    @Test("Expired sources are evicted at the next failure")
    func forgotten() {
        var limiter = FailureLimiter()
        for address in 0..<100 { limiter.recordFailure(from: "\(address)", at: Self.second(0)) }
        limiter.recordFailure(from: "99", at: Self.second(30))
        #expect(limiter.addressCount == 100)
        limiter.recordFailure(from: "new", at: Self.second(60))
        #expect(limiter.addressCount == 2)
    }

    @Test("The source with the oldest failure is evicted when the table is full")
    func bounded() {
        var limiter = FailureLimiter(addressesMax: 3)
        for second in 0..<20 {
            for address in ["a", "b", "c"] { limiter.recordFailure(from: address, at: Self.second(Double(second))) }
        }
        limiter.recordFailure(from: "a", at: Self.second(20))
        limiter.recordFailure(from: "d", at: Self.second(21))
        #expect(limiter.addressCount == 3)
        #expect(limiter.verdict(on: "b", at: Self.second(21)) == .allowed)
        for address in ["a", "c"] { #expect(limiter.verdict(on: address, at: Self.second(21)) != .allowed) }
    }

    @Test("200,000 addresses take the memory of 65,536", .timeLimit(.minutes(1)))
    func flood() {
        var limiter = FailureLimiter()
        for address in 0..<200_000 { limiter.recordFailure(from: "\(address)", at: Self.second(Double(address) / 100_000)) }
        #expect(limiter.addressCount == FailureLimiter.addressesMaxByDefault)
    }

    @Test("Slightly older times are tolerated")
    func clockBehind() {
        var limiter = Self.failing(at: (0..<20).map { _ in 10 })
        #expect(limiter.verdict(on: "a", at: Self.second(9)) == .limited(retryAfter: .seconds(60)))
        limiter.recordFailure(from: "a", at: Self.second(9))
        #expect(limiter.addressCount == 1)
    }

    @Test("The limiter agrees with a model", arguments: 0..<8 as Range<UInt64>)
    func model(_ seed: UInt64) {
        var random = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func below(_ bound: UInt64) -> UInt64 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (random >> 33) % bound
        }
        var limiter = FailureLimiter()
        var failures: [(address: String, at: Instant)] = []
        var now = Self.second(0)
        for _ in 0..<4_000 {
            now = now + .milliseconds(Int64(below(1_200)))
            let address = "\(below(4))"
            let recent = failures.filter { $0.address == address && now - $0.at < .seconds(60) }.count
            #expect((limiter.verdict(on: address, at: now) == .allowed) == (recent < 20))
            if below(3) > 0 {
                limiter.recordFailure(from: address, at: now)
                failures.append((address, now))
                if failures.count > 400 { failures.removeFirst(100) }
            }
        }
    }
}
