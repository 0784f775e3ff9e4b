import Audio
import Testing
import Wire

@testable import PatchbayClient

struct PCMPlayoutTests {
    private let packets: [[UInt8]]

    init() throws {
        packets = try PCMSpeech(Sound.tone(milliseconds: 1_000)).frames().map(\.packet)
    }

    private func frame(_ number: Int, flags: FrameFlags = [], late: Int64 = 0, epoch: UInt8 = 0) -> ReceivedFrame {
        .number(number, flags: flags, epoch: epoch, packet: packets[number], late: late)
    }

    /// The chunks from 40 ms on, one every 20 ms.
    private func play(_ frames: [ReceivedFrame], chunks: Int) throws -> [PCMChunk] {
        var playout = try PCMPlayout(channels: 1, jitter: JitterLimits())
        var waiting = frames.sorted { $0.arrivedAt < $1.arrivedAt }[...]
        var played: [PCMChunk] = []
        for turn in 0..<chunks + 3 {
            let now = Instant.milliseconds(Int64(turn) * 20 + 10)
            while let next = waiting.first, next.arrivedAt <= now {
                playout.insert(next)
                waiting = waiting.dropFirst()
            }
            if let chunk = playout.next(at: now) { played.append(chunk) }
        }
        return Array(played.prefix(chunks))
    }

    @Test func orderedFramesPlayAsDecoded() throws {
        let chunks = try play((0..<50).map { frame($0) }, chunks: 50)
        var decoder = try OpusDecoder()
        let expected = try packets.map { try decoder.decode($0) }
        #expect(chunks.map(\.samples) == expected)
        #expect(chunks.allSatisfy { $0.content == .sound })
    }

    @Test func lostFrameIsConcealed() throws {
        let chunks = try play((0..<50).filter { $0 != 20 }.map { frame($0) }, chunks: 50)
        #expect(chunks.map(\.content).filter { $0 == .concealment }.count == 1)
        #expect(chunks[20].content == .concealment)
        #expect(chunks[20].samples.contains { $0 != 0 })
    }

    @Test func lostFrameIsRecoveredFromInbandFEC() throws {
        let settings = SpeechSettings(bitsPerSecond: 32_000, inbandFEC: true, expectedLossPercent: 20)
        let spoken = try PCMSpeech(Sound.goForward(), settings: settings).frames()
        var decoder = try OpusDecoder()
        let whole = try spoken.map { try decoder.decode($0.packet) }
        /// Similarity of the original and the audio played in place of every tenth frame.
        func likeness(hidingFlags hidden: FrameFlags) throws -> Double {
            let frames = spoken.enumerated().filter { $0.offset % 10 != 5 }.map { number, frame in
                ReceivedFrame.number(number, flags: frame.flags.subtracting(hidden), packet: frame.packet)
            }
            let chunks = try play(frames, chunks: spoken.count)
            let places = stride(from: 45, to: 115, by: 10)
            return places.reduce(0) { $0 + Sound.correlation(of: whole[$1][...], in: chunks[$1].samples) }
        }
        let (with, without) = (try likeness(hidingFlags: []), try likeness(hidingFlags: .inbandFEC))
        #expect(with > without, "\(with) with, \(without) without")
    }

    @Test func lateFrameIsDropped() throws {
        let chunks = try play((0..<50).map { frame($0, late: $0 == 20 ? 300 : 0) }, chunks: 90)
        #expect(chunks[20].content == .concealment)
        #expect(chunks.filter { $0.content == .sound }.count == 49)
    }

    @Test func silenceFollowsTheLastFrame() throws {
        let chunks = try play((0..<10).map { frame($0, flags: $0 == 9 ? .talkspurtEnd : []) }, chunks: 15)
        #expect(chunks[10...].allSatisfy { $0.content == .silence && $0.samples.allSatisfy { $0 == 0 } })
    }

    @Test func interruptedSpeechIsConcealedThenSilent() throws {
        let chunks = try play((0..<10).map { frame($0) }, chunks: 30)
        #expect(chunks[10].content == .concealment)
        #expect(chunks[10].samples.contains { $0 != 0 })
        #expect(chunks[20...].allSatisfy { $0.content == .silence && $0.samples.allSatisfy { $0 == 0 } })
    }

    @Test func framesOfOlderEpochsAreDropped() throws {
        var playout = try PCMPlayout(channels: 1, jitter: JitterLimits())
        playout.insert(frame(0, epoch: 255))
        playout.insert(frame(1, epoch: 0))
        playout.insert(frame(2, epoch: 255))
        #expect(playout.statistics.received == 2)
        #expect(playout.statistics.discarded == 1)
    }
}
