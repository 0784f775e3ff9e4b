import Testing
import Wire

@testable import Engine

struct UtteranceClockTests {
    private let start = Instant(nanoseconds: 5_000_000_000)

    private func at(_ milliseconds: Int) -> Instant { start + .milliseconds(milliseconds) }

    @Test func positionAdvancesWithTime() {
        let clock = UtteranceClock(playsAt: start)
        #expect(clock.offset(at: at(250)) == 12_000 && clock.instant(of: 12_000) == at(250))
        #expect(clock.offset(at: at(-10)) == 0)
    }

    @Test func positionStopsAtTheDrainedEnd() {
        var clock = UtteranceClock(playsAt: start)
        clock.drain(at: 4_800)
        #expect(clock.offset(at: at(500)) == 4_800 && clock.release(at: at(500)) == 4_800)
        #expect(clock.instant(of: 4_801) == nil)
        clock.refill()
        #expect(clock.instant(of: 9_600) == at(200))
    }

    @Test func streamGapIsATimeGap() {
        var clock = UtteranceClock(playsAt: start)
        clock.drain(at: 4_800)
        clock.start(at: 4_800, playsAt: at(400))
        #expect(clock.offset(at: at(399)) == 4_800 && clock.offset(at: at(410)) == 5_280)
        #expect(clock.instant(of: 4_800) == at(100) && clock.instant(of: 4_848) == at(401))
    }

    @Test func releasePositionIncludesTheLead() {
        let clock = UtteranceClock(playsAt: start)
        #expect(clock.release(at: at(0)) == 14_400 && clock.release(at: at(100)) == 19_200)
        #expect(clock.release(at: at(-300)) == 0)
    }

    @Test func instantNeverPrecedesItsOffset() {
        let clock = UtteranceClock(playsAt: start)
        for position in 0..<5_000 {
            guard let instant = clock.instant(of: position) else {
                Issue.record("\(position) is never reached")
                continue
            }
            #expect(clock.offset(at: instant) == position)
        }
    }
}
