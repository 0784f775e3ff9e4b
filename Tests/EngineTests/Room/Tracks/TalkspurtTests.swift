import Testing
import Wire

@testable import Engine

struct TalkspurtTests {
    private let now = Instant(nanoseconds: 5_000_000_000)

    @Test func everyStartHasOneStop() {
        var talk = Talkspurt()
        #expect(talk.begin(at: MediaTime(ticks: 100), now: now) == true)
        #expect(talk.start == MediaTime(ticks: 100))
        #expect(talk.begin(at: MediaTime(ticks: 200), now: now) == false)
        #expect(talk.end(at: MediaTime(ticks: 900)) == MediaTime(ticks: 900))
        #expect(talk.end(at: MediaTime(ticks: 900)) == nil && talk.cutOff(now: now) == nil && talk.start == nil)
    }

    @Test func stopWithoutAStartIsIgnored() {
        var talk = Talkspurt()
        #expect(talk.end(at: MediaTime(ticks: 1)) == nil && talk.cutOff(now: now) == nil)
    }

    @Test func stopNeverPrecedesItsStart() {
        var talk = Talkspurt()
        _ = talk.begin(at: MediaTime(ticks: 100), now: now)
        #expect(talk.end(at: MediaTime(ticks: 40)) == MediaTime(ticks: 100))
    }

    @Test func wrappedTimestampIsLater() {
        var talk = Talkspurt()
        _ = talk.begin(at: MediaTime(ticks: .max - 9), now: now)
        #expect(talk.end(at: MediaTime(ticks: 950)) == MediaTime(ticks: 950))
        _ = talk.begin(at: MediaTime(ticks: .max - 47), now: now)
        #expect(talk.cutOff(now: now + .milliseconds(2)) == MediaTime(ticks: 48))
    }
}

struct EarliestDeadlineTests {
    private func at(_ second: UInt64) -> Instant { Instant(nanoseconds: second * 1_000_000_000) }

    @Test func earliestDeadlineWins() {
        var wakeUp = EarliestDeadline()
        #expect(wakeUp.instant == nil)
        for second: UInt64 in [7, 3, 5] { wakeUp.include(at(second)) }
        wakeUp.include(nil)
        #expect(wakeUp.instant == at(3))
        wakeUp.clear()
        #expect(wakeUp.instant == nil)
    }
}
