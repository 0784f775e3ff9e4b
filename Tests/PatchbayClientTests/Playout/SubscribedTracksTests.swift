import Testing
import Wire

@testable import PatchbayClient

struct RemoteTracksTests {
    private var tracks = SubscribedTracks()
    private let inbox = FrameInbox()

    private func info(_ sid: String, alias: UInt16, of identity: String = "alice") -> TrackInfo {
        TrackInfo(sid: TrackSID(text: sid), alias: TrackAlias(alias), participant: Identity(text: identity), description: PublishTrack())
    }

    @Test mutating func framesReachTheReadersOfTheirTrack() {
        tracks.add(info("TR_a", alias: 1))
        tracks.add(info("TR_b", alias: 2))
        tracks.addSink(.inbox(inbox), to: TrackSID(text: "TR_b"))
        _ = tracks.receive(.number(1, alias: 1))
        #expect(tracks.receive(.number(7, alias: 2)) == SubscribedTracks.Delivery())
        #expect(inbox.takeAll().frames == [.number(7, alias: 2)])
        #expect(tracks.receive(.number(1, alias: 3)).undelivered == 1)
    }

    @Test mutating func sequenceGapsCountAsLost() {
        tracks.add(info("TR_a", alias: 1))
        tracks.addSink(.inbox(inbox), to: TrackSID(text: "TR_a"))
        let lost = [65_534, 65_535, 65_536, 65_540, 65_541].map { tracks.receive(.number($0)).lost }
        #expect(lost == [0, 0, 0, 3, 0])
    }

    @Test mutating func aGapAtTheStartOfAnEpochCountsAsClearedNotAsLost() {
        tracks.add(info("TR_a", alias: 1))
        tracks.addSink(.inbox(inbox), to: TrackSID(text: "TR_a"))
        let deliveries = [(1, 0), (3, 0), (10, 1), (12, 1), (13, 2), (20, 3)].map { number, epoch in
            tracks.receive(.number(number, epoch: UInt8(epoch)))
        }
        #expect(deliveries.map(\.lost) == [0, 1, 0, 1, 0, 0])
        #expect(deliveries.map(\.cleared) == [0, 0, 6, 0, 0, 6])
    }

