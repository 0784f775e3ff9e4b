import Audio
import OggOpus
import Testing
import Wire

@Suite struct OggOpusDamageTests {
    @Test func theSecondPageOfSoundBeingLostLeavesAHoleOfOneSecond() throws {
        let packets = try OggOpusTests.packets()
        var file = try OggOpusTests.file(packets)
        // One flipped bit breaks the CRC of its page.
        let pages = file.indices.dropLast(4).filter { Array(file[$0..<($0 + 4)]) == Array("OggS".utf8) }
        file[pages[3] + 100] ^= 1
        let read = try OggOpusTests.packets(in: file)
        #expect(read.map(\.bytes) == Array(packets[..<50] + packets[100...]))
        #expect(read.map(\.followsHole).firstIndex(of: true) == 50)
        #expect(read[50].granule == 101 * 960)
        // The gap is concealed, so later audio keeps its position.
        #expect(try OggOpusReader.decodePCM(file).frameCount == packets.count * 960 - 312)
    }

    @Test func truncatedFilesYieldTheirCompletePages() throws {
        let file = try OggOpusTests.file(try OggOpusTests.packets())
        let all = try OggOpusTests.packets(in: file)
        for length in stride(from: 0, through: file.count, by: 37) {
            do {
                let some = try OggOpusTests.packets(in: Array(file[..<length]))
                #expect(some.map(\.bytes) == all.prefix(some.count).map(\.bytes))
            } catch let error as OggOpusError {
                #expect([.notOggOpus, .truncated].contains(error))
            }
        }
    }

    @Test func streamsJoinedLateStartAtTheirGranulePosition() throws {
        let packets = try OggOpusTests.packets()
        let file = try OggOpusTests.file(packets)
        let pages = file.indices.dropLast(4).filter { Array(file[$0..<($0 + 4)]) == Array("OggS".utf8) }
        let joined = Array(file[..<pages[2]] + file[pages[3]...])
        let read = try OggOpusTests.packets(in: joined)
        #expect(read[0].granule == 51 * 960)
        #expect(read.last?.granule == Int64(packets.count * 960))
    }

    /// A file with this OpusHead after its signature, and empty OpusTags.
    private func file(head: [UInt8]) -> [UInt8] {
        OggPage(packets: [Array("OpusHead".utf8) + head], granule: 0, number: 0, flags: 2).bytes
            + OggPage(packets: [Array("OpusTags".utf8) + [UInt8](repeating: 0, count: 8)], granule: 0, number: 1, flags: 0).bytes
    }

    @Test func invalidHeadersAreExplained() throws {
        let rest: [UInt8] = [0x38, 1, 0, 0, 0, 0, 0, 0]
        #expect(try OggOpusReader(file(head: [1, 2] + rest + [0])).head.preSkip == 312)
        #expect(throws: Never.self) { _ = try OggOpusReader(file(head: [15, 1] + rest + [0, 9, 9])) }
        let broken: [([UInt8], String)] = [
            ([16, 1] + rest + [0], "version 16"), ([1, 3] + rest + [0], "3 channels"), ([1, 0] + rest + [0], "0 channels"),
            ([1, 2] + rest + [1], "family 1"), ([1, 2] + rest, "19 bytes"),
        ]
        for (head, reason) in broken {
            let error = #expect(throws: OggOpusError.self) { _ = try OggOpusReader(file(head: head)) }
            #expect(error?.description.contains(reason) == true)
        }
    }

    @Test(arguments: 0..<8)
    func damagedFilesGiveSoundOrAnError(seed: Int) throws {
        var random = SplitMix64(seed: seed)
        let original = try OggOpusTests.file(Array(try OggOpusTests.packets().prefix(12)))
        for _ in 0..<500 {
            let bytes = random.mutation(of: original)
            guard let packets = try? OggOpusTests.packets(in: bytes) else { continue }
            #expect(packets.count <= bytes.count)
            if random.chance(20) { _ = try? OggOpusReader.decodePCM(bytes, limit: .seconds(10)) }
        }
    }

    /// Damage that the CRC does not catch: pages built around rubbish, with rubbish positions and flags.
    @Test(arguments: 0..<8)
    func validPagesOfRandomDataDecodeOrFail(seed: Int) throws {
        var random = SplitMix64(seed: seed)
        let good = try OggOpusTests.packets()
        for _ in 0..<300 {
            var file: [UInt8] = []
            var head: [UInt8] = Array("OpusHead".utf8) + [1, UInt8(1 + random.below(2))] + random.bytes(8) + [0]
            var tags: [UInt8] = Array("OpusTags".utf8) + [0, 0, 0, 0, 0, 0, 0, 0]
            if random.chance(20) { head = random.mutation(of: head) }
            if random.chance(20) { tags = random.mutation(of: tags) }
            file += OggPage(packets: [head], granule: 0, number: 0, flags: 2).bytes
            file += OggPage(packets: [tags], granule: 0, number: 1, flags: 0).bytes
            for number in 2..<(3 + random.below(5)) {
                let packets = (0..<random.below(6)).map { _ in random.chance(50) ? good[random.below(100)] : random.bytes(random.below(30))
                }
                let granules: [Int64] = [.min, -1, 0, 1, Int64(number) * 2_880, 1 << 40, .max, Int64(bitPattern: random.next())]
                let flags = random.chance(80) ? 0 : UInt8(random.below(8))
                file += OggPage(packets: packets, granule: granules[random.below(8)], number: number, flags: flags).bytes
            }
            if let packets = try? OggOpusTests.packets(in: file) {
                #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.granule <= $1.granule })
                #expect(packets.allSatisfy { (0...$0.ticks).contains($0.trimmedTicks) })
            }
            _ = try? OggOpusReader.decodePCM(file, limit: .seconds(10))
        }
    }
}

/// A page made by hand (RFC 3533 section 6), so that its contents can be wrong while its CRC is right.
struct OggPage {
    var packets: [[UInt8]]
    var granule: Int64
    var number: Int
    /// 1: continued from the previous page, 2: first page, 4: last page.
    var flags: UInt8

    var bytes: [UInt8] {
        let lacing = packets.flatMap { [UInt8](repeating: 255, count: $0.count / 255) + [UInt8($0.count % 255)] }
        var page: [UInt8] = Array("OggS".utf8) + [0, flags]
        page += withUnsafeBytes(of: granule.littleEndian) { Array($0) }
        page += [7, 0, 0, 0, UInt8(number), 0, 0, 0, 0, 0, 0, 0, UInt8(lacing.count)]
        page += lacing + packets.flatMap { $0 }
        let sum = Self.sum(of: page)
        for byte in 0..<4 { page[22 + byte] = UInt8(truncatingIfNeeded: sum >> UInt32(8 * byte)) }
        return page
    }

    /// CRC-32 with polynomial 0x04C11DB7, from zero, most significant bit first.
    private static func sum(of bytes: [UInt8]) -> UInt32 {
        bytes.reduce(0) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte) << 24) { rest, _ in rest & 0x8000_0000 == 0 ? rest << 1 : rest << 1 ^ 0x04C1_1DB7 }
        }
    }
}
