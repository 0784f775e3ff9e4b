import Testing
import Wire

@testable import patchbay_loadtest

struct FrameStampTests {
    @Test func stampedFramesAreValid() throws {
        // Opus, hybrid full band 20 ms, one frame (RFC 6716 section 3.1).
        let packets = try SpeechPackets([
            ([0x78] + [UInt8](repeating: 9, count: 60), AudioLevelByte(voice: true, level: 30)),
            ([0x78, 1], AudioLevelByte(voice: true, level: 30)),
        ])
        #expect(packets.count == 2)
        for index in 0..<2 {
            let frame = UnsafeMutableRawBufferPointer.allocate(byteCount: packets.frame(index).count, alignment: 16)
            defer { frame.deallocate() }
            frame.copyMemory(from: packets.frame(index))
            let base = try #require(frame.baseAddress)
            FrameStamp(time: 12_345_678_901, track: 77, sequence: 65_537).write(
                to: base, flags: [.talkspurtStart], alias: 300, timestamp: 960)
            let header = try FrameHeader(parsing: UnsafeRawBufferPointer(frame))
            #expect(header.alias.value == 300)
            #expect(header.sequence.value == 1)
            #expect(header.flags == [.talkspurtStart])
            #expect(header.level == AudioLevelByte(voice: true, level: 30))
            #expect(header.timestamp == MediaTime(ticks: 960))
            #expect(frame[12] == 0x78)
            let stamp = FrameStamp(reading: base)
            #expect(stamp.time == 12_345_678_901)
            #expect(stamp.track == 77)
            #expect(stamp.sequence == 65_537)
        }
    }

    @Test func speechWithout20MillisecondFramesIsRejected() {
        // 10 ms of CELT.
        #expect(throws: UsageError.self) { try SpeechPackets([([0xF0, 1, 2], AudioLevelByte(voice: true, level: 1))]) }
    }

    @Test(arguments: [
        (#"{"type":"hello","seq":1}"#, false), (#"{"type":"reply","re":1}"#, false), (#"{"type":"error","re":1}"#, false),
        (#"{"type":"talk.started","seq":2}"#, true), ("{}", false),
    ]) func onlyEventsAreIgnorable(text: String, isIgnorable: Bool) {
        #expect(Array(text.utf8).withUnsafeBytes { ControlText.isIgnorable($0) } == isIgnorable)
    }
}
