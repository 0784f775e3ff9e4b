import Testing
import Wire

@testable import Engine

struct DeliveryProbeTests {
    /// A subscriber that has answered a few pings in `roundTrip` milliseconds. Returns the current time.
    private func settled(roundTrip: Int) -> (deliveryProbe: DeliveryProbe, now: Int) {
        var deliveryProbe = DeliveryProbe()
        var now = 1_000
        for _ in 0..<20 {
            let ping = deliveryProbe.nextPing(at: .at(now))
            now += roundTrip
            _ = withUnsafeBytes(of: ping.bigEndian) { deliveryProbe.receivePong($0, at: .at(now)) }
            now += 100
        }
        return (deliveryProbe, now)
    }

    @Test func respondingSubscriberIsNeverOverdue() {
        var (deliveryProbe, now) = settled(roundTrip: 20)
        now += 10_000
        let isOverdue1 = deliveryProbe.isOverdue(at: .at(now))
        #expect(!isOverdue1)
        #expect(deliveryProbe.roundTrip == .milliseconds(20))
    }

    @Test(arguments: [0, 5, 20, 80, 200])
    func stalledReaderIsDetectedWithinARoundTrip(roundTrip: Int) {
        var (deliveryProbe, now) = settled(roundTrip: roundTrip)
        _ = deliveryProbe.nextPing(at: .at(now))
        let isOverdue2 = deliveryProbe.isOverdue(at: .at(now + roundTrip))
        #expect(!isOverdue2)
        let isOverdue3 = deliveryProbe.isOverdue(at: .at(now + 2 * roundTrip + 31))
        #expect(isOverdue3)
    }

    @Test func retransmittedPongIsNotOverdue() {
        var (deliveryProbe, now) = settled(roundTrip: 100)
        _ = deliveryProbe.nextPing(at: .at(now))
        let whileItIsRepaired = deliveryProbe.isOverdue(at: .at(now + 199))
        #expect(!whileItIsRepaired)
    }

    @Test func pongResumesMediaAndOneProbeIsOutstanding() {
        var (deliveryProbe, now) = settled(roundTrip: 5)
        let ping = deliveryProbe.nextPing(at: .at(now))
        #expect(!deliveryProbe.isDue(at: .at(now + 1_000)))
        now += 3_000
        let isOverdue4 = deliveryProbe.isOverdue(at: .at(now))
        #expect(isOverdue4)
        let isReceipt = withUnsafeBytes(of: ping.bigEndian) { deliveryProbe.receivePong($0, at: .at(now)) }
        #expect(isReceipt)
        let isOverdue5 = deliveryProbe.isOverdue(at: .at(now))
        #expect(!isOverdue5)
        #expect(deliveryProbe.isDue(at: .at(now + 40)))
    }

    @Test func gatewayLagIsToleratedButDoesNotEndAStall() {
        var (deliveryProbe, now) = settled(roundTrip: 5)
        _ = deliveryProbe.nextPing(at: .at(now))
        now += 60
        let whileWeAreLate = deliveryProbe.isOverdue(at: .at(now), ownLag: .milliseconds(50))
        #expect(!whileWeAreLate)
        let afterwards = deliveryProbe.isOverdue(at: .at(now))
        #expect(afterwards)
        let whenWeAreLateAgain = deliveryProbe.isOverdue(at: .at(now + 1), ownLag: .milliseconds(50))
        #expect(whenWeAreLateAgain)
    }

    @Test func stallIsNotARoundTripSample() {
        var (deliveryProbe, now) = settled(roundTrip: 5)
        let before = deliveryProbe.roundTrip
        let ping = deliveryProbe.nextPing(at: .at(now))
        now += 3_000
        _ = withUnsafeBytes(of: ping.bigEndian) { deliveryProbe.receivePong($0, at: .at(now)) }
        #expect(deliveryProbe.roundTrip == before)
    }

    @Test func clientWithoutPongsIsNeverOverdue() {
        var deliveryProbe = DeliveryProbe()
        _ = deliveryProbe.nextPing(at: .at(0))
        let isOverdue6 = deliveryProbe.isOverdue(at: .at(10_000))
        #expect(!isOverdue6)
    }

    @Test(arguments: [[], [1], [9, 9, 9, 9], [0, 0, 0, 0, 0]])
    func unsolicitedPongIsIgnored(payload: [UInt8]) {
        var (deliveryProbe, now) = settled(roundTrip: 5)
        _ = deliveryProbe.nextPing(at: .at(now))
        let isReceipt = payload.withUnsafeBytes { deliveryProbe.receivePong($0, at: .at(now + 1)) }
        #expect(!isReceipt)
        let isOverdue7 = deliveryProbe.isOverdue(at: .at(now + 100))
        #expect(isOverdue7)
    }

    @Test func timeoutAdaptsToASlowerPath() {
        var (deliveryProbe, now) = settled(roundTrip: 5)
        var overdue = 0
        for _ in 0..<40 {
            let ping = deliveryProbe.nextPing(at: .at(now))
            now += 150
            if deliveryProbe.isOverdue(at: .at(now)) { overdue += 1 }
            _ = withUnsafeBytes(of: ping.bigEndian) { deliveryProbe.receivePong($0, at: .at(now)) }
            now += 40
        }
        #expect(overdue <= 4)
    }
}
