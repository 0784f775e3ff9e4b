import Store
import Testing

@Suite("WebhookRetryPlan")
struct WebhookRetryPlanTests {
    private let plan = WebhookRetryPlan()
    private let start = WallTime(milliseconds: 0)
    private let end = WallTime(milliseconds: 24 * 3_600_000)

    @Test(
        "waits twice as long each time, ten minutes at most",
        arguments: [(1, 1_000), (2, 2_000), (5, 16_000), (11, 600_000), (500, 600_000)])
    func delays(_ attempts: Int, _ milliseconds: Int64) {
        let latest = WallTime(milliseconds: milliseconds - 1)
        guard case .again(let time) = plan.step(afterAttempts: attempts, expiresAt: end, now: start, chance: 0.999999) else {
            Issue.record("given up")
            return
        }
        #expect(latest <= time && time <= WallTime(milliseconds: milliseconds))
    }

    @Test("jitter covers the upper half of the delay")
    func chance() {
        #expect(plan.step(afterAttempts: 1, expiresAt: end, now: start, chance: 0) == .again(at: WallTime(milliseconds: 500)))
        #expect(plan.step(afterAttempts: 1, expiresAt: end, now: start, chance: 0.5) == .again(at: WallTime(milliseconds: 750)))
    }

    @Test("gives up at expiry, not before")
    func givesUp() {
        let day: Int64 = 24 * 3_600_000
        #expect(plan.step(afterAttempts: 90, expiresAt: end, now: WallTime(milliseconds: day - 300_000), chance: 0) == .givenUp)
        #expect(
            plan.step(afterAttempts: 90, expiresAt: end, now: WallTime(milliseconds: day - 300_001), chance: 0)
                == .again(at: WallTime(milliseconds: day - 1)))
    }
}
