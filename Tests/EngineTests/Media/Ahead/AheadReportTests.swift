import Testing
import Wire

@testable import Engine

struct AheadReportTests {
    private func time(_ frame: Int) -> MediaTime { MediaTime(ticks: UInt32(frame * 960)) }

    @Test func utteranceStartsAndDrains() {
        var world = AheadWorld(subscribers: [])
        world.freeze(1_000)
        world.publish(100)
        #expect(world.reports == [.started(epoch: 0, at: time(0), playsAt: .at(1_000))])
        world.run(1_700)
        #expect(world.reports.count == 1, "everything is released, but more may arrive in time")
        world.run(300)
        #expect(world.reports.last == .drained(epoch: 0, end: time(100)))
        world.run(40_000)
        #expect(world.reports.count == 2)
    }

    @Test func framesInTimeContinueTheClock() {
        var world = AheadWorld()
        world.publish(50)
        world.run(940)
        #expect(world.reports.last == .drained(epoch: 0, end: time(50)))
        world.publish(50)
        #expect(world.reports.last == .refilled(epoch: 0))
        world.run(2_000)
        #expect(world.leads().allSatisfy { $0 >= 0 })
    }

    @Test func lateFramesRestartTheClock() {
        var world = AheadWorld()
        world.publish(50)
        world.run(1_500)
        world.publish(50)
        #expect(world.reports.last == .started(epoch: 0, at: time(50), playsAt: .at(1_500)))
        #expect(world.reports.count == 3)
    }

    @Test func timelyPublisherMakesOneUtterance() {
        var world = AheadWorld()
        for _ in 0..<20 {
            world.publish(50)
            world.run(800)
        }
        #expect(world.reports == [.started(epoch: 0, at: time(0), playsAt: .at(0))])
    }

    @Test func clearDropsUnreleasedFramesAndReportsTheEnd() {
        var world = AheadWorld(subscribers: [1, 2])
        world.publish(500)
        world.run(2_000)
        let received = world.sequences().count
        let forgotten = world.clear(epoch: 1)
        #expect(forgotten == 500 - received)
        #expect(world.reports.last == .cleared(epoch: 1, end: time(500)))
        world.run(5_000)
        #expect(world.sequences(1).count == received && world.sequences(2).count == received)
        #expect(world.track.storedBytes == 0)
    }

    @Test func afterAClearOnlyTheNewEpochPlaysAndAtOnce() {
        var world = AheadWorld()
        world.publish(500)
        world.run(2_000)
        world.clear(epoch: 1)
        #expect(world.publish(10) == Array(repeating: .epoch, count: 10))
        let before = world.messages().count
        #expect(world.publish(50, epoch: 1).isEmpty)
        world.run(20)
        #expect(world.reports.last == .started(epoch: 1, at: time(510), playsAt: .at(2_000)))
        #expect(world.messages()[before].at == 2_000)
        world.run(2_000)
        #expect(world.messages()[before...].flatMap(\.sequences) == Array(510..<560), "numbering continues")
        #expect(world.messages()[before...].flatMap(\.frames).allSatisfy { $0[7] == 1 })
    }

    @Test func clearOfAnEmptyQueueReportsNoEnd() {
        var world = AheadWorld()
        world.clear(epoch: 1)
        #expect(world.reports == [.cleared(epoch: 1, end: nil)])
        world.publish(10, epoch: 1)
        world.run(1_000)
        world.clear(epoch: 2)
        world.clear(epoch: 3)
        #expect(world.reports.suffix(2) == [.cleared(epoch: 2, end: time(10)), .cleared(epoch: 3, end: nil)])
    }

    @Test func clearEndsABacklog() {
        var world = AheadWorld()
        world.publish(2_500)
        world.run(100)
        world.clear(epoch: 1)
        world.run(20)
        #expect(world.reports.last == .backlog(.low, queuedMilliseconds: 0, dropped: 0))
    }

    @Test func clockRestartsAfterAPause() {
        var world = AheadWorld()
        world.publish(500)
        world.run(2_000)
        let next = world.sequences().count
        world.setPaused(true)
        world.run(1_000)
        world.setPaused(false)
        world.run(20)
        #expect(world.reports.last == .started(epoch: 0, at: time(next), playsAt: .at(3_000)))
    }

    @Test func endOfReceivedAudioIsReportedEverySecond() {
        var world = AheadWorld()
        world.publish(100)
        world.run(180)
        #expect(world.receivedReports.isEmpty, "more may come at once")
        world.publish(100)
        world.run(4_820)
        #expect(world.receivedReports.map(\.at) == [200, 1_200, 2_200, 3_200])
        #expect(world.receivedReports.allSatisfy { $0.end == time(200) })
    }

    @Test func audioThatArrivesInRealTimeIsReportedTheSame() {
        var world = AheadWorld()
        for _ in 0..<100 {
            world.publish(1)
            world.run(20)
        }
        #expect(world.receivedReports.map(\.at) == [200, 1_200])
        #expect(world.receivedReports.map(\.end) == [time(10), time(60)])
        world.run(5_000)
        #expect(world.receivedReports.count == 2)
    }

    @Test func pausedQueueReportsOnlyWhatIsNew() {
        var world = AheadWorld()
        world.publish(100)
        world.setPaused(true)
        world.run(5_000)
        #expect(world.receivedReports.map(\.end) == [time(100)])
        world.publish(100)
        world.run(5_000)
        #expect(world.receivedReports.map(\.end) == [time(100), time(200)])
    }

    @Test func onlyThePublishersShardReports() {
        var world = AheadWorld(isPublisher: false)
        world.publish(3_500)
        world.run(1_000)
        world.clear(epoch: 1)
        #expect(world.reports.isEmpty && world.receivedReports.isEmpty)
    }

    @Test func framesAreMeteredWhenReleased() {
        var world = AheadWorld(subscribers: [])
        world.publish(500)
        world.run(2_000)
        var count = 0
        while let header = world.track.nextReleasedHeader() {
            #expect(Int(header.sequence.value) == count)
            count += 1
        }
        #expect((110...115).contains(count))
    }
}
