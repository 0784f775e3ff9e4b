import Engine
import Foundation
import Gateway
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
        let pings = try (0..<Limits.requestBurst).map { _ in try ann.send(.ping(1)) }
        for id in pings { _ = try ann.answer(to: id).get() }
        #expect(try gateway.value(.requestRefused("limit_exceeded")) == 0)
    }

    @Test(arguments: [0, 1])
    func expensiveRequestsAreRefusedBeforeTheRateIs(shard: Int) throws {
        let gateway = try TestGateway { $0.room.resumeWindow = .seconds(20) }
        // Subscribers whose connection is lost count as recipients, and need not be read, which would take longer than the budget to refill.
        let subscribers = try (0..<20).map { try gateway.join("subscriber \($0)") }
        for subscriber in subscribers { subscriber.socket.socket.reset() }
        try Patience.until("all connections are lost") { try gateway.away() == Double(subscribers.count) }
        let ann = try gateway.join("ann", onShard: shard)
        let message = DataMessage(topic: "t", payload: .text(String(repeating: "a", count: 60_000)))
        let count = 4 * Limits.requestCostBurst / (60_000 * subscribers.count)
        #expect(count < Limits.requestBurst)
        let refused = try (0..<count).map { _ in try ann.send(.sendData(message)) }.filter { id in
            guard case .failure(let error) = try ann.answer(to: id) else { return false }
            return error.code == .limitExceeded && error.retryable
        }
        #expect(!refused.isEmpty)
        #expect(try gateway.value(.requestRefused("limit_exceeded")) == Double(refused.count))
        // The budget refills, and the connection is still open.
        Thread.sleep(forTimeInterval: 0.5)
        try ann.ask(.hold(true))
    }
}

private enum ProtocolTracks {
    static let max = Limits.tracksPerParticipantMax
}
