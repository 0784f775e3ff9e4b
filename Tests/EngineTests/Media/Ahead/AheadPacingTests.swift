import Testing
import Wire

@testable import Engine

struct AheadPacingTests {
    @Test func queuedMinuteIsReleasedInTenMessagesPerSecond() {
        var world = AheadWorld()
        world.publish(1_500)
        world.run(30_000)
        #expect(world.sequences() == Array(0..<1_500))
        let messages = world.messages()
        for second in 1..<29 { #expect(messages.count { $0.at / 1_000 == second } == 10, "in second \(second)") }
        #expect(messages.count { $0.at < 1_000 } <= 12, "three at first, then one per 100 ms")
        #expect(messages.allSatisfy { $0.frames.count <= 5 })
    }

    @Test func firstFramesAreReleasedAtOnceWithTheWholeLead() {
        var world = AheadWorld()
        world.publish(50)
        world.run(20)
        #expect(world.messages().first?.at == 0)
        #expect(world.sequences() == Array(0..<15), "300 ms")
    }

    @Test(arguments: [0, 7, 13, 19])
    func subscriberHas180To300MillisecondsBuffered(phase: Int) {
        var world = AheadWorld()
        world.freeze(phase)
        world.publish(500)
        world.run(20 - phase)
        world.run(9_000)
        let leads = world.leads(start: phase).dropFirst(16)
        #expect(leads.allSatisfy { 180...300 ~= $0 }, "\(leads.min()!) to \(leads.max()!)")
    }

    @Test(arguments: [2.5, 5, 10, 40, 60, 120])
    func framesOfEveryDurationAreOnTimeAndInOrder(milliseconds: Double) {
        var world = AheadWorld(frameMilliseconds: milliseconds)
        let count = Int(5_000 / milliseconds)
        world.publish(count, ticks: Int(milliseconds * 48))
        world.run(5_000)
        #expect(world.sequences() == Array(0..<count))
        #expect(world.leads().dropFirst(Int(300 / milliseconds) + 1).allSatisfy { 180...300 ~= $0 })
        #expect(world.messages().allSatisfy { $0.frames.count <= max(1, Int(100 / milliseconds)) })
    }

    @Test func tickHalfASecondLateCatchesUp() {
        var world = AheadWorld()
        world.publish(500)
        world.run(2_000)
        let before = world.messages().count
        world.freeze(500)
        world.run(20)
        let caughtUp = world.messages()[before...]
        #expect(caughtUp.count == 5 || caughtUp.count == 6)
        #expect(caughtUp.allSatisfy { $0.frames.count == 5 }, "in full bundles")
        world.run(5_000)
        let after = world.messages().filter { $0.at > 2_540 }.flatMap(\.frames).count
        #expect(world.leads().suffix(after).allSatisfy { 180...300 ~= $0 }, "on the same clock")
        #expect(world.afterDrop().isEmpty)
    }

    @Test func silenceBetweenQueuedFramesIsKept() {
        var world = AheadWorld()
        world.publish(20)
        world.pause(milliseconds: 2_000)
        world.publish(20, flags: .talkspurtStart)
        world.run(1_000)
        #expect(world.sequences() == Array(0..<20))
        world.run(1_100)
        #expect(world.sequences().count == 20, "the next frame plays at 2,400")
        world.run(1_000)
        #expect(world.leads()[20...].allSatisfy { 180...300 ~= $0 })
        #expect(world.sequences() == Array(0..<40))
    }

    @Test func realTimeFramesAreReleasedAtOnce() {
        var world = AheadWorld()
        for _ in 0..<100 {
            world.publish(1)
            world.freeze(20)
        }
        #expect(world.messages().enumerated().allSatisfy { $1.at == $0 * 20 })
        #expect(world.messages().allSatisfy { $0.bytes == 92 }, "as a single frame, not as a bundle")
    }

    @Test func lateTrickleRestartsTheClockWithoutALead() {
        var world = AheadWorld()
        // Frames of 20 ms every 30 ms: none can be in time.
        for _ in 0..<100 {
            world.publish(1)
            world.run(30, everyMilliseconds: 10)
        }
        #expect(world.sequences() == Array(0..<100))
        #expect(world.messages().enumerated().allSatisfy { $1.at == $0 * 30 })
    }

    @Test func doubleSpeedPublishingStaysWithin300Milliseconds() {
        var world = AheadWorld()
        // 200 ms of audio every 100 ms, for 10 s.
        for _ in 0..<100 {
            world.publish(10)
            world.run(100)
        }
        world.run(12_000)
        #expect(world.sequences() == Array(0..<1_000))
        #expect(world.leads().allSatisfy { $0 <= 300 })
        #expect(world.leads().dropFirst(100).allSatisfy { $0 >= 180 })
    }

    @Test func singleFramesAreBundled() {
        var world = AheadWorld()
        for _ in 0..<500 { world.publish(1) }
        world.run(1_000)
        #expect(world.messages().count { $0.at == 0 } == 2, "the first, and one more so that nothing is late")
        #expect(world.messages().count { $0.at < 1_000 } <= 15)
        #expect(world.leads().allSatisfy { $0 >= 0 })
    }

    @Test func wrappingCountersKeepTheOrder() {
        var world = AheadWorld(sequence: 65_300, time: UInt32.max - 100_000)
        world.publish(500)
        world.run(10_000)
        #expect(world.sequences() == (0..<500).map { (65_300 + $0) % 65_536 })
        for second in 1..<9 { #expect(world.messages().count { $0.at / 1_000 == second } == 10) }
    }

    @Test func clockSurvivesTimestampWrap() {
        var world = AheadWorld()
        // A frame every 50 s, the next one always there before: one clock for more than the 24.8 hours after which timestamps wrap.
        world.publish(20)
        world.pause(milliseconds: 51_000 - 400)
        for _ in 0..<1_850 {
            world.publish(1)
            world.pause(milliseconds: 49_980)
            world.run(50_000, everyMilliseconds: 1_000)
        }
        world.run(2_000)
        #expect(world.sequences() == Array(0..<1_870))
        #expect(world.reports.count { if case .started = $0 { true } else { false } } == 1)
        let leads = world.messages().suffix(1_850).enumerated().map { 51_000 + 50_000 * $0 - $1.at }
        #expect(Set(leads.dropLast()) == [0], "at the last tick that is in time")
    }
}
