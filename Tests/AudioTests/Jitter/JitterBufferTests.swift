import Audio
import Testing
import Wire

/// The jitter buffer alone: timed input, and output on demand.
@Suite struct JitterBufferTests {
    private let ticks = 960

    private func at(_ milliseconds: Int) -> Instant {
        Instant(nanoseconds: UInt64(10_000 + milliseconds) * 1_000_000)
    }

    /// Frame `number` of a track that starts at `sequence` and `timestamp`.
    private func frame(
        _ number: Int, sequence: UInt16 = 0, timestamp: UInt32 = 0, gap: Int = 0, isVoice: Bool = true, starts: Bool = false
    ) -> JitterFrame<Int> {
        JitterFrame(
            sequence: SequenceNumber(sequence &+ UInt16(truncatingIfNeeded: number)),
            timestamp: MediaTime(ticks: timestamp).advanced(by: number * ticks + gap), ticks: ticks, isVoice: isVoice,
            startsTalkspurt: starts, payload: number)
    }

    private func payload(_ output: JitterBuffer<Int>.Output) -> Int? {
        if case .frame(let frame) = output { frame.payload } else { nil }
    }

    @Test func nothingComesOutOfAnEmptyBuffer() {
        var buffer = JitterBuffer<Int>()
        #expect(buffer.next(at: at(0)) == .wait)
        #expect(buffer.statistics == JitterStatistics())
    }

    @Test func theFirstFrameWaitsForTheTargetDelay() {
        var buffer = JitterBuffer<Int>()
        buffer.insert(frame(0), at: at(0))
        #expect(buffer.next(at: at(39)) == .wait)
        #expect(buffer.next(at: at(40)) == .frame(frame(0)))
        #expect(buffer.statistics.delayMilliseconds == 40)
    }

    @Test func aTargetOfZeroPlaysAtOnce() {
        var buffer = JitterBuffer<Int>(JitterLimits(targetDelay: .zero))
        buffer.insert(frame(0), at: at(0))
        #expect(buffer.next(at: at(0)) == .frame(frame(0)))
    }

