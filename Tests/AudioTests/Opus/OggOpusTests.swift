import Audio
import OggOpus
import Testing

@Suite struct OggOpusTests {
    /// The recording as packets of 20 ms.
    static func packets(bitsPerSecond: Int = 24_000) throws -> [[UInt8]] {
        var encoder = try OpusEncoder(bitsPerSecond: bitsPerSecond)
        return try Sound.goForward().frames(milliseconds: 20).map { try encoder.encode($0) }
    }

    static func file(_ packets: [[UInt8]], head: OpusHead = OpusHead(), trimmedTicks: Int = 0) throws -> [UInt8] {
        var writer = try OggOpusWriter(head, tags: OpusTags(comments: ["TITLE=go forward"]), serial: 7)
        var file = try writer.start()
        for packet in packets { file += try writer.append(packet) }
        return file + (try writer.finish(trimmedTicks: trimmedTicks))
    }

    static func packets(in file: [UInt8]) throws -> [OggOpusReader.Packet] {
        var reader = try OggOpusReader(file)
        var packets: [OggOpusReader.Packet] = []
        while let packet = try reader.next() { packets.append(packet) }
        return packets
    }

    @Test func packetsSurviveARoundTripWithTheirPositions() throws {
        let written = try Self.packets()
        let read = try Self.packets(in: try Self.file(written, trimmedTicks: 300))
        #expect(read.map(\.bytes) == written)
        #expect(read.map(\.ticks) == written.map { _ in 960 })
        #expect(read.dropLast().map(\.granule) == (1..<written.count).map { Int64($0 * 960) })
        #expect(read.last?.granule == Int64(written.count * 960 - 300))
        #expect(read.last?.trimmedTicks == 300)
        #expect(read.allSatisfy { !$0.followsHole })
    }

    @Test func headersSurviveARoundTrip() throws {
        let head = OpusHead(channels: 2, preSkip: 400, inputSampleRate: 16_000, outputGain: -256)
        let reader = try OggOpusReader(try Self.file(try Self.packets(), head: head))
        #expect(reader.head == head)
        #expect(reader.tags == OpusTags(vendor: "patchbay", comments: ["TITLE=go forward"]))
    }

    @Test func commentsMayFillSeveralPages() throws {
        let tags = OpusTags(comments: ["PICTURE=" + String(repeating: "x", count: 200_000)])
        var writer = try OggOpusWriter(tags: tags)
        let file = try writer.append([0]) + (try writer.finish())
        #expect(try OggOpusReader(file).tags == tags)
        #expect(try Self.packets(in: file).map(\.bytes) == [[0]])
    }

    @Test func decodedSoundIsAlignedAndAsLongAsTheOriginal() throws {
        let sound = try Sound.goForward()
        var encoder = try OpusEncoder(application: .audio, bitsPerSecond: 64_000)
        let preSkip = encoder.preSkip
        // The encoded audio must include the encoder's delay.
        let padded = PCMBuffer(samples: sound.samples + [Int16](repeating: 0, count: preSkip)).frames(milliseconds: 20)
        let packets = try padded.map { try encoder.encode($0) }
        let trimmed = packets.count * 960 - preSkip - sound.frameCount
        let file = try Self.file(packets, head: OpusHead(preSkip: preSkip), trimmedTicks: trimmed)
        let decoded = try OggOpusReader.decodePCM(file)
        #expect(decoded.frameCount == sound.frameCount)
        #expect(Sound.correlation(sound.samples[...], decoded.samples[...]) > 0.99)
        #expect(try OggOpusReader.decodePCM(file, channels: 2).mixedToMono() == decoded)
    }

    @Test func theHeadersGainIsApplied() throws {
        let packets = try Self.packets()
        let plain = try OggOpusReader.decodePCM(try Self.file(packets))
        let quiet = try OggOpusReader.decodePCM(try Self.file(packets, head: OpusHead(outputGain: -6 * 256)))
        #expect(abs(Sound.rootMeanSquare(quiet.samples) / Sound.rootMeanSquare(plain.samples) - 0.501) < 0.01)
    }

    @Test func pagesHoldAtMostASecond() throws {
        var writer = try OggOpusWriter()
        var file = try writer.start()
        for (index, packet) in (try Self.packets() + Self.packets()).enumerated() {
            file += try writer.append(packet)
            // Killed here, the process leaves this: at most a page and the packet that waits are missing.
            let left = try Self.packets(in: file).count
            #expect(index + 1 - left <= 51)
        }
    }

