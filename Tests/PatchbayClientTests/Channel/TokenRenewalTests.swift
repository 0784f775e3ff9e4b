import Testing
import Wire

@testable import PatchbayClient

struct TokenRenewalTests {
    private var renewal = TokenRenewal()
    private let now = Instant(nanoseconds: 1_000_000_000)

    @Test mutating func tokenIsRenewedBeforeItExpires() {
        renewal.schedule(validFor: .seconds(900), at: now)
        #expect(renewal.dueAt == now + .seconds(720))
    }

    @Test(arguments: [0, 1])
    mutating func nearlyExpiredTokensAreNotRenewedInALoop(seconds: Int) {
        renewal.schedule(validFor: .seconds(seconds), at: now)
        #expect(renewal.dueAt == now + .seconds(1))
    }

    @Test mutating func onlyOneRenewalRunsAtATime() {
        renewal.schedule(validFor: .seconds(900), at: now)
        renewal.begin()
        #expect(renewal.dueAt == nil && renewal.isUnderWay)
    }

    @Test mutating func failedRenewalIsRetriedLater() {
        renewal.begin()
        renewal.fail(at: now)
        #expect(renewal.dueAt == now + .seconds(10) && !renewal.isUnderWay)
    }
}
