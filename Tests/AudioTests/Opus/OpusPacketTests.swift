import Audio
import COpus
import Testing
import Wire

@Suite struct OpusPacketTests {
    /// libopus's result for the same bytes: frames and samples at 48 kHz, or nil if it rejects the packet.
    private func reference(_ packet: [UInt8]) -> (frames: Int, ticks: Int)? {
        var toc: UInt8 = 0
        var offset: Int32 = 0
        var starts = [UnsafePointer<UInt8>?](repeating: nil, count: 48)
        var lengths = [Int16](repeating: 0, count: 48)
        let frames = opus_packet_parse(packet, Int32(packet.count), &toc, &starts, &lengths, &offset)
        guard frames > 0 else { return nil }
        return (Int(frames), Int(opus_packet_get_nb_samples(packet, Int32(packet.count), 48_000)))
    }

    @Test(arguments: 0...255)
    func everyFirstByteMeansWhatLibopusSays(toc: Int) throws {
        let packet: [UInt8] = [UInt8(toc), 2, 0, 0]
        let parsed = try? OpusPacket(packet)
        #expect(parsed?.frameCount == reference(packet)?.frames)
        guard let parsed else { return }
        #expect(parsed.ticksPerFrame == Int(opus_packet_get_samples_per_frame(packet, 48_000)))
        #expect(parsed.channels == Int(opus_packet_get_nb_channels(packet)))
        let bandwidths: [Int32: OpusPacket.Bandwidth] = [
            OPUS_BANDWIDTH_NARROWBAND: .narrow, OPUS_BANDWIDTH_MEDIUMBAND: .medium, OPUS_BANDWIDTH_WIDEBAND: .wide,
            OPUS_BANDWIDTH_SUPERWIDEBAND: .superWide, OPUS_BANDWIDTH_FULLBAND: .full,
        ]
        #expect(parsed.bandwidth == bandwidths[opus_packet_get_bandwidth(packet)])
    }

    @Test(arguments: 0..<8)
    func parsingAgreesWithLibopus(seed: Int) {
        var random = SplitMix64(seed: seed)
        var misread: [[UInt8]] = []
        for _ in 0..<10_000 {
            // Lengths near the limits of one and two frames come up, too.
            let length = random.chance(10) ? [1_275, 1_276, 1_277, 2_551, 2_552, 2_560][random.below(6)] : random.below(40)
            var packet = random.bytes(length)
            if !packet.isEmpty, random.chance(70) { packet[0] |= 0b11 }
            // Padding, and lengths that are small enough to fit.
            if packet.count > 1, random.chance(50) { packet[1] = UInt8(random.below(4) << 6 | random.below(6)) }
            for index in packet.indices.dropFirst(2) where random.chance(50) { packet[index] = UInt8(random.below(8)) }
            let (ours, theirs) = (try? OpusPacket(packet), reference(packet))
            if ours?.frameCount != theirs?.frames || ours?.ticks != theirs?.ticks { misread.append(packet) }
        }
        #expect(misread.isEmpty)
    }

    private static let broken: [([UInt8], OpusPacket.Fault)] = [
        ([], .empty),
        ([0x01, 1, 2, 3], .unevenFrames),
        ([0x02], .truncated),
        ([0x02, 252], .truncated),
        ([0x02, 5, 1], .truncated),
        ([0x03], .truncated),
        ([0x03, 0], .frameCount),
        ([0x1B, 3], .frameCount),
        ([0x03, 0x41], .truncated),
        ([0x03, 0x41, 255], .truncated),
        ([0x03, 0x41, 2, 0], .truncated),
        ([0x03, 0x02, 1], .unevenFrames),
        ([0x03, 0x83, 1], .truncated),
    ]

    @Test(arguments: broken)
    func errorsNameTheViolatedRule(packet: [UInt8], fault: OpusPacket.Fault) {
        #expect(throws: fault) { _ = try OpusPacket(packet) }
    }

    @Test func aFrameOfMoreThan1275BytesIsTooLong() {
        let most = [UInt8](repeating: 0, count: 1_276)
        #expect(throws: Never.self) { _ = try OpusPacket(most) }
        #expect(throws: OpusPacket.Fault.frameTooLong) { _ = try OpusPacket(most + [0]) }
    }

    @Test func theEncodersPacketsLastAsLongAsTheirFrames() throws {
        var encoder = try OpusEncoder()
        for milliseconds in [5, 10, 20, 40, 60, 80, 100, 120] {
            let packet = try OpusPacket(try encoder.encode([Int16](repeating: 1, count: 48 * milliseconds)))
            #expect(packet.ticks == 48 * milliseconds)
        }
    }
}
