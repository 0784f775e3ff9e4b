import Testing
import Wire

struct FrameHeaderTests {
    private static let frame: [UInt8] = [0x41, 0xA0, 0x12, 0x34, 0xFE, 0xDC, 0x9E, 7, 0x89, 0xAB, 0xCD, 0xEF, 1, 2, 3]

    @Test func fieldsAreAtTheirOffsets() throws {
        let header = try Self.parse(Self.frame)
        #expect(header.flags == [.talkspurtStart, .dtx])
        #expect(header.alias == TrackAlias(0x1234))
        #expect(header.sequence == SequenceNumber(0xFEDC))
        #expect(header.level.isVoice)
        #expect(header.level.level == 30)
        #expect(header.epoch == 7)
        #expect(header.timestamp == MediaTime(ticks: 0x89AB_CDEF))
        #expect(header.bytes == Array(Self.frame.prefix(12)))
    }

    @Test func headersOfAnyContentSurviveARoundTrip() throws {
        var random = SplitMix64(seed: 1)
        for _ in 0..<10_000 {
            let header = FrameHeader(
                flags: FrameFlags(rawValue: UInt8(truncatingIfNeeded: random.next()) & 0xF0),
                alias: TrackAlias(UInt16(1 + random.below(65_535))),
                sequence: SequenceNumber(UInt16(random.below(65_536))), level: AudioLevelByte(rawValue: UInt8(random.below(256))),
                epoch: UInt8(random.below(256)), timestamp: MediaTime(ticks: UInt32(truncatingIfNeeded: random.next())))
            #expect(try Self.parse(header.bytes + [0]) == header)
        }
    }

    struct Malformed: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fault: FrameError
        let bytes: [UInt8]

        init(_ story: String, _ fault: FrameError, _ bytes: [UInt8]) {
            testDescription = story
            self.fault = fault
            self.bytes = bytes
        }

        init(_ story: String, _ fault: FrameError, byte place: Int, _ value: UInt8) {
            var bytes = frame
            bytes[place] = value
            self.init(story, fault, bytes)
        }
    }

    static let malformed: [Malformed] =
        (0..<12).map { Malformed("\($0) bytes", .short, Array(frame.prefix($0))) }
        + (0..<4).map { Malformed("reserved flag \($0)", .flags, byte: 1, 1 << $0) }
        + [0x01, 0x81, 0xC1].map { Malformed("version \($0 >> 6)", .version, byte: 0, $0) }
        + [0x40, 0x42, 0x43, 0x7F].map { Malformed("type \($0 & 0x3F)", .kind, byte: 0, $0) }
        + [
            Malformed("a header without a packet", .empty, Array(frame.prefix(12))),
            Malformed("1,501 bytes", .long, frame + [UInt8](repeating: 0, count: 1_486)),
            Malformed("16,384 bytes", .long, frame + [UInt8](repeating: 0, count: 16_369)),
            Malformed("all flags", .flags, byte: 1, 0xFF),
            Malformed("alias 0", .alias, Array(frame.prefix(2)) + [0, 0] + frame.dropFirst(4)),
        ]

    @Test("Invalid frames are rejected", arguments: malformed)
    func refused(_ malformed: Malformed) {
        #expect(throws: malformed.fault) { try Self.parse(malformed.bytes) }
    }

    @Test func nothingIsRefusedForItsSizeUpTo1500Bytes() throws {
        for count in [13, 14, 125, 126, 1_499, 1_500] {
            _ = try Self.parse(Array(Self.frame.prefix(12)) + [UInt8](repeating: 0, count: count - 12))
        }
    }

    @Test func noBytesTrap() {
        var random = SplitMix64(seed: 2)
        for round in 0..<100_000 {
            var bytes = random.bytes(random.below(round % 100 == 0 ? 2_000 : 32))
            // Half of them get past the first byte.
            if !bytes.isEmpty, random.below(2) == 0 { bytes[0] = 0x41 }
            do {
                let header = try Self.parse(bytes)
                #expect(header.bytes == Array(bytes.prefix(12)))
            } catch {
                #expect(error is FrameError)
            }
        }
    }

    @Test func levelsAreClamped() {
        #expect(AudioLevelByte(voice: true, level: -5).rawValue == 0x80)
        #expect(AudioLevelByte(voice: false, level: 500).rawValue == 127)
        #expect(AudioLevelByte(voice: true, level: 127).rawValue == 255)
    }

    private static func parse(_ bytes: [UInt8]) throws -> FrameHeader {
        try bytes.withUnsafeBytes { bytes throws in try FrameHeader(parsing: bytes) }
    }
}
