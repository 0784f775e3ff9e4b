import Audio
import Testing
import Wire

@Suite struct WAVFileTests {
    private func chunk(_ name: String, _ body: [UInt8], size: Int? = nil) -> [UInt8] {
        Array(name.utf8) + bytes(UInt32(size ?? body.count)) + body + (body.count % 2 == 0 ? [] : [0])
    }

    private func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    private func format(tag: Int = 1, channels: Int = 1, rate: Int = 8_000, bits: Int = 16, extra: [UInt8] = []) -> [UInt8] {
        let block = channels * bits / 8
        return bytes(UInt16(tag)) + bytes(UInt16(channels)) + bytes(UInt32(rate)) + bytes(UInt32(rate * block)) + bytes(UInt16(block))
            + bytes(UInt16(bits)) + extra
    }

    private func file(_ chunks: [UInt8]...) -> [UInt8] {
        let body = chunks.flatMap { $0 }
        return Array("RIFF".utf8) + bytes(UInt32(body.count + 4)) + Array("WAVE".utf8) + body
    }

    @Test func recordingsAreParsed() throws {
        let sound = try Sound.goForward()
        #expect(sound.sampleRate == 48_000)
        #expect(sound.channels == 1)
        #expect(sound.duration == .milliseconds(2_786) + .microseconds(250))
    }

    @Test func writtenFilesAreReadBack() throws {
        let sound = PCMBuffer(samples: [0, 1, -1, .max, .min, 7], sampleRate: 44_100, channels: 2)
        #expect(try WAVFile.read(try WAVFile.write(sound)) == sound)
    }

    @Test func everySampleFormatMeansTheSame() throws {
        // -1/2, 0, 1/4 of full scale.
        let expected: [Int16] = [-16_384, 0, 8_192]
        let eight: [UInt8] = [64, 128, 160]
        let sixteen = expected.flatMap { bytes($0) }
        let twentyFour: [UInt8] = [0, 0, 0xC0, 0, 0, 0, 0, 0, 0x20]
        let thirtyTwo = expected.flatMap { bytes(Int32($0) << 16) }
        let float = [Float(-0.5), 0, 0.25].flatMap { bytes($0.bitPattern) }
        for (tag, bits, data) in [(1, 8, eight), (1, 16, sixteen), (1, 24, twentyFour), (1, 32, thirtyTwo), (3, 32, float)] {
            let plain = file(chunk("fmt ", format(tag: tag, bits: bits)), chunk("data", data))
            #expect(try WAVFile.read(plain).samples == expected, "\(tag), \(bits) bits")
            let guid = bytes(UInt16(tag)) + [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
            let extra = bytes(UInt16(22)) + bytes(UInt16(bits)) + bytes(UInt32(4)) + guid
            let extensible = file(chunk("fmt ", format(tag: 0xFFFE, bits: bits, extra: extra)), chunk("data", data))
            #expect(try WAVFile.read(extensible).samples == expected, "extensible \(tag), \(bits) bits")
        }
    }

    @Test func floatsClipAndNaNIsSilence() throws {
        let floats: [Float] = [2, -2, 1, -1, .nan, .infinity, -.infinity]
        let data = floats.flatMap { bytes($0.bitPattern) }
        let sound = try WAVFile.read(file(chunk("fmt ", format(tag: 3, bits: 32)), chunk("data", data)))
        #expect(sound.samples == [.max, .min, .max, .min, 0, .max, .min])
    }

    @Test func finerSamplesAreRoundedNotCutOff() throws {
        // 0.49 and 0.5 of a 16-bit step, the same below zero, and what would be rounded beyond full scale.
        let data: [UInt8] = [0x7F, 0, 0, 0x80, 0, 0, 0x80, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]
        let sound = try WAVFile.read(file(chunk("fmt ", format(bits: 24)), chunk("data", data)))
        #expect(sound.samples == [0, 1, 0, -1, .max])
    }

    @Test func manyChannelsMixToTheirMean() throws {
        let data = [Int16(300), 600, -300, .min, .min, .min].flatMap { bytes($0) }
        let sound = try WAVFile.read(file(chunk("fmt ", format(channels: 3)), chunk("data", data)), mono: true)
        #expect(sound == PCMBuffer(samples: [200, .min], sampleRate: 8_000))
    }

    @Test func chunksAroundTheSoundAreSkipped() throws {
        let before = chunk("LIST", [1, 2, 3]) + chunk("fmt ", format()) + chunk("fact", [0, 0, 0, 0])
        let bytes = file(before, chunk("data", [1, 0]), chunk("id3 ", [9]))
        #expect(try WAVFile.read(bytes).samples == [1])
    }

    @Test(arguments: [0, 0x7FFF_F000, 0xFFFF_FFFF])
    func streamsOfUnknownLengthAreReadToTheEnd(size: Int) throws {
        let bytes = file(chunk("fmt ", format()), chunk("data", [1, 0, 2, 0, 3], size: size))
        #expect(try WAVFile.read(bytes).samples.prefix(2) == [1, 2])
    }

    @Test func errorsExplainBrokenFiles() throws {
        let broken: [([UInt8], WAVError)] = [
            ([], .notWAV),
            (Array("RIFF\0\0\0\0AVI LIST".utf8), .notWAV),
            (file(), .formatMissing),
            (file(chunk("data", [0, 0])), .formatMissing),
            (file(chunk("fmt ", [1, 0, 1])), .dataMissing),
            (file(chunk("fmt ", [1, 0, 1]), chunk("data", [0, 0])), .formatMissing),
            (file(chunk("fmt ", format())), .dataMissing),
            (file(chunk("fmt ", format()), chunk("data", [1, 0], size: 100)), .truncated(chunk: "data", announced: 100, present: 2)),
            (file(chunk("fmt ", format(), size: 1_000)), .truncated(chunk: "fmt ", announced: 1_000, present: 16)),
            (file(chunk("fmt ", format(tag: 6, bits: 8)), chunk("data", [1])), .encoding(tag: 6, bitsPerSample: 8)),
            (
                file(chunk("fmt ", format(channels: 0)), chunk("data", [1, 0])),
                .inconsistentFormat(channels: 0, sampleRate: 8_000, bytesPerFrame: 0)
            ),
            (
                file(chunk("fmt ", format(rate: 0)), chunk("data", [1, 0])),
                .inconsistentFormat(channels: 1, sampleRate: 0, bytesPerFrame: 2)
            ),
        ]
        for (bytes, error) in broken {
            #expect(throws: error) { _ = try WAVFile.read(bytes) }
        }
    }

    @Test(arguments: 0..<8)
    func damagedFilesGiveSoundOrAnError(seed: Int) throws {
        var random = SplitMix64(seed: seed)
        let extra = bytes(UInt16(22)) + bytes(UInt16(24)) + bytes(UInt32(3)) + [1, 0] + random.bytes(14)
        let originals = [
            try WAVFile.write(PCMBuffer(samples: (0..<200).map { Int16($0) }, channels: 2)),
            file(
                chunk("fmt ", format(tag: 0xFFFE, channels: 2, bits: 24, extra: extra)), chunk("LIST", [1]),
                chunk("data", random.bytes(120))),
            file(chunk("fmt ", format(tag: 3, bits: 32)), chunk("data", random.bytes(120))),
        ]
        for round in 0..<1_000 {
            let bytes = random.mutation(of: originals[round % originals.count])
            guard let sound = try? WAVFile.read(bytes, mono: random.chance(50)) else { continue }
            #expect(sound.samples.count <= bytes.count)
        }
    }
}
