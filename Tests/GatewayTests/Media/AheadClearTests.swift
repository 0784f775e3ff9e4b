import Foundation
import Gateway
import Testing
import Wire

/// After a clear, no frame of the old epoch is delivered, whichever shard it is queued on.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct AheadClearTests {
    private let gateway: TestGateway

    init() throws { gateway = try TestGateway { $0.shardCount = 3 } }

    private func join(_ identity: String, onShard shard: Int) throws -> Caller {
        try Caller(gateway, room: "r", identity: identity, shard: shard)
    }

    private func say(_ frames: Range<Int>, of track: TrackInfo, epoch: UInt8, by caller: Caller) throws {
        for first in stride(from: frames.lowerBound, to: frames.upperBound, by: 50) {
            let bundle = (first..<min(first + 50, frames.upperBound)).map { TestFrame.bytes(track.alias, $0, epoch: epoch) }
            try caller.say(Bundle.joining(bundle))
        }
    }

    /// Shards of the room's home, the publisher and a subscriber.
    @Test(arguments: [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2], [2, 1, 0]], [false, true])
    func noFrameOfTheOldEpochFollowsTheClearedEvent(shards: [Int], listenerClears: Bool) throws {
        let home = try join("first", onShard: shards[0])
        let assistant = try join("assistant", onShard: shards[1])
        let listener = try join("listener", onShard: shards[2])
        let track = try assistant.publish(PublishTrack(name: "voice", source: .assistant, mode: .ahead))
        var next = 0
        for round in 0..<4 {
            let epoch = UInt8(round)
            // The last frames are in flight when the clear is requested.
            try say(next..<next + 500, of: track, epoch: epoch, by: assistant)
            next += 500
            try listener.take(until: "some of epoch \(epoch)") { $0.frames.contains { $0.bytes[7] == epoch } }
            if !listenerClears { try say(next..<next + 500, of: track, epoch: epoch, by: assistant) }
            let reply = try (listenerClears ? listener : assistant).ask(.playoutClear(track.sid, reason: "barge_in"))
            #expect(reply.epoch == epoch + 1)
            if listenerClears { try say(next..<next + 500, of: track, epoch: epoch, by: assistant) }
            next += 500
            _ = try listener.event("the clear") { if case .playoutCleared = $0 { true } else { nil } }
            listener.frames.removeAll()
            // The assistant continues as soon as it has the reply.
            try say(next..<next + 25, of: track, epoch: epoch + 1, by: assistant)
            try listener.take(until: "what follows") { $0.frames.count >= 25 }
            #expect(listener.frames.map { TestFrame.sequence(of: $0.bytes) } == Array(next..<next + 25).map { $0 % 65_536 })
            next += 25
            listener.frames.removeAll()
        }
        #expect(try gateway.value(.dropped("cleared")) > 1_000)
        withExtendedLifetime(home) {}
    }

    @Test func stalledSubscriberGetsNoClearedFramesLater() throws {
        let (assistant, listener) = try (join("assistant", onShard: 0), join("listener", onShard: 0))
        let track = try assistant.publish(PublishTrack(name: "voice", source: .assistant, mode: .ahead))
        try say(0..<500, of: track, epoch: 0, by: assistant)
        try listener.take(until: "a second") { $0.frames.count >= 65 }
        Thread.sleep(forTimeInterval: 2)
        try assistant.ask(.playoutClear(track.sid, reason: nil))
        try say(500..<550, of: track, epoch: 1, by: assistant)
        _ = try listener.event("the clear") { if case .playoutCleared = $0 { true } else { nil } }
        let before = listener.frames.count
        #expect(before < 120, "queued frames are gone; only frames in flight remain: \(before)")
        try listener.take(until: "what follows") { $0.frames.count >= before + 50 }
        #expect(listener.frames[before...].allSatisfy { $0.bytes[7] == 1 })
    }
}
