import Testing
import Wire

struct BackoffTests {
    @Test(arguments: [(0, 1), (1, 1), (2, 2), (3, 4), (5, 16), (10, 512), (11, 600), (500, 600), (.max, 600)])
    func exponentialDelaysDoubleUpToTheMaximum(failures: Int, seconds: Int) {
        let backoff = Backoff(.exponential, unit: .seconds(1), delayMax: .seconds(600))
        #expect(backoff.delay(afterFailures: failures, random: 1) == .seconds(seconds))
    }

    @Test(arguments: zip(1...8, [0, 1, 4, 9, 16, 25, 30, 30]))
    func quadraticDelaysStartWithoutAPause(failures: Int, seconds: Int) {
        let backoff = Backoff(.quadratic, unit: .seconds(1), delayMax: .seconds(30))
        #expect(backoff.delay(afterFailures: failures, random: 1) == .seconds(seconds))
    }

    @Test(arguments: [(0, 500), (0.5, 750), (1, 1_000)])
    func jitterMayCoverTheUpperHalf(random: Double, milliseconds: Int) {
        let backoff = Backoff(.exponential, unit: .seconds(1), delayMax: .seconds(600), jitter: .upperHalf)
        #expect(backoff.delay(afterFailures: 1, random: random) == .milliseconds(milliseconds))
    }

    @Test func addedJitterSparesShortDelays() {
        let backoff = Backoff(.exponential, unit: .milliseconds(500), delayMax: .seconds(2), jitter: .added(.seconds(1)))
        #expect(
            (1...4).map { backoff.delay(afterFailures: $0, random: 0.5) } == [
                .milliseconds(500), .milliseconds(1_500), .milliseconds(2_500), .milliseconds(2_500),
            ])
    }
}
