import Testing
import Wire

@testable import Engine

struct AheadSubscribersTests {
    @Test func subscriberBlockedForThreeSecondsLosesNothing() {
        var world = AheadWorld(subscribers: [1, 2])
        world.publish(500)
        world.run(2_000)
        world.stalled = [2]
        let before = world.messages(2).count
        world.run(3_000)
        #expect(world.messages(2).count == before)
        world.stalled = []
        world.run(20)
        #expect((30...32).contains(world.messages(2).count - before), "overdue frames are released at once in full bundles")
        world.run(8_000)
        #expect(world.sequences(2) == Array(0..<500))
        #expect(world.afterDrop(2).isEmpty && world.skipped[2] == 0)
        #expect(world.leads(2).suffix(100).allSatisfy { 200...300 ~= $0 })
    }

    @Test func lateSubscriberKeepsTheSilenceBetweenUtterances() {
        var world = AheadWorld(subscribers: [1, 2])
        world.publish(50)
        world.run(200)
        world.stalled = [2]
        world.run(4_800)
        world.publish(500)
        world.stalled = []
        world.run(15_000)
        #expect(world.sequences(2) == Array(0..<550))
        // Frame 50 plays at 5,000.
        #expect(world.leads(2, start: 4_000).dropFirst(50).allSatisfy { -20...300 ~= $0 }, "later frames are not released yet")
        #expect(world.leads(2, start: 4_000).dropFirst(70).allSatisfy { 200...300 ~= $0 })
    }

    @Test func newSubscriberStartsAtTheCurrentPositionOnTheCommonClock() {
        var world = AheadWorld()
        world.publish(500)
        world.run(3_010, everyMilliseconds: 10)
        world.subscribe(2)
        world.run(8_000)
        #expect(world.sequences(2) == Array(151..<500), "the frame that plays at 3,020 is the first")
        #expect(world.leads(2).allSatisfy { -20...300 ~= $0 }, "at the next tick")
        #expect(world.leads(2).dropFirst(16).allSatisfy { $0 >= 180 })
    }

    @Test func newSubscriberReceivesNothingThatHasPlayed() {
        var world = AheadWorld()
        world.publish(100)
        world.run(3_000)
        world.subscribe(2)
        world.publish(50)
        world.run(2_000)
        #expect(world.sequences(2) == Array(100..<150))
    }

    @Test func resumingSubscriberContinuesOnItsOwnClock() {
        var world = AheadWorld()
        world.publish(1_000)
        world.track.retain(from: MediaTime(ticks: 300 * 960))
        world.run(10_000)
        world.subscribe(2, from: MediaTime(ticks: 300 * 960))
        world.run(20)
        #expect(Array(world.sequences(2).prefix(15)) == Array(300..<315))
        world.run(20_000)
        #expect(world.sequences(2) == Array(300..<1_000))
        // Frame 300 plays when it was subscribed, at 10,000, and not at 6,000.
        #expect(world.leads(2, start: 4_000).dropFirst(17).allSatisfy { 200...320 ~= $0 })
        #expect(world.sequences(1) == Array(0..<1_000), "nobody else is affected")
    }

    @Test func resumeBeforeTheRetainedFramesStartsAtTheOldest() {
        var world = AheadWorld()
        world.publish(3_000)
        world.track.retain(from: MediaTime(ticks: 0))
        world.run(50_000)
        world.subscribe(2, from: MediaTime(ticks: 0))
        world.run(60_000)
        let first = world.sequences(2)[0]
        #expect((950...1_050).contains(first))
        #expect(world.sequences(2) == Array(first..<3_000))
    }

    @Test func resumeAtAnUnreleasedPositionUsesTheCommonClock() {
        var world = AheadWorld()
        world.publish(500)
        world.run(2_000)
        world.subscribe(2, from: MediaTime(ticks: 400 * 960))
        world.run(9_000)
        #expect(world.sequences(2) == Array(100..<500))
    }

    @Test func removedSubscriberReceivesNothing() {
        var world = AheadWorld(subscribers: [1, 2])
        world.publish(500)
        world.run(2_000)
        world.track.remove(subscriber: 1)
        let count = world.messages(1).count
        world.run(8_000)
        #expect(world.messages(1).count == count)
        #expect(world.sequences(2) == Array(0..<500))
    }

    @Test func pauseDelaysFramesWithoutLoss() {
        var world = AheadWorld()
        world.publish(500)
        world.run(2_000)
        world.setPaused(true)
        let count = world.sequences().count
        world.run(5_000)
        #expect(world.sequences().count == count)
        world.setPaused(false)
        world.run(20)
        #expect(world.messages().suffix(3).allSatisfy { $0.at == 7_020 })
        world.run(10_000)
        #expect(world.sequences() == Array(0..<500))
        // Frame `count` plays at 7,000 from now on.
        #expect(world.leads(start: 7_000 - count * 20).suffix(300).allSatisfy { 200...300 ~= $0 })
    }

    @Test func replayToAnotherShardContainsUnplayedFrames() {
        var world = AheadWorld(subscribers: [])
        world.publish(500)
        world.run(3_000)
        var sequences: [Int] = []
        world.track.replay(from: nil, at: .at(world.now)) { sequences.append(Int($0[4]) << 8 | Int($0[5])) }
        #expect(sequences == Array(150..<500))
        sequences = []
        world.track.replay(from: MediaTime(ticks: 100 * 960), at: .at(world.now)) { sequences.append(Int($0[4]) << 8 | Int($0[5])) }
        #expect(sequences == Array(100..<500))
    }
}
