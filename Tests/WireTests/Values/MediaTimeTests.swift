import Testing
import Wire

struct MediaTimeTests {
    @Test(
        "Distances are right across the wrap",
        arguments: [
            (UInt32(0), UInt32(0), Int32(0)), (960, 0, 960), (0, 960, -960), (0, .max, 1), (.max, 0, -1), (479, .max - 480, 960),
            (0x7FFF_FFFF, 0, .max), (0x8000_0000, 0, .min),
        ])
    func distance(_ to: UInt32, _ from: UInt32, _ ticks: Int32) {
        #expect(MediaTime(ticks: to).distance(from: MediaTime(ticks: from)) == ticks)
    }

    @Test func advancingWrapsBothWays() {
        #expect(MediaTime(ticks: .max).advanced(by: 1) == MediaTime(ticks: 0))
        #expect(MediaTime(ticks: 0).advanced(by: -960) == MediaTime(ticks: .max - 959))
        #expect(MediaTime(ticks: 5).advanced(by: 1 << 32) == MediaTime(ticks: 5))
    }

    @Test func advancingAndMeasuringAgree() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<1_000 {
            let start = MediaTime(ticks: UInt32(truncatingIfNeeded: random.next()))
            let span = Int(Int32(truncatingIfNeeded: random.next()))
            #expect(start.advanced(by: span).distance(from: start) == Int32(span))
        }
    }
}

struct SequenceNumberTests {
    @Test(
        "Distances are right across the wrap",
        arguments: [
            (UInt16(0), UInt16(0), 0), (1, 0, 1), (0, 1, -1), (0, .max, 1), (.max, 0, -1), (32_767, 0, 32_767), (32_768, 0, -32_768),
        ])
    func distance(_ to: UInt16, _ from: UInt16, _ frames: Int) {
        #expect(SequenceNumber(to).distance(from: SequenceNumber(from)) == frames)
    }

    @Test func sequenceNumbersWrap() {
        #expect(SequenceNumber(.max).next == SequenceNumber(0))
        #expect(SequenceNumber(41).next == SequenceNumber(42))
    }
}
