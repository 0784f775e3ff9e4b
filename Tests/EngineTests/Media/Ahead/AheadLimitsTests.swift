import Testing
import Wire

@testable import Engine

struct AheadLimitsTests {
    private func backlogs(_ reports: [Room.PlayoutQueueReport]) -> [(state: BacklogState, queued: Int, dropped: Int)] {
        reports.compactMap { if case .backlog(let state, let queued, let dropped) = $0 { (state, queued, dropped) } else { nil } }
    }

    @Test func framesMoreThanAMinuteAheadAreDropped() {
        var world = AheadWorld()
        let rejected = world.publish(3_500)
        #expect(rejected == Array(repeating: .ahead, count: 3_500 - 3_001), "the last one plays in 60 s")
        world.run(62_000)
        #expect(world.sequences() == Array(0...3_000))
    }

    @Test func backlogIsReportedAt45SecondsOnDropsAndBelow30Seconds() {
        var world = AheadWorld()
        world.publish(2_000)
        world.run(20)
        #expect(backlogs(world.reports).isEmpty)
        world.publish(300)
        world.run(20)
        #expect(backlogs(world.reports).map(\.state) == [.high])
        world.publish(800)
        world.run(20)
        #expect(backlogs(world.reports).map(\.state) == [.high, .full])
        #expect(backlogs(world.reports)[1].dropped == 97, "of 3,100 those that play more than 60 s after 40 ms")
        world.run(31_000)
        let reported = backlogs(world.reports)
        #expect(reported.map(\.state) == [.high, .full, .low])
        #expect(reported[2].queued < 30_000 && reported[2].dropped == 0)
    }

    @Test func continuousDropsAreReportedOncePerSecond() {
        var world = AheadWorld()
        world.publish(3_500)
        var rejected = 499
        for _ in 0..<250 {
            world.run(20)
            rejected += world.publish(2, ticks: 0).count
        }
        world.run(1_000)
        let reported = backlogs(world.reports).filter { $0.state == .full }
        #expect(5...7 ~= reported.count)
        #expect(reported.map(\.dropped).reduce(0, +) == rejected, "each is counted once")
    }

    @Test func frameAfterDroppedOnesIsFlagged() {
        var world = AheadWorld()
        world.publish(3_100)
        world.run(5_000)
        world.publish(10)
        world.run(65_000)
        #expect(world.afterDrop() == [3_100])
    }

    @Test func queuedBytesPerTrackAreLimited() {
        var world = AheadWorld()
        let rejected = world.publish(2_000, packetBytes: 1_488)
        #expect(world.track.storedBytes <= 2 << 20)
        #expect(rejected.count == 2_000 - (2 << 20) / 1_502)
        #expect(rejected.allSatisfy { $0 == .ahead })
    }

    @Test func framesNobodyResumesFromAreSoonDropped() {
        var world = AheadWorld()
        world.publish(2_500)
        world.run(49_000)
        #expect(world.track.storedBytes <= 5 * 50 * 94, "3 s of released frames are retained")
    }

    @Test func framesForResumingSubscribersAreRetained() {
        var world = AheadWorld()
        world.publish(2_500)
        world.run(20_000)
        world.track.retain(from: MediaTime(ticks: 18 * 48_000))
        world.run(20_000)
        #expect((21 * 50 * 94...23 * 50 * 94).contains(world.track.storedBytes - 10 * 50 * 94))
        world.track.retain(from: nil)
        world.run(2_000)
        #expect(world.track.storedBytes - 8 * 50 * 94 <= 5 * 50 * 94)
    }

    @Test func releasedFramesAreEventuallyDropped() {
        var world = AheadWorld()
        world.track.retain(from: world.time)
        for _ in 0..<10 {
            world.publish(2_500)
            world.run(50_000)
        }
        #expect(world.track.storedBytes <= 32 * 50 * 94, "30 s are retained for resuming subscribers")
        world.run(32_000)
        #expect(world.track.storedBytes == 0)
        #expect(!world.isActive, "the track is inactive")
    }

    @Test func blockedSubscriberRetainsALimitedNumberOfBytes() {
        var world = AheadWorld(subscribers: [1, 2])
        world.stalled = [2]
        for _ in 0..<50 {
            world.publish(500, packetBytes: 400)
            world.run(10_000)
        }
        #expect(world.track.storedBytes <= (1 << 20) + 5_000)
        #expect(world.sequences(1) == Array(0..<25_000), "nobody else notices")
        world.stalled = []
        world.run(2_000)
        let first = world.sequences(2)[0]
        #expect(world.sequences(2) == Array(first..<25_000), "the retained frames, without a gap")
        #expect(world.skipped[2] == first, "each lost frame is counted")
        #expect(world.afterDrop(2) == [first], "and reported once")
    }

    @Test func tracksOfAShardShareAByteLimit() {
        var tracks = AheadTracks(storedBytesMax: 10_020)
        let indices = (0..<3).map { number in
            tracks.open(
                AheadTrack(
                    TrackSID(text: "TR_\(number)"), alias: TrackAlias(UInt16(number + 1)),
                    by: ParticipantHandle(shard: 0, slot: 0, generation: 0), epoch: 0, frameMilliseconds: 20, at: .at(0)))
        }
        let header = FrameHeader(
            alias: TrackAlias(1), sequence: SequenceNumber(0), level: AudioLevelByte(voice: true, level: 30), timestamp: MediaTime(ticks: 0)
        )
        let frame = header.bytes + [UInt8](repeating: 0, count: 988)
        let reasons = (0..<12).map { number in
            frame.withUnsafeBytes { tracks.append($0, header, to: indices[number % 3], at: .at(0)) }
        }
        #expect(reasons == Array(repeating: nil, count: 10) + [.full, .full])
        tracks.close(indices[0])
        let reason = frame.withUnsafeBytes { tracks.append($0, header, to: indices[1], at: .at(0)) }
        #expect(reason == nil, "ended calls do not count")
        #expect(tracks.storedBytes == 7 * 1_002)
    }
}
