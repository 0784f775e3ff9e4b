import Backend
import Synchronization
import Testing
import Wire

@Suite(.timeLimit(.minutes(1)))
struct DeadlineTimerTests {
    /// Counts tasks that sleep now, and that ever did.
    private final class Sleepers: Sendable {
        private let state = Mutex((now: 0, ever: 0))
        var now: Int { state.withLock(\.now) }
        var ever: Int { state.withLock(\.ever) }

        @Sendable func sleep(_ pause: Duration) async throws {
            state.withLock { $0 = ($0.now + 1, $0.ever + 1) }
            defer { state.withLock { $0.now -= 1 } }
            try await Task.sleep(for: pause)
        }

        func settle(_ condition: @Sendable (Sleepers) -> Bool) async throws {
            for _ in 0..<1_000 where !condition(self) { try await Task.sleep(for: .milliseconds(10)) }
        }
    }

    private static let start = Instant(nanoseconds: 0)

    @Test func earlierDeadlinesLeaveOneSleepingTask() async throws {
        let sleepers = Sleepers()
        var timer = DeadlineTimer(sleep: sleepers.sleep)
        let count = 1_000
        for number in 0..<count { timer.arm(for: Self.start + .seconds(10_000 - number), at: Self.start) {} }
        try await sleepers.settle { $0.ever == count && $0.now == 1 }
        #expect(sleepers.ever == count && sleepers.now == 1)
        timer.cancel()
        try await sleepers.settle { $0.now == 0 }
        #expect(sleepers.now == 0)
    }

    @Test func aLaterDeadlineKeepsTheSleepingTask() async throws {
        let sleepers = Sleepers()
        var timer = DeadlineTimer(sleep: sleepers.sleep)
        for number in 0..<1_000 { timer.arm(for: Self.start + .seconds(5_000 + number), at: Self.start) {} }
        try await sleepers.settle { $0.ever == 1 }
        #expect(sleepers.ever == 1 && sleepers.now == 1)
        timer.cancel()
    }

    @Test func aDeadlineThatHasPassedWakesTheOwnerOnce() async throws {
        let sleepers = Sleepers()
        var timer = DeadlineTimer(sleep: sleepers.sleep)
        await withCheckedContinuation { continuation in
            timer.arm(for: Self.start, at: Self.start + .seconds(1)) { continuation.resume() }
        }
        timer.disarm()
        try await sleepers.settle { $0.now == 0 }
        #expect(sleepers.ever == 1 && sleepers.now == 0)
    }
}
