import Testing
import Wire

@testable import PatchbayClient

struct HeartbeatTests {
    private var heart = Heartbeat(interval: .seconds(5), timeout: .seconds(15), now: .milliseconds(0))

    @Test mutating func pingsAtOnceAndThenPeriodically() {
        #expect(heart.verdict(at: .milliseconds(0)) == .ping)
        #expect(heart.verdict(at: .milliseconds(4_999)) == .nothing)
        #expect(heart.deadline == .milliseconds(5_000))
        #expect(heart.verdict(at: .milliseconds(5_000)) == .ping)
    }

    @Test mutating func anyMessageCountsAsActivity() {
        heart.didReceive(at: .milliseconds(10_000))
        #expect(heart.verdict(at: .milliseconds(24_999)) != .dead)
        #expect(heart.verdict(at: .milliseconds(25_000)) == .dead)
    }

    @Test func unansweredPingIsDeadAfterThePongTimeout() {
        var heart = Heartbeat(interval: .seconds(5), timeout: .seconds(15), pongTimeout: .seconds(4), now: .milliseconds(0))
        #expect(heart.verdict(at: .milliseconds(0)) == .ping)
        heart.didReceive(at: .milliseconds(3_999))
        #expect(heart.verdict(at: .milliseconds(4_500)) == .nothing)
        #expect(heart.verdict(at: .milliseconds(5_000)) == .ping)
        #expect(heart.deadline == .milliseconds(9_000))
        #expect(heart.verdict(at: .milliseconds(8_999)) == .nothing)
        #expect(heart.verdict(at: .milliseconds(9_000)) == .dead)
    }

    @Test mutating func silenceIsDeadAfterTheTimeout() {
        #expect(heart.verdict(at: .milliseconds(14_999)) == .ping)
        #expect(heart.deadline == .milliseconds(15_000))
        #expect(heart.verdict(at: .milliseconds(15_000)) == .dead)
    }
}
