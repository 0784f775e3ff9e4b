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
        for second in seconds { limiter.recordFailure(of: "a", at: Self.second(second)) }
        return limiter
    }

    @Test("The 20th failure limits a source")
    func twenty() {
        var limiter = Self.failing(at: (0..<19).map(Double.init))
        #expect(limiter.wait(for: "a", at: Self.second(19)) == nil)
        limiter.recordFailure(of: "a", at: Self.second(19))
        #expect(limiter.wait(for: "a", at: Self.second(20)) == .seconds(40))
    }

    @Test("A limit ends when the oldest failure expires, and starts again at the next failure")
    func sliding() {
        var limiter = Self.failing(at: (0..<20).map(Double.init))
        #expect(limiter.wait(for: "a", at: Self.second(59.5)) == .milliseconds(500))
        #expect(limiter.wait(for: "a", at: Self.second(60)) == nil)
        limiter.recordFailure(of: "a", at: Self.second(60))
        #expect(limiter.wait(for: "a", at: Self.second(60)) == .seconds(1))
        #expect(limiter.wait(for: "a", at: Self.second(61)) == nil)
    }

    @Test("19 failures a minute are never limited")
    func patient() {
        let span = 60.0 / 19
        var limiter = FailureLimiter()
        for turn in 0..<500 {
            let now = Self.second(Double(turn) * span * 1.06)
            #expect(limiter.wait(for: "a", at: now) == nil)
            limiter.recordFailure(of: "a", at: now)
        }
    }

    @Test("Checks are not counted as failures")
    func successes() {
        let limiter = Self.failing(at: (0..<19).map(Double.init))
        for _ in 0..<1_000 { #expect(limiter.wait(for: "a", at: Self.second(20)) == nil) }
        #expect(limiter.keyCount == 1)
    }

    @Test("Sources are limited independently")
    func apart() {
        let limiter = Self.failing(at: (0..<20).map(Double.init))
        #expect(limiter.wait(for: "b", at: Self.second(20)) == nil)
        #expect(limiter.wait(for: "", at: Self.second(20)) == nil)
    }

    @Test("Failures during a limit extend it")
    func hammering() {
        let limiter = Self.failing(at: (0..<100).map { Double($0) / 10 })
        #expect(limiter.wait(for: "a", at: Self.second(60)) == .seconds(8))
    }

    @Test("Expired sources are forgotten")
    func forgotten() {
        var limiter = FailureLimiter()
        for address in 0..<100 { limiter.recordFailure(of: "\(address)", at: Self.second(0)) }
        limiter.recordFailure(of: "99", at: Self.second(30))
        #expect(limiter.keyCount == 100)
        limiter.recordFailure(of: "new", at: Self.second(60))
        limiter.recordFailure(of: "newer", at: Self.second(120))
        #expect(limiter.keyCount == 2)
    }

    @Test("Sources that fail again stay when too many others do")
    func bounded() {
        var limiter = FailureLimiter(keysMax: 6)
        for second in 0..<20 {
            for address in ["a", "b"] { limiter.recordFailure(of: address, at: Self.second(Double(second))) }
        }
        for number in 0..<4 {
            limiter.recordFailure(of: "a", at: Self.second(20 + Double(number)))
            limiter.recordFailure(of: "other \(number)", at: Self.second(20 + Double(number)))
            #expect(limiter.keyCount <= 6)
        }
        #expect(limiter.wait(for: "a", at: Self.second(24)) != nil)
        #expect(limiter.wait(for: "b", at: Self.second(24)) == nil)
    }

    @Test("200,000 addresses take the memory of 65,536", .timeLimit(.minutes(1)))
    func flood() {
        var limiter = FailureLimiter()
        for address in 0..<200_000 { limiter.recordFailure(of: "\(address)", at: Self.second(Double(address) / 100_000)) }
        #expect(limiter.keyCount <= 65_536)
    }

    @Test("A reserved attempt counts until it has succeeded, and later failures stay")
    func reserved() throws {
        var limiter = FailureLimiter()
        let reservation = limiter.reserve(1, for: ["a"], at: Self.second(0))
        let right = try #require(reservation)
        for second in 1..<20 { limiter.recordFailure(of: "a", at: Self.second(Double(second))) }
        #expect(limiter.hasPending("a") && limiter.reserve(1, for: ["a"], at: Self.second(20)) == nil)
        limiter.settle(right, failures: 0, at: Self.second(20))
        #expect(!limiter.hasPending("a") && limiter.wait(for: "a", at: Self.second(20)) == nil)
        limiter.recordFailure(of: "a", at: Self.second(20))
        #expect(limiter.wait(for: "a", at: Self.second(20)) == .seconds(41))
    }

    @Test("A source whose attempts have all succeeded is not kept")
    func settled() throws {
        var limiter = FailureLimiter()
        let reservation = limiter.reserve(3, for: ["a", "b"], at: Self.second(0))
        let attempts = try #require(reservation)
        limiter.settle(attempts, failures: 0, at: Self.second(1))
        #expect(limiter.keyCount == 0)
    }

    @Test("Attempts that are left shrink with each failure and return with time")
    func remaining() {
        var limiter = Self.failing(at: (0..<15).map(Double.init))
        #expect(limiter.reserve(50, for: ["b"], at: Self.second(14))?.count == 20)
        var late = limiter
        #expect(limiter.reserve(50, for: ["a"], at: Self.second(14))?.count == 5)
        #expect(late.reserve(50, for: ["a"], at: Self.second(64))?.count == 10)
    }

    @Test("Slightly older times are tolerated")
    func clockBehind() {
        var limiter = Self.failing(at: (0..<20).map { _ in 10 })
        #expect(limiter.wait(for: "a", at: Self.second(9)) == .seconds(60))
        limiter.recordFailure(of: "a", at: Self.second(9))
        #expect(limiter.keyCount == 1)
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
            #expect((limiter.wait(for: address, at: now) == nil) == (recent < 20))
            if below(3) > 0 {
                limiter.recordFailure(of: address, at: now)
                failures.append((address, now))
                if failures.count > 400 { failures.removeFirst(100) }
            }
        }
    }
}