    @Test(arguments: [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2], [2, 0, 3, 1]], [0, 65_534] as [UInt16])
    func anyOrderOfArrivalIsPlayedInOrder(arrivals: [Int], sequence: UInt16) {
        var buffer = JitterBuffer<Int>()
        for number in arrivals { buffer.insert(frame(number, sequence: sequence, timestamp: .max - 1_000), at: at(0)) }
        #expect((0..<4).map { payload(buffer.next(at: at(40 + 20 * $0))) } == [0, 1, 2, 3])
        #expect(buffer.next(at: at(120)) == .wait)
    }

    @Test func aLostFrameIsConcealedAndTheNextOnePlayed() {
        var buffer = JitterBuffer<Int>()
        for number in [0, 2, 3] { buffer.insert(frame(number), at: at(0)) }
        #expect(payload(buffer.next(at: at(40))) == 0)
        #expect(buffer.next(at: at(60)) == .conceal(ticks: 960))
        #expect(payload(buffer.next(at: at(80))) == 2)
        #expect(buffer.statistics.concealed == 1)
        #expect(buffer.statistics.concealedTicks == 960)
    }

    @Test func aReorderedFrameThatComesDuringABurstOfLossIsStillPlayed() {
        var buffer = JitterBuffer<Int>()
        for number in [0, 4] { buffer.insert(frame(number), at: at(0)) }
        #expect(payload(buffer.next(at: at(40))) == 0)
        #expect(buffer.next(at: at(60)) == .conceal(ticks: 960))
        buffer.insert(frame(2), at: at(70))
        #expect(payload(buffer.next(at: at(80))) == 2)
        #expect(buffer.next(at: at(100)) == .conceal(ticks: 960))
        #expect(payload(buffer.next(at: at(120))) == 4)
    }

    @Test func aGapInTimestampsAloneIsSilence() {
        var buffer = JitterBuffer<Int>()
        buffer.insert(frame(0), at: at(0))
        buffer.insert(frame(1, gap: 4_800), at: at(20))
        #expect(payload(buffer.next(at: at(40))) == 0)
        #expect(buffer.next(at: at(60)) == .silence(ticks: 4_800))
        #expect(payload(buffer.next(at: at(160))) == 1)
        #expect(buffer.statistics.concealed == 0)
    }

    @Test func lossNextToAPauseIsOneConcealedFrameAndSilence() {
        var buffer = JitterBuffer<Int>()
        buffer.insert(frame(0), at: at(0))
        buffer.insert(frame(2, gap: 4_800), at: at(20))
        #expect(payload(buffer.next(at: at(40))) == 0)
        #expect(buffer.next(at: at(60)) == .conceal(ticks: 960))
        #expect(buffer.next(at: at(80)) == .silence(ticks: 4_800))
        #expect(payload(buffer.next(at: at(180))) == 2)
    }

    @Test func lostFramesThatWereShorterAreConcealedInTheirOwnLength() {
        var buffer = JitterBuffer<Int>()
        buffer.insert(frame(0), at: at(0))
        // Two frames of 10 ms are missing before this one.
        buffer.insert(frame(3, gap: -960), at: at(0))
        _ = buffer.next(at: at(40))
        #expect(buffer.next(at: at(60)) == .conceal(ticks: 480))
        #expect(buffer.next(at: at(70)) == .conceal(ticks: 480))
        #expect(payload(buffer.next(at: at(80))) == 3)
    }

    @Test func pausesSpentInAnUnderrunAreNotRepeated() {
        var buffer = JitterBuffer<Int>()
        buffer.insert(frame(0), at: at(0))
        #expect(payload(buffer.next(at: at(40))) == 0)
        #expect(buffer.next(at: at(60)) == .wait)
        // Two seconds later the speaker goes on; his frame comes as fast as the first one did.
        buffer.insert(frame(1, gap: 96_000, starts: true), at: at(2_020))
        #expect(buffer.next(at: at(2_020)) == .silence(ticks: 40 * 48))
        #expect(payload(buffer.next(at: at(2_060))) == 1)
        #expect(buffer.statistics.delayMilliseconds == 40)
    }

    @Test func talkspurtsStartWithAFullBuffer() {
        var buffer = JitterBuffer<Int>()
        buffer.insert(frame(0), at: at(0))
        _ = buffer.next(at: at(40))
        #expect(buffer.next(at: at(60)) == .wait)
        buffer.insert(frame(1, gap: 48_000, starts: true), at: at(1_100))
        #expect(buffer.next(at: at(1_100)) == .silence(ticks: 40 * 48))
    }

    @Test func duplicatesAreCountedAndPlayedOnce() {
        var buffer = JitterBuffer<Int>()
        #expect(buffer.insert(frame(0), at: at(0)) == .accepted)
        #expect(buffer.insert(frame(0), at: at(1)) == .duplicate)
        #expect(payload(buffer.next(at: at(40))) == 0)
        #expect(buffer.insert(frame(0), at: at(41)) == .duplicate)
        #expect(buffer.statistics.duplicate == 2)
        #expect(buffer.statistics.late == 0)
    }

    @Test func aLateFrameIsDroppedAndTheDelayGrowsByWhatItMissed() {
        var buffer = JitterBuffer<Int>()
        for number in [0, 2, 3, 4] { buffer.insert(frame(number), at: at(0)) }
        _ = buffer.next(at: at(40))
        #expect(buffer.next(at: at(60)) == .conceal(ticks: 960))
        #expect(payload(buffer.next(at: at(80))) == 2)
        #expect(buffer.insert(frame(1), at: at(90)) == .late)
        // The time of two frames: its own and frame 2's. From here on such a frame would be in time.
        #expect(buffer.next(at: at(100)) == .conceal(ticks: 960))
        #expect(buffer.next(at: at(120)) == .conceal(ticks: 960))
        #expect(payload(buffer.next(at: at(140))) == 3)
        #expect(buffer.statistics.late == 1)
        #expect(buffer.statistics.stretchedTicks == 1_920)
    }

    @Test func severalLateFramesOfOneDelayGrowItOnce() {
        var buffer = JitterBuffer<Int>()
        for number in [0, 4, 5, 6, 7] { buffer.insert(frame(number), at: at(0)) }
        for turn in 0..<5 { _ = buffer.next(at: at(40 + 20 * turn)) }
        for number in 1...3 { #expect(buffer.insert(frame(number), at: at(125)) == .late) }
        var stretched = 0
        while case .conceal(let ticks) = buffer.next(at: at(140)) { stretched += ticks }
        #expect(stretched == 4 * 960)
        #expect(buffer.insert(frame(3), at: at(145)) == .late)
        #expect(payload(buffer.next(at: at(150))) == 6)
    }

    @Test func underrunsIncreaseTheDelay() {
        var buffer = JitterBuffer<Int>()
        buffer.insert(frame(0), at: at(0))
        _ = buffer.next(at: at(40))
        #expect(buffer.next(at: at(60)) == .wait)
        buffer.insert(frame(1), at: at(110))
        #expect(payload(buffer.next(at: at(110))) == 1)
        #expect(buffer.statistics.late == 0)
        buffer.insert(frame(2), at: at(50 + 40))
        #expect(payload(buffer.next(at: at(130))) == 2)
    }

    @Test func aFullBufferDropsItsOldest() {
        var buffer = JitterBuffer<Int>(JitterLimits(delayLimit: .milliseconds(100)))
        for number in 0..<20 { buffer.insert(frame(number), at: at(0)) }
        #expect(buffer.bufferedTicks == 4_800)
        #expect(buffer.statistics.overflowed == 15)
        #expect(payload(buffer.next(at: at(40))) == 15)

        var few = JitterBuffer<Int>(JitterLimits(frames: 3))
        for number in 0..<5 { few.insert(frame(number), at: at(0)) }
        #expect(few.bufferedFrames == 3)
    }

    @Test func resetKeepsTheStatistics() {
        var buffer = JitterBuffer<Int>()
        for number in 0..<3 { buffer.insert(frame(number), at: at(0)) }
        _ = buffer.next(at: at(40))
        buffer.reset()
        #expect(buffer.next(at: at(60)) == .wait)
        #expect(buffer.statistics.discarded == 2)
        // In the new epoch numbers and timestamps may be anything.
        buffer.insert(frame(0, sequence: 40_000, timestamp: 7), at: at(70))
        #expect(buffer.next(at: at(80)) == .wait)
        #expect(payload(buffer.next(at: at(110))) == 0)
    }

    @Test func renumberedTracksResumeWithinASecond() {
        var buffer = JitterBuffer<Int>()
        buffer.insert(frame(0, sequence: 30_000, timestamp: 1_000_000), at: at(0))
        _ = buffer.next(at: at(40))
        for number in 0..<60 { buffer.insert(frame(number, sequence: 10, timestamp: 0), at: at(1_000 + 20 * number)) }
        #expect(payload(buffer.next(at: at(2_300))) == 50)
    }

    @Test(arguments: [0, 119, 121, 5_880, -960, .max])
    func framesOfInvalidDurationAreRejected(ticks: Int) {
        var buffer = JitterBuffer<Int>()
        let frame = JitterFrame(sequence: SequenceNumber(0), timestamp: MediaTime(ticks: 0), ticks: ticks, payload: 0)
        #expect(buffer.insert(frame, at: at(0)) == .malformed)
        #expect(buffer.statistics.malformed == 1)
    }

    @Test func aTimestampThatJumpsDoesNotSilenceTheTrackForLong() {
        var buffer = JitterBuffer<Int>()
        buffer.insert(frame(0), at: at(0))
        buffer.insert(frame(1, gap: 48_000 * 3_600), at: at(20))
        _ = buffer.next(at: at(40))
        #expect(buffer.next(at: at(60)) == .silence(ticks: 600 * 48))
        #expect(payload(buffer.next(at: at(660))) == 1)
    }

    @Test func wrappingCountersKeepTheOrder() {
        var buffer = JitterBuffer<Int>()
        var played: [Int] = []
        for number in 0..<400 {
            buffer.insert(frame(number, sequence: 65_400, timestamp: .max - 100_000), at: at(20 * number))
            if let next = payload(buffer.next(at: at(20 * number + 1))) { played.append(next) }
        }
        #expect(played == Array(0..<(played.count)))
        #expect(played.count == 398)
        #expect(buffer.statistics.concealed == 0)
    }
}
