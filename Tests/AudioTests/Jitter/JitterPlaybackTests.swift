import Audio
import Testing
import Wire

/// The buffer between a network and a player, for minutes of speech.
@Suite struct JitterPlaybackTests {
    @Test func perfectNetworksGetTheTargetDelay() {
        var playback = JitterPlayback()
        playback.send(1_000, over: .init(), seed: 1)
        playback.run(milliseconds: 21_000)
        #expect(playback.played == Array(0..<1_000))
        #expect(playback.delays().allSatisfy { (40...50).contains($0) })
        #expect(playback.buffer.statistics.stretchedTicks == 0)
    }

    @Test(arguments: 0..<8)
    func jitterBelowTheTargetIsNotHeard(seed: Int) {
        var playback = JitterPlayback()
        playback.send(1_000, over: .init(jitterMilliseconds: 30), seed: seed)
        playback.run(milliseconds: 21_000)
        #expect(playback.played == Array(0..<1_000))
    }

    @Test(arguments: 0..<8)
    func jitterAboveTheTargetIsLearnedWithinSeconds(seed: Int) {
        var playback = JitterPlayback()
        playback.send(1_000, over: .init(jitterMilliseconds: 120), seed: seed)
        playback.run(milliseconds: 21_000)
        let missedLater = Set(250..<1_000).subtracting(playback.played)
        #expect(missedLater.count <= 8)
        #expect(playback.delays().allSatisfy { $0 <= 250 })
    }

    @Test func onlyLostFramesAreConcealed() {
        var playback = JitterPlayback()
        playback.send(2_000, over: .init(lossPercent: 10, jitterMilliseconds: 30), seed: 3)
        playback.run(milliseconds: 41_000)
        let statistics = playback.buffer.statistics
        #expect(statistics.played == statistics.received)
        #expect(statistics.late == 0)
        // A frame in ten is missing; the very last may be, too, without anybody knowing.
        #expect((1_990...2_000).contains(statistics.played + statistics.concealed))
        #expect(playback.delays().allSatisfy { $0 <= 100 })
    }

    @Test(arguments: [true, false])
    func afterOneStallTheDelayReturnsToItsTarget(withDTX: Bool) {
        var playback = JitterPlayback()
        let talks = { (number: Int) in number % 75 < 50 }
        playback.sendWithOneStall(3_000, stalledFrames: 80..<95, isVoice: talks, isSent: { !withDTX || talks($0) })
        playback.run(milliseconds: 61_000)
        #expect((playback.delays().max() ?? 0) >= 250)
        #expect(playback.delays(from: 40_000).allSatisfy { (30...70).contains($0) }, "\(playback.delays(from: 40_000))")
        #expect(playback.buffer.statistics.skippedTicks > 0)
        #expect(playback.buffer.statistics.late == 0)
    }

    @Test(arguments: 0..<64)
    func orderIsKeptAndEveryFrameIsCountedOnAnyNetwork(seed: Int) {
        // The seed draws which faults there are at all, then how hard they are.
        var random = SplitMix64(seed: seed)
        let network = JitterPlayback.Network(
            lossPercent: random.chance(50) ? random.below(40) : 0, duplicatePercent: random.chance(50) ? random.below(30) : 0,
            jitterMilliseconds: random.chance(50) ? random.below(400) : 0, stallMilliseconds: random.chance(50) ? random.below(1_500) : 0)
        let pauses = random.chance(50) ? 20 + random.below(100) : 0
        let limits = JitterLimits(targetDelay: .milliseconds(random.below(100)), delayLimit: .milliseconds(100 + random.below(900)))
        let isSent = { (number: Int) in pauses == 0 || number % (2 * pauses) < pauses }

        var playback = JitterPlayback(limits)
        playback.send(1_500, over: network, seed: seed, isVoice: { $0 % 50 < 40 }, isSent: isSent)
        playback.run(milliseconds: 33_000)

        #expect(zip(playback.played, playback.played.dropFirst()).allSatisfy { $0 < $1 })
        let statistics = playback.buffer.statistics
        let accounted =
            statistics.played + statistics.late + statistics.duplicate + statistics.malformed + statistics.overflowed + statistics.skipped
            + statistics.discarded + playback.buffer.bufferedFrames
        #expect(statistics.received == accounted)
        #expect(playback.buffer.bufferedFrames == 0)
        #expect(statistics.played > 0)
        // Nothing waits in the buffer for longer than the limit, but for the frame in the player's mouth.
        let most = Int(limits.delayLimit / .milliseconds(1)) + max(network.jitterMilliseconds, network.stallMilliseconds) + 140
        #expect(playback.delays().allSatisfy { $0 <= most }, "\(playback.delays().max() ?? 0) > \(most), \(network), \(limits)")
    }

    @Test func equalInputsGiveEqualOutputs() {
        let runs = (0..<2).map { _ in
            var playback = JitterPlayback()
            playback.send(500, over: .init(lossPercent: 10, duplicatePercent: 10, jitterMilliseconds: 200), seed: 11)
            playback.run(milliseconds: 11_000)
            return playback
        }
        #expect(runs[0].outputs.map(\.output) == runs[1].outputs.map(\.output))
        #expect(runs[0].buffer.statistics == runs[1].buffer.statistics)
    }

    /// Frames with any numbers at all: a hostile sender must not stop the player.
    @Test(arguments: 0..<32)
    func randomInputNeverTrapsOrExceedsTheLimits(seed: Int) {
        var random = SplitMix64(seed: seed)
        var buffer = JitterBuffer<Int>()
        var now: UInt64 = 0
        for _ in 0..<5_000 {
            now &+= random.chance(1) ? random.next() >> 20 : UInt64(random.below(50_000_000))
            let instant = Instant(nanoseconds: random.chance(1) ? random.next() : now)
            if random.chance(50) {
                let frame = JitterFrame(
                    sequence: SequenceNumber(UInt16(truncatingIfNeeded: random.chance(80) ? UInt64(random.below(100)) : random.next())),
                    timestamp: MediaTime(ticks: UInt32(truncatingIfNeeded: random.next() >> UInt64(32 + random.below(32)))),
                    ticks: random.chance(90) ? 120 * (1 + random.below(48)) : Int(truncatingIfNeeded: random.next()),
                    isVoice: random.chance(50), startsTalkspurt: random.chance(20), payload: 0)
                buffer.insert(frame, at: instant)
            } else {
                switch buffer.next(at: instant) {
                case .silence(let ticks), .conceal(let ticks): #expect((1...(600 * 48)).contains(ticks))
                case .frame(let frame): #expect((120...5_760).contains(frame.ticks))
                case .wait: break
                }
            }
        }
        #expect(buffer.bufferedFrames <= 256)
    }
}
