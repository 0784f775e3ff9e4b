import Audio
import Testing
import Wire

@testable import PatchbayClient

/// Playout of an `ahead` track as released by the gateway.
struct AheadPlayoutTests {
    private let packets: [[UInt8]]

    init() throws {
        packets = try PCMSpeech(Sound.goForward()).frames().map(\.packet)
    }

    private func at(_ milliseconds: Int) -> Instant { .milliseconds(Int64(milliseconds)) }

    /// Frame `number`, arrived at `arrival` ms.
    private func frame(_ number: Int, arrival: Int, flags: FrameFlags = [], epoch: UInt8 = 0, skippedTicks: Int = 0) -> ReceivedFrame {
        .number(
            number, flags: flags, epoch: epoch, packet: packets[number % packets.count], skippedTicks: skippedTicks,
            late: Int64(arrival - number * 20))
    }

    /// Paced like the gateway: 300 ms at once, then 100 ms whenever the lead has fallen to 220 ms.
    private func paced(_ count: Int, stall: (Int) -> Int = { _ in 0 }) -> [ReceivedFrame] {
        var arrived = 0
        return (0..<count).map { number in
            let bundle = number < 15 ? 0 : (number - 15) / 5 * 100 + 80
            arrived = max(arrived, bundle + stall(bundle))
            return frame(number, arrival: arrived)
        }
    }

    private func play(_ frames: [ReceivedFrame], chunks: Int) throws -> (chunks: [PCMChunk], playout: PlayoutStatistics) {
        var playout = try AheadPlayout(channels: 1)
        var waiting = frames[...]
        var played: [PCMChunk] = []
        for turn in 0..<chunks {
            while let next = waiting.first, next.arrivedAt <= at(turn * 20) {
                playout.insert(next)
                waiting = waiting.dropFirst()
            }
            if let chunk = playout.next(at: at(turn * 20)) { played.append(chunk) }
        }
        return (played, playout.playout)
    }

    @Test func speechPlaysFromItsFirstFrameUnchanged() throws {
        let (chunks, playout) = try play(paced(packets.count), chunks: packets.count)
        var decoder = try OpusDecoder()
        let expected = try packets.map { try decoder.decode($0) }
        #expect(chunks.map(\.samples) == expected)
        #expect(playout.underruns == 0)
        #expect(playout.concealedMs == 0)
    }

    @Test(arguments: 0..<8)
    func stallsShorterThanTheLeadAreInaudible(seed: Int) throws {
        // Each message has its own delay.
        let late = paced(140) { message in
            var random = SplitMix64(seed: seed * 10_000 + message)
            return random.chance(20) ? 150 : Int(random.next() % 40)
        }
        let (chunks, playout) = try play(late, chunks: 140)
        #expect(playout.underruns == 0, "\(playout)")
        #expect(chunks.allSatisfy { $0.content == .sound })
    }

    @Test func timestampGapsPlayAsSilence() throws {
        let frames = (0..<5).map { frame($0, arrival: 0) } + (5..<10).map { frame($0, arrival: 60, skippedTicks: 4_800) }
        let (chunks, playout) = try play(frames, chunks: 15)
        let contents = [PCMChunk.Content.sound, .silence, .sound].flatMap { [$0, $0, $0, $0, $0] }
        #expect(chunks.map(\.content) == contents)
        #expect(playout.concealedMs == 0)
    }

    @Test func talkspurtAfterSilenceStartsAtOnce() throws {
        let first = (0..<5).map { frame($0, arrival: 0, flags: $0 == 4 ? .talkspurtEnd : []) }
        // Ten seconds on the track's clock, one second of real time.
        let second = (5..<10).map { frame($0, arrival: 1_000, flags: $0 == 5 ? .talkspurtStart : [], skippedTicks: 480_000) }
        let (chunks, playout) = try play(first + second, chunks: 60)
        #expect(chunks[5..<50].allSatisfy { $0.content == .silence })
        #expect(chunks[50..<55].allSatisfy { $0.content == .sound })
        #expect(playout.underruns == 0)
    }

    @Test func framesAreHeldForAtMostTheLead() throws {
        // The gateway's queue ran empty and restarted its clock while 200 ms were still buffered here.
        let frames = (0..<10).map { frame($0, arrival: 0) } + (10..<15).map { frame($0, arrival: 0, skippedTicks: 96_000) }
        let (chunks, _) = try play(frames, chunks: 20)
        #expect(chunks[10..<15].allSatisfy { $0.content == .silence })
        #expect(chunks[15..<20].allSatisfy { $0.content == .sound })
    }

