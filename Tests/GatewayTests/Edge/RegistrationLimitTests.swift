import Backend
import Foundation
import Gateway
import Testing
import Wire

/// The token buckets of registrations and of other requests, alone.
struct TokenBucketsTests {
    private static func at(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64((10_000 + seconds) * 1e9)) }

    @Test func bucketStartsFullAndIsRefilledEvenly() {
        var buckets = TokenBuckets(of: 6, per: .seconds(3_600))
        for _ in 0..<6 { #expect(buckets.take(for: "a", at: Self.at(0)) == nil) }
        #expect(buckets.take(for: "a", at: Self.at(0)) == .seconds(600))
        #expect(buckets.take(for: "a", at: Self.at(599)) == .seconds(1))
        #expect(buckets.take(for: "a", at: Self.at(600)) == nil)
        #expect(buckets.take(for: "a", at: Self.at(600)) == .seconds(600))
    }

    @Test func attemptThatIsRefusedCostsNothing() {
        var buckets = TokenBuckets(of: 1, per: .seconds(3_600))
        #expect(buckets.take(for: "a", at: Self.at(0)) == nil)
        for second in stride(from: 1.0, to: 3_600, by: 100) { #expect(buckets.take(for: "a", at: Self.at(second)) != nil) }
        #expect(buckets.take(for: "a", at: Self.at(3_600)) == nil)
    }

    @Test func bucketNeverHoldsMoreThanItsTokens() {
        var buckets = TokenBuckets(of: 2, per: .seconds(3_600))
        #expect(buckets.take(for: "a", at: Self.at(0)) == nil)
        for _ in 0..<2 { #expect(buckets.take(for: "a", at: Self.at(100_000)) == nil) }
        #expect(buckets.take(for: "a", at: Self.at(100_000)) != nil)
    }

    @Test func sourcesDoNotShareBuckets() {
        var buckets = TokenBuckets(of: 1, per: .seconds(3_600))
        #expect(buckets.take(for: "a", at: Self.at(0)) == nil)
        #expect(buckets.take(for: "b", at: Self.at(0)) == nil)
        #expect(buckets.take(for: "a", at: Self.at(0)) != nil)
    }

    @Test func bucketSurvivesTheEndOfItsGeneration() {
        var buckets = TokenBuckets(of: 2, per: .seconds(3_600))
        #expect(buckets.take(for: "first", at: Self.at(0)) == nil)
        for _ in 0..<2 { #expect(buckets.take(for: "a", at: Self.at(3_500)) == nil) }
        #expect(buckets.take(for: "other", at: Self.at(3_600)) == nil)
        #expect(buckets.take(for: "a", at: Self.at(3_601)) != nil)
    }

    @Test func fullBucketsAreForgotten() {
        var buckets = TokenBuckets(of: 10, per: .seconds(3_600))
        for number in 0..<100 { _ = buckets.take(for: "\(number)", at: Self.at(0)) }
        #expect(buckets.sourceCount == 100)
        _ = buckets.take(for: "a", at: Self.at(3_600))
        _ = buckets.take(for: "a", at: Self.at(7_200))
        #expect(buckets.sourceCount == 1)
    }

    @Test func memoryIsLimited() {
        var buckets = TokenBuckets(of: 10, per: .seconds(3_600), sourcesMax: 50)
        for number in 0..<1_000 { _ = buckets.take(for: "\(number)", at: Self.at(0)) }
        #expect(buckets.sourceCount <= 100)
    }

    /// Shards read the clock at different times.
    @Test func slightlyEarlierTimesAreAccepted() {
        var buckets = TokenBuckets(of: 2, per: .seconds(3_600))
        #expect(buckets.take(for: "a", at: Self.at(1)) == nil)
        #expect(buckets.take(for: "a", at: Self.at(0.99)) == nil)
        #expect(buckets.take(for: "a", at: Self.at(1)) != nil)
    }
}

/// Registrations over HTTPS.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct RegistrationLimitTests {
    private func register(_ email: String, at backend: TestBackend, from source: String) throws -> HTTPAnswer {
        let body = ["email": email, "password": AppUser.password]
        let ask = HTTPAsk.json("POST", "/v1/auth/register", [UInt8](try JSONSerialization.data(withJSONObject: body)))
        let answer = try #require(try ask.answer(port: backend.gateway.port, from: source))
        try Contract.hold(answer, to: ask, backend.gateway.gateway.routes)
        return answer
    }

    @Test func anAddressMayCreateSomeAccountsAndThenHasToWait() throws {
        let backend = try TestBackend(accounts: AccountSettings(registrationsPerHour: 2))
        let source = Loopback.fresh()
        #expect(try register("ann@example.org", at: backend, from: source).status == 201)
        // An attempt counts, too: it tells that the address is taken.
        #expect(try register("ann@example.org", at: backend, from: source).status == 409)
        let third = try register("bob@example.org", at: backend, from: source)
        #expect(third.status == 429 && third.code == "too_many_registrations")
        let wait = try #require(third.fields["retry-after"].flatMap { Int($0) })
        #expect(1_700...1_801 ~= wait)
        #expect(try register("bob@example.org", at: backend, from: Loopback.fresh()).status == 201)
        #expect(try backend.gateway.value(.httpRefused("too_many_registrations")) == 1)
    }
}
