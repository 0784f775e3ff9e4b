import Testing

@testable import PatchbayClient

struct BackOffTests {
    @Test(
        arguments: zip(
            1...10,
            [0, 300, 1_200, 2_700, 4_800, 7_000, 7_000, 7_000, 7_000, 7_000]))
    func delaysGrowAsLiveKitsDo(attempt: Int, milliseconds: Int) {
        #expect(BackOff.delay(beforeAttempt: attempt, jitter: 0) == .milliseconds(milliseconds))
        let spread = attempt <= 2 ? 0 : 1_000
        #expect(BackOff.delay(beforeAttempt: attempt, jitter: 1) == .milliseconds(milliseconds + spread))
    }

    @Test(arguments: [0, 11, 12])
    func itGivesUpAfterTen(attempt: Int) {
        #expect(BackOff.delay(beforeAttempt: attempt, jitter: 0.5) == nil)
    }
}
