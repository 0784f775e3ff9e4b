import Testing
import Wire

@testable import Gateway

/// The load of a shard, with made-up times.
struct BusyRatioTests {
    private var ratio = BusyRatio()
    private var now = Instant(nanoseconds: 7_000_000_000)
    private var cpuTime = Duration.zero

    init() { ratio.measured(cpuTime: .zero, at: now) }

    /// Measures once a second.
    private mutating func pass(_ seconds: Int, busy share: Double) {
        for _ in 0..<seconds {
            now = now + .seconds(1)
            cpuTime += .seconds(1) * share
            ratio.measured(cpuTime: cpuTime, at: now)
        }
    }

    @Test mutating func constantLoadIsReached() {
        #expect(ratio.value == 0)
        pass(5, busy: 0.6)
        #expect((0.35...0.5).contains(ratio.value), "\(ratio.value)")
        pass(20, busy: 0.6)
        #expect(abs(ratio.value - 0.6) < 0.01)
        pass(25, busy: 0)
        #expect(ratio.value < 0.01)
    }

    @Test mutating func oneBusySecondIsNoLoad() {
        pass(1, busy: 1)
        #expect(abs(ratio.value - 0.2) < 0.001)
    }

    @Test mutating func afterALongPauseOnlyTheNewMeasurementCounts() {
        pass(30, busy: 1)
        now = now + .seconds(60)
        cpuTime += .seconds(6)
        ratio.measured(cpuTime: cpuTime, at: now)
        #expect(abs(ratio.value - 0.1) < 0.001)
    }

    @Test mutating func clocksThatDisagreeDoNotLeaveTheRange() {
        ratio.measured(cpuTime: .seconds(90), at: now + .seconds(10))
        #expect(ratio.value == 1)
        ratio.measured(cpuTime: .zero, at: now + .seconds(20))
        #expect(ratio.value == 0)
        ratio.measured(cpuTime: .seconds(1), at: now + .seconds(20))
        #expect(ratio.value == 0, "no time has passed")
    }

    @Test mutating func measurementsAreASecondApart() {
        #expect(BusyRatio().isDue(at: now))
        #expect(!ratio.isDue(at: now + .milliseconds(999)))
        #expect(ratio.isDue(at: now + .seconds(1)))
    }

    @Test func threadsCountTheirOwnTime() throws {
        let before = try #require(BusyRatio.threadTime)
        var sum = 0
        while try #require(BusyRatio.threadTime) == before { sum &+= 1 }
        #expect(try #require(BusyRatio.threadTime) > before)
    }
}
