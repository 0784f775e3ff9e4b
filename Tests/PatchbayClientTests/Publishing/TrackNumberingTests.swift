import Testing
import Wire

@testable import PatchbayClient

struct TrackNumberingTests {
    private var numbering = TrackNumbering(sequence: SequenceNumber(65_534), timestamp: MediaTime(ticks: .max - 959))

    private mutating func next(
        _ timing: FrameTiming = .following, at milliseconds: Int64, flags: FrameFlags = []
    ) -> TrackNumbering.Numbers {
        numbering.number(ticks: 960, timing, flags: flags, at: .milliseconds(milliseconds))
    }

    @Test mutating func firstFrameStartsATalkspurt() {
        #expect(next(at: 0).flags == .talkspurtStart)
        #expect(next(at: 20).flags == [])
    }

    @Test mutating func sequenceAndTimestampWrap() {
        let numbers = (0..<4).map { next(at: Int64($0) * 20) }
        #expect(numbers.map(\.sequence.value) == [65_534, 65_535, 0, 1])
        #expect(numbers.map(\.timestamp.ticks) == [.max - 959, 0, 960, 1_920])
    }

    @Test mutating func aPauseOf200MillisecondsIsKeptAndFlagged() {
        _ = next(at: 0)
        // The first frame ends at 20 ms.
        let after = next(at: 220)
        #expect(after.flags == .talkspurtStart)
        #expect(after.timestamp.distance(from: MediaTime(ticks: 0)) == 9_600)
        #expect(after.sequence.value == 65_535)
    }

    @Test mutating func shorterPausesAreJitter() {
        _ = next(at: 0)
        let after = next(at: 219)
        #expect(after.flags == [])
        #expect(after.timestamp.ticks == 0)
    }

    @Test mutating func framesSentAheadCauseNoPause() {
        for _ in 0..<50 { _ = next(at: 0) }
        let after = next(at: 1_100)
        #expect(after.flags == [])
        #expect(after.timestamp.distance(from: MediaTime(ticks: .max - 959)) == 50 * 960)
    }

    @Test mutating func clearStartsATalkspurtAndKeepsTimestampsMonotonic() {
        for _ in 0..<500 { _ = next(at: 0) }
        numbering.clear()
        let after = next(at: 1_000)
        #expect(after.flags == .talkspurtStart)
        #expect(after.timestamp.distance(from: MediaTime(ticks: .max - 959)) == 500 * 960)
        // A later pause counts again.
        #expect(next(at: 1_220).flags == .talkspurtStart)
    }

    @Test mutating func unsentSilenceLeavesATimestampGap() {
        _ = next(at: 0)
        let after = next(.afterSilence(ticks: 4_800), at: 120)
        #expect(after.timestamp.ticks == 4_800)
        #expect(after.flags == [])
        #expect(next(.afterSilence(ticks: 9_600), at: 340).flags == .talkspurtStart)
    }

    @Test mutating func pauseExtendsUnsentSilence() {
        _ = next(at: 0)
        let after = next(.afterSilence(ticks: 960), at: 1_020)
        #expect(after.timestamp.ticks == 48_000)
        #expect(after.flags == .talkspurtStart)
    }

    @Test mutating func timestampsNeverDecrease() {
        _ = next(.at(MediaTime(ticks: 10_000)), at: 0)
        #expect(next(.at(MediaTime(ticks: 9_000)), at: 20).timestamp.ticks == 10_960)
        #expect(next(.at(MediaTime(ticks: 30_000)), at: 40).flags == .talkspurtStart)
    }

    @Test mutating func gatewayFlagsAreRemoved() {
        _ = next(at: 0)
        #expect(next(at: 20, flags: [.discontinuity, .dtx, FrameFlags(rawValue: 1)]).flags == .dtx)
    }
}

extension Instant {
    static func milliseconds(_ count: Int64) -> Instant {
        Instant(nanoseconds: 1_000_000_000) + .milliseconds(count)
    }
}