    @Test mutating func firstReaderReceivesEarlierFrames() {
        tracks.add(info("TR_a", alias: 1))
        for number in 0..<StreamLimits.unclaimedFramesMax { #expect(tracks.receive(.number(number)).undelivered == 0) }
        tracks.addSink(.inbox(inbox), to: TrackSID(text: "TR_a"))
        #expect(inbox.takeAll().frames.count == StreamLimits.unclaimedFramesMax)
    }

    @Test mutating func unclaimedFramesAreDroppedAndCounted() {
        tracks.add(info("TR_a", alias: 1))
        let unheard = (0...StreamLimits.unclaimedFramesMax + 1).map { tracks.receive(.number($0)).undelivered }.reduce(0, +)
        #expect(unheard == StreamLimits.unclaimedFramesMax + 2)
        tracks.addSink(.inbox(inbox), to: TrackSID(text: "TR_a"))
        #expect(inbox.takeAll().frames.isEmpty)
    }

    @Test mutating func earlierFramesAreMarkedForStreamsAndSkippedByPlayers() async {
        tracks.add(info("TR_a", alias: 1))
        let frames = (0..<5).map { ReceivedFrame.number($0) }
        tracks.expectEarlierFrames(of: TrackSID(text: "TR_a"), until: frames[3].header.timestamp)
        for frame in frames { _ = tracks.receive(frame) }
        let (stream, sink) = AsyncStream.makeStream(of: ReceivedFrame.self)
        var marks: [Bool] = []
        tracks.addSink(.inbox(inbox), to: TrackSID(text: "TR_a"))
        #expect(inbox.takeAll().frames == Array(frames[3...]))
        tracks.addSink(.stream(sink), to: TrackSID(text: "TR_a"))
        tracks.expectEarlierFrames(of: TrackSID(text: "TR_a"), until: frames[1].header.timestamp)
        for frame in frames { _ = tracks.receive(frame) }
        sink.finish()
        for await frame in stream { marks.append(frame.isEarlier) }
        #expect(marks == [true, false, false, false, false])
    }

    @Test mutating func slowReaderLosesTheOldestFrames() {
        tracks.add(info("TR_a", alias: 1))
        tracks.addSink(.inbox(inbox), to: TrackSID(text: "TR_a"))
        let overflowed = (0..<StreamLimits.framesMax + 3).map { tracks.receive(.number($0)).overflowed }.reduce(0, +)
        #expect(overflowed == 3)
        #expect(inbox.takeAll().frames.first == .number(3))
        inbox.abandon()
        #expect(tracks.receive(.number(9_999)).undelivered == 1)
    }

    @Test mutating func clearReachesThePlayer() {
        tracks.add(info("TR_a", alias: 1))
        tracks.addSink(.inbox(inbox), to: TrackSID(text: "TR_a"))
        tracks.clear(TrackSID(text: "TR_b"), epoch: 3)
        #expect(inbox.takeAll().clearedEpoch == nil)
        tracks.clear(TrackSID(text: "TR_a"), epoch: 3)
        #expect(inbox.takeAll().clearedEpoch == 3)
        #expect(inbox.takeAll().clearedEpoch == nil)
    }

    @Test mutating func clearedUnclaimedFramesAreDropped() {
        tracks.add(info("TR_a", alias: 1))
        _ = tracks.receive(.number(0, epoch: 0))
        tracks.clear(TrackSID(text: "TR_a"), epoch: 1)
        _ = tracks.receive(.number(1, epoch: 1))
        tracks.addSink(.inbox(inbox), to: TrackSID(text: "TR_a"))
        #expect(inbox.takeAll().frames == [.number(1, epoch: 1)])
    }

    @Test mutating func streamsEndWithTheirTrack() {
        tracks.add(info("TR_a", alias: 1))
        tracks.add(info("TR_b", alias: 2, of: "bob"))
        tracks.addSink(.inbox(inbox), to: TrackSID(text: "TR_a"))
        tracks.removeAll(of: Identity(text: "bob"))
        #expect(!inbox.takeAll().isFinished)
        tracks.remove(TrackSID(text: "TR_a"))
        #expect(inbox.takeAll().isFinished)
        let late = FrameInbox()
        tracks.addSink(.inbox(late), to: TrackSID(text: "TR_a"))
        #expect(late.takeAll().isFinished)
    }

    @Test mutating func remainingTracksKeepTheirReadersAfterAReconnect() {
        tracks.add(info("TR_a", alias: 1))
        tracks.add(info("TR_b", alias: 2))
        let other = FrameInbox()
        tracks.addSink(.inbox(inbox), to: TrackSID(text: "TR_a"))
        tracks.addSink(.inbox(other), to: TrackSID(text: "TR_b"))
        _ = tracks.receive(.number(1, alias: 1))
        // The same track under another alias; frames in between are not counted as lost.
        tracks.replace(with: [info("TR_a", alias: 5)])
        #expect(tracks.receive(.number(40, alias: 5)) == SubscribedTracks.Delivery())
        #expect(inbox.takeAll().frames.count == 2)
        #expect(other.takeAll().isFinished)
    }

    @Test mutating func aheadTrackContinuesInTheEpochOfTheReplacement() {
        var speech = info("TR_a", alias: 1)
        speech.mode = .ahead
        tracks.add(speech)
        tracks.addSink(.inbox(inbox), to: speech.sid)
        speech.epoch = 2
        tracks.replace(with: [speech])
        let received = inbox.takeAll()
        #expect(received.clearedEpoch == 2 && !received.isFinished)
    }
}
