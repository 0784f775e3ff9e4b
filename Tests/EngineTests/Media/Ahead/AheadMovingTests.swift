import Testing
import Wire

@testable import Engine

/// A track whose publisher resumes on another shard.
struct AheadMovingTests {
    /// The new shard had subscribed during a pause and awaited a replay, which the queue replaces.
    @Test func pendingReplayArrivesWithTheQueue() {
        var old = AheadWorld(subscribers: [])
        old.setPaused(true)
        old.publish(5)
        for shard in [0, 2] as [UInt16] { old.track.deferReplay(AheadTrack.PendingReplay(shard: shard, number: 1)) }
        var new = AheadWorld(subscribers: [1], isPublisher: false)
        new.track.becomeReference(TrackSID(text: "TR_1"))
        new.track.takeOver(old.track.handOver())
        #expect(new.track.pendingReplays.map(\.shard) == [2], "a shard sends no replay to itself")
        new.setPaused(false)
        new.run(200)
        #expect(new.sequences() == [0, 1, 2, 3, 4])
    }

    @Test func existingSubscriberContinuesAfterTheMove() {
        var old = AheadWorld(subscribers: [])
        var new = AheadWorld(subscribers: [1], isPublisher: false)
        old.publish(5)
        new.publish(5)
        new.track.becomeReference(TrackSID(text: "TR_1"))
        new.track.takeOver(old.track.handOver())
        new.run(200)
        #expect(new.sequences() == [0, 1, 2, 3, 4])
    }

    /// Ticks may occur between the `move` patch and the arrival of the queue.
    @Test func framesReleasedBeforeTheMoveAreNotMeteredAgain() {
        var new = AheadWorld(subscribers: [1], isPublisher: false)
        new.publish(200)
        new.track.retain(from: nil)
        new.run(10_000)
        new.track.becomeReference(TrackSID(text: "TR_1"))
        #expect(new.track.nextReleasedHeader() == nil)
        new.publish(1)
        #expect(new.track.nextReleasedHeader()?.sequence == SequenceNumber(200))
    }
}
