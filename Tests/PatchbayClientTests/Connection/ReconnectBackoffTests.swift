import Testing
import Wire

@testable import PatchbayClient

struct ReconnectBackoffTests {
    @Test(arguments: zip(1...10, [0, 300, 1_200, 2_700, 4_800, 7_000, 7_000, 7_000, 7_000, 7_000]))
    func delaysAreThoseOfLiveKit(attempt: Int, milliseconds: Int) {
        #expect(Backoff.reconnectDelay(beforeAttempt: attempt, random: 0) == .milliseconds(milliseconds))
        let jitter = attempt <= 2 ? 0 : 1_000
        #expect(Backoff.reconnectDelay(beforeAttempt: attempt, random: 1) == .milliseconds(milliseconds + jitter))
    }

    @Test(arguments: [11, 12])
    func theClientGivesUpAfterTenAttempts(attempt: Int) {
        #expect(Backoff.reconnectDelay(beforeAttempt: attempt, random: 0.5) == nil)
    }
}
