import Engine
import Foundation
import Identity
import Testing
import Wire

/// Requests on a room connection are limited by rate and by cost; the connection stays open.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct RequestLimitTests {
    private let gateway: TestGateway

    init() throws { gateway = try TestGateway() }

    @Test(arguments: [0, 1])
    func requestsBeyondTheRateAreRefusedAndTheConnectionStays(shard: Int) throws {
        let home = try gateway.join("home")
        let ann = try gateway.join("ann", onShard: shard)
        let count = 3 * Limits.requestBurst
        let ids = try (0..<count).map { _ in try ann.send(.hold(true)) }
        var refused = 0
        for id in ids {
            guard case .failure(let error) = try ann.answer(to: id) else { continue }
            #expect(error.code == .limitExceeded && error.retryable)
            refused += 1
        }
        #expect(refused > 0, "the limit holds")
        #expect(count - refused >= Limits.requestBurst, "the burst is allowed")
        #expect(try gateway.value(.requestRefused("limit_exceeded")) == Double(refused))
        try ann.settle()
        Thread.sleep(forTimeInterval: 0.2)
        try ann.ask(.hold(false))
        try home.settle()
    }

    @Test func progressReportsAndPingsAreNotLimitedLikeRequests() throws {
        let bob = try gateway.join("bob")
        let track = try bob.publish(PublishTrack(mode: .ahead))
        let ann = try gateway.join("ann")
        let progress = PlayoutProgress(track: track.sid, epoch: 0, playedTs: 0, bufferedMs: 0)
        // Ten seconds' worth of reports for twenty tracks, at once.
        for _ in 0..<10 * 5 * ProtocolTracks.max { _ = try ann.send(.playoutProgress(progress)) }
        let pings = try (0..<2 * Limits.requestBurst).map { _ in try ann.send(.ping(1)) }
        for id in pings { _ = try ann.answer(to: id).get() }
        #expect(try gateway.value(.requestRefused("limit_exceeded")) == 0)
    }

    @Test(arguments: [0, 1])
    func expensiveRequestsAreRefusedBeforeTheRateIs(shard: Int) throws {
        let subscribers = try (0..<8).map { try gateway.join("subscriber \($0)") }
        let ann = try gateway.join("ann", onShard: shard)
        let message = DataMessage(topic: "t", payload: .text(String(repeating: "a", count: 60_000)))
        var refused = 0
        // Twice the burst, in fewer requests than the rate allows.
        let count = 2 * Limits.requestCostBurst / (60_000 * subscribers.count)
        #expect(count < Limits.requestBurst)
        for _ in 0..<count {
            let id = try ann.send(.sendData(message))
            for subscriber in subscribers { try subscriber.takeAll(within: .zero) }
            if case .failure(let error) = try ann.answer(to: id) {
                #expect(error.code == .limitExceeded && error.retryable)
                refused += 1
            }
        }
        #expect(refused > 0)
        try ann.settle()
        // What costs nothing is refused too while the budget is overdrawn, and allowed again soon.
        Thread.sleep(forTimeInterval: 0.3)
        try ann.ask(.hold(true))
    }
}

private enum ProtocolTracks {
    static let max = Limits.tracksPerParticipantMax
}
