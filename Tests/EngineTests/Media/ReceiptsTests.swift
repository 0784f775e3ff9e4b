import Engine
import Testing
import Wire

struct ReceiptsTests {
    /// A listener that has answered a few pings in `roundTrip` milliseconds; the clock stands at the returned instant.
    private func settled(roundTrip: Int) -> (receipts: Receipts, now: Int) {
        var receipts = Receipts()
        var now = 1_000
        for _ in 0..<20 {
            let ping = receipts.ask(at: .at(now))
            now += roundTrip
            _ = ping.withUnsafeBytes { receipts.answered($0, at: .at(now)) }
            now += 100
        }
        return (receipts, now)
    }

    @Test func aListenerThatAnswersIsNeverOverdue() {
        let (receipts, now) = settled(roundTrip: 20)
        #expect(!receipts.isOverdue(at: .at(now + 10_000)))
        #expect(receipts.roundTrip == .milliseconds(20))
    }

    @Test(arguments: [0, 5, 20, 80, 200])
    func aListenerThatStopsReadingIsNoticedWithinARoundTripAndALittle(roundTrip: Int) {
        var (receipts, now) = settled(roundTrip: roundTrip)
        _ = receipts.ask(at: .at(now))
        #expect(!receipts.isOverdue(at: .at(now + roundTrip)))
        #expect(receipts.isOverdue(at: .at(now + 2 * roundTrip + 31)))
    }

    @Test func theReceiptLetsMediaGoOnAndOneAtATimeIsAskedFor() {
        var (receipts, now) = settled(roundTrip: 5)
        let ping = receipts.ask(at: .at(now))
        #expect(!receipts.isDue(at: .at(now + 1_000)))
        now += 3_000
        #expect(receipts.isOverdue(at: .at(now)))
        let isReceipt = ping.withUnsafeBytes { receipts.answered($0, at: .at(now)) }
        #expect(isReceipt)
        #expect(!receipts.isOverdue(at: .at(now)))
        #expect(receipts.isDue(at: .at(now + 40)))
    }

    @Test func aStallIsNoSampleOfThePath() {
        var (receipts, now) = settled(roundTrip: 5)
        let before = receipts.roundTrip
        let ping = receipts.ask(at: .at(now))
        now += 3_000
        _ = ping.withUnsafeBytes { receipts.answered($0, at: .at(now)) }
        #expect(receipts.roundTrip == before)
    }

    @Test func aClientThatNeverPongsIsNotHeldToIt() {
        var receipts = Receipts()
        _ = receipts.ask(at: .at(0))
        #expect(!receipts.isOverdue(at: .at(10_000)))
    }

    @Test(arguments: [[], [1], [9, 9, 9, 9], [0, 0, 0, 0, 0]])
    func aPongThatWasNotAskedForIsNoReceipt(payload: [UInt8]) {
        var (receipts, now) = settled(roundTrip: 5)
        _ = receipts.ask(at: .at(now))
        let isReceipt = payload.withUnsafeBytes { receipts.answered($0, at: .at(now + 1)) }
        #expect(!isReceipt)
        #expect(receipts.isOverdue(at: .at(now + 100)))
    }

    @Test func aPathThatBecomesSlowerIsLearnt() {
        var (receipts, now) = settled(roundTrip: 5)
        var overdue = 0
        for _ in 0..<40 {
            let ping = receipts.ask(at: .at(now))
            now += 150
            if receipts.isOverdue(at: .at(now)) { overdue += 1 }
            _ = ping.withUnsafeBytes { receipts.answered($0, at: .at(now)) }
            now += 40
        }
        #expect(overdue <= 4)
    }
}