    @Test func underrunsAreConcealedAndCounted() throws {
        let frames = (0..<5).map { frame($0, arrival: 0) } + (5..<10).map { frame($0, arrival: 150) }
        let (chunks, playout) = try play(frames, chunks: 15)
        #expect(chunks[5].content == .concealment)
        #expect(playout.underruns == 1)
        #expect(playout.concealedMs == 60)
        #expect(chunks[8].content == .sound)
    }

    // MARK: Clearing

    @Test func clearedTrackFadesOutWithinTenMilliseconds() throws {
        var playout = try AheadPlayout(channels: 1)
        for number in 20..<35 { playout.insert(frame(number, arrival: 0)) }
        for turn in 0..<4 { _ = playout.next(at: at(turn * 20)) }
        playout.clear(epoch: 1)
        let chunk = playout.next(at: at(80))
        let last = try #require(chunk)
        #expect(last.samples[..<100].contains { $0 != 0 })
        #expect(last.samples[479...].allSatisfy { $0 == 0 })
        let after = playout.next(at: at(100))
        #expect(after?.samples.allSatisfy { $0 == 0 } == true)
        let isDry = playout.isDry
        #expect(isDry)
    }

    @Test func olderEpochsAreDroppedAndTheNewOnePlaysAtOnce() throws {
        var playout = try AheadPlayout(channels: 1)
        for number in 0..<15 { playout.insert(frame(number, arrival: 0, epoch: 255)) }
        _ = playout.next(at: at(0))
        playout.clear(epoch: 0)
        playout.insert(frame(15, arrival: 10, epoch: 255))
        _ = playout.next(at: at(20))
        playout.insert(frame(16, arrival: 30, epoch: 0))
        let chunk = playout.next(at: at(40))
        #expect(chunk?.content == .sound)
        let playedMs = playout.playout.playedMs
        #expect(playedMs == 40, "one frame of each epoch; the one that faded is not counted")
    }

    // MARK: Playout position

    @Test func returnedAudioCountsAsHeard() throws {
        var playout = try AheadPlayout(channels: 1)
        for number in 0..<15 { playout.insert(frame(number, arrival: 0)) }
        let before = playout.position(heldTicks: 0)
        #expect(before?.playedTo == nil)
        for turn in 0..<5 { _ = playout.next(at: at(turn * 20)) }
        let position = playout.position(heldTicks: 0)
        #expect(position == PlayoutPosition(epoch: 0, playedTo: MediaTime(ticks: 4_800), bufferedMs: 200, isPlaying: true))
    }

    @Test func audioHeldByTheDeviceDoesNotCountAsHeard() throws {
        var playout = try AheadPlayout(channels: 1)
        for number in 0..<15 { playout.insert(frame(number, arrival: 0)) }
        for turn in 0..<5 { _ = playout.next(at: at(turn * 20)) }
        let (some, all) = (playout.position(heldTicks: 1_440), playout.position(heldTicks: 48_000))
        #expect(some?.playedTo == MediaTime(ticks: 3_360))
        #expect(some?.bufferedMs == 230)
        #expect(all?.playedTo == nil)
    }

    @Test func positionReachesTheEndWhenTheDeviceDrains() throws {
        var playout = try AheadPlayout(channels: 1)
        for number in 0..<3 { playout.insert(frame(number, arrival: 0, flags: number == 2 ? .talkspurtEnd : [])) }
        let held = 1_920
        var heard: [Int?] = []
        for turn in 0..<8 {
            _ = playout.next(at: at(turn * 20))
            let position = playout.position(heldTicks: held)
            heard.append((position?.playedTo).map { Int($0.ticks) })
        }
        #expect(heard == [nil, nil, 960, 1_920, 2_880, 2_880, 2_880, 2_880])
        let isPlaying = playout.position(heldTicks: held)?.isPlaying
        #expect(isPlaying == false)
    }

    @Test func nothingIsHeardOfANewEpochAtFirst() throws {
        var playout = try AheadPlayout(channels: 1)
        for number in 0..<15 { playout.insert(frame(number, arrival: 0)) }
        for turn in 0..<5 { _ = playout.next(at: at(turn * 20)) }
        playout.clear(epoch: 1)
        let position = playout.position(heldTicks: 0)
        #expect(position == PlayoutPosition(epoch: 1, playedTo: nil, bufferedMs: 10, isPlaying: false))
    }
}
