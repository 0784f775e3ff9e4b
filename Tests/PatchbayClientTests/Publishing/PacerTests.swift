import Testing
import Wire

@testable import PatchbayClient

struct PacerTests {
    private var pacer = Pacer()

    @Test mutating func lateWakeUpsDoNotAccumulate() {
        var deadlines: [Instant] = []
        var now = Instant.milliseconds(0)
        for _ in 0..<1_000 {
            let due = pacer.deadline(ticks: 960, at: now)
            deadlines.append(due)
            // Each wake-up is 3 ms late.
            now = max(now, due) + .milliseconds(3)
        }
        #expect(deadlines[999] - deadlines[0] == .milliseconds(999 * 20))
    }

    @Test mutating func oddDurationsDoNotDrift() {
        // 2.5 ms are 120 ticks; rounding does not accumulate.
        let first = pacer.deadline(ticks: 121, at: .milliseconds(0))
        var last = first
        for _ in 0..<48_000 { last = pacer.deadline(ticks: 121, at: last) }
        #expect((last - first) == .seconds(121))
    }

    @Test mutating func silenceDelaysTheNextFrame() {
        let first = pacer.deadline(ticks: 960, at: .milliseconds(0))
        #expect(pacer.deadline(ticks: 960, silenceBefore: 4_800, at: first) - first == .milliseconds(120))
        #expect(pacer.end == first + .milliseconds(140))
    }

    @Test mutating func smallDelaysAreCaughtUp() {
        let first = pacer.deadline(ticks: 960, at: .milliseconds(0))
        #expect(pacer.deadline(ticks: 960, at: .milliseconds(219)) - first == .milliseconds(20))
        #expect(pacer.deadline(ticks: 960, at: .milliseconds(219)) - first == .milliseconds(40))
    }

    @Test mutating func longStallsRescheduleFromNow() {
        _ = pacer.deadline(ticks: 960, at: .milliseconds(0))
        #expect(pacer.deadline(ticks: 960, at: .milliseconds(5_000)) == .milliseconds(5_000))
        #expect(pacer.deadline(ticks: 960, at: .milliseconds(5_000)) == .milliseconds(5_020))
    }
}