    @Test(arguments: [120, 960, 4_800, 5_760, 48_000, 48_120, 1_000_000])
    func gapsHaveTheRequestedDuration(ticks: Int) throws {
        let packets = try Self.packets()
        var writer = try OggOpusWriter(serial: 1)
        var file = try writer.append(packets[0])
        file += try writer.appendGap(ticks: ticks)
        file += try writer.append(packets[1])
        file += try writer.finish()
        let read = try Self.packets(in: file)
        #expect(read.dropFirst().dropLast().map(\.ticks).reduce(0, +) == ticks / 120 * 120)
        #expect(read.dropFirst().dropLast().allSatisfy { $0.bytes.count <= 2 })
        #expect(read.last?.granule == Int64(1_920 + ticks / 120 * 120))
        #expect(try OggOpusReader.decodePCM(file).frameCount == 1_920 + ticks / 120 * 120 - 312)
    }

    @Test(arguments: 0..<32)
    func gapsKeepThePreviousPacketsCoding(configuration: Int) throws {
        let before = try OpusPacket([UInt8(configuration << 3)])
        var writer = try OggOpusWriter(serial: 1)
        var file = try writer.append([UInt8(configuration << 3)])
        file += try writer.appendGap(ticks: 5_760 + 960 + 480 + 240 + 120)
        file += try writer.finish()
        let gap = try Self.packets(in: file).dropFirst().map { try OpusPacket($0.bytes) }
        #expect(gap.map(\.ticks) == [5_760, 960, 480, 240, 120])
        #expect(gap.prefix(3).allSatisfy { $0.mode == before.mode && $0.bandwidth == before.bandwidth })
        // Only CELT has such short frames, and it has no medium band.
        let short = before.bandwidth == .medium ? .wide : before.bandwidth
        #expect(gap.suffix(2).allSatisfy { $0.mode == .celt && $0.bandwidth == short })
    }

    @Test func aGapIsQuiet() throws {
        var writer = try OggOpusWriter(OpusHead(preSkip: 0), serial: 1)
        var file: [UInt8] = []
        for packet in try Self.packets().prefix(44) { file += try writer.append(packet) }
        file += try writer.appendGap(ticks: 48_000)
        file += try writer.finish()
        let sound = try OggOpusReader.decodePCM(file).samples
        #expect(Sound.rootMeanSquare(sound[(42 * 960)..<(44 * 960)]) > 1_000)
        #expect(Sound.rootMeanSquare(sound.suffix(24_000)) < 50)
    }

    @Test func recordingsMayStartWithAGapOrBeEmpty() throws {
        var writer = try OggOpusWriter(OpusHead(preSkip: 0))
        let gap = try writer.appendGap(ticks: 4_800)
        let file = gap + (try writer.finish())
        let sound = try OggOpusReader.decodePCM(file)
        #expect(sound.samples == [Int16](repeating: 0, count: 4_800))
        #expect(try Self.packets(in: try Self.file([])).isEmpty)
    }

    @Test func writerRejectsInvalidInput() throws {
        #expect(throws: OggOpusError.packet(.empty)) {
            var writer = try OggOpusWriter()
            _ = try writer.append([])
        }
        #expect(throws: OggOpusError.range("The gap in ticks", -1, allowed: 0...OggOpusWriter.gapTicksLimit)) {
            var writer = try OggOpusWriter()
            _ = try writer.appendGap(ticks: -1)
        }
        #expect(throws: OggOpusError.range("The trim in ticks", 961, allowed: 0...960)) {
            _ = try Self.file(try Self.packets(), trimmedTicks: 961)
        }
        #expect(throws: OggOpusError.range("preSkip", 70_000, allowed: 0...65_535)) {
            _ = try Self.file([], head: OpusHead(preSkip: 70_000))
        }
    }

    @Test func decodedDurationIsLimited() throws {
        var writer = try OggOpusWriter()
        var file = try writer.appendGap(ticks: 48_000 * 60)
        file += try writer.finish()
        #expect(throws: OggOpusError.tooLong(limit: .seconds(50))) {
            _ = try OggOpusReader.decodePCM(file, limit: .seconds(50))
        }
    }
}
