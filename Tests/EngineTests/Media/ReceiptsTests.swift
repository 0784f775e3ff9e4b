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
            _ = withUnsafeBytes(of: ping.bigEndian) { receipts.answered($0, at: .at(now)) }
            now += 100
        }
        return (receipts, now)
    }

    @Test func aListenerThatAnswersIsNeverOverdue() {
        var (receipts, now) = settled(roundTrip: 20)
        now += 10_000
        let isOverdue1 = receipts.isOverdue(at: .at(now))
        #expect(!isOverdue1)
        #expect(receipts.roundTrip == .milliseconds(20))
    }

    @Test(arguments: [0, 5, 20, 80, 200])
    func aListenerThatStopsReadingIsNoticedWithinARoundTripAndALittle(roundTrip: Int) {
        var (receipts, now) = settled(roundTrip: roundTrip)
        _ = receipts.ask(at: .at(now))
        let isOverdue2 = receipts.isOverdue(at: .at(now + roundTrip))
        #expect(!isOverdue2)
        let isOverdue3 = receipts.isOverdue(at: .at(now + 2 * roundTrip + 31))
        #expect(isOverdue3)
    }

    @Test func aPongThatIsLostOnceAndRepairedHoldsUpNothing() {
        var (receipts, now) = settled(roundTrip: 100)
        _ = receipts.ask(at: .at(now))
        let whileItIsRepaired = receipts.isOverdue(at: .at(now + 199))
        #expect(!whileItIsRepaired)
    }

    @Test func theReceiptLetsMediaGoOnAndOneAtATimeIsAskedFor() {
        var (receipts, now) = settled(roundTrip: 5)
        let ping = receipts.ask(at: .at(now))
        #expect(!receipts.isDue(at: .at(now + 1_000)))
        now += 3_000
        let isOverdue4 = receipts.isOverdue(at: .at(now))
        #expect(isOverdue4)
        let isReceipt = withUnsafeBytes(of: ping.bigEndian) { receipts.answered($0, at: .at(now)) }
        #expect(isReceipt)
        let isOverdue5 = receipts.isOverdue(at: .at(now))
        #expect(!isOverdue5)
        #expect(receipts.isDue(at: .at(now + 40)))
    }

    @Test func ourOwnLagIsNotTheListenersFaultButDoesNotEndItsStall() {
        var (receipts, now) = settled(roundTrip: 5)
        _ = receipts.ask(at: .at(now))
        now += 60
        let whileWeAreLate = receipts.isOverdue(at: .at(now), ownLag: .milliseconds(50))
        #expect(!whileWeAreLate)
        let afterwards = receipts.isOverdue(at: .at(now))
        #expect(afterwards)
        let whenWeAreLateAgain = receipts.isOverdue(at: .at(now + 1), ownLag: .milliseconds(50))
        #expect(whenWeAreLateAgain)
    }

    @Test func aStallIsNoSampleOfThePath() {
        var (receipts, now) = settled(roundTrip: 5)
        let before = receipts.roundTrip
        let ping = receipts.ask(at: .at(now))
        now += 3_000
        _ = withUnsafeBytes(of: ping.bigEndian) { receipts.answered($0, at: .at(now)) }
        #expect(receipts.roundTrip == before)
    }

    @Test func aClientThatNeverPongsIsNotHeldToIt() {
        var receipts = Receipts()
        _ = receipts.ask(at: .at(0))
        let isOverdue6 = receipts.isOverdue(at: .at(10_000))
        #expect(!isOverdue6)
    }

    @Test(arguments: [[], [1], [9, 9, 9, 9], [0, 0, 0, 0, 0]])
    func aPongThatWasNotAskedForIsNoReceipt(payload: [UInt8]) {
        var (receipts, now) = settled(roundTrip: 5)
        _ = receipts.ask(at: .at(now))
        let isReceipt = payload.withUnsafeBytes { receipts.answered($0, at: .at(now + 1)) }
        #expect(!isReceipt)
        let isOverdue7 = receipts.isOverdue(at: .at(now + 100))
        #expect(isOverdue7)
    }

    @Test func aPathThatBecomesSlowerIsLearnt() {
        var (receipts, now) = settled(roundTrip: 5)
        var overdue = 0
        for _ in 0..<40 {
            let ping = receipts.ask(at: .at(now))
            now += 150
            if receipts.isOverdue(at: .at(now)) { overdue += 1 }
            _ = withUnsafeBytes(of: ping.bigEndian) { receipts.answered($0, at: .at(now)) }
            now += 40
        }
        #expect(overdue <= 4)
    }
}
