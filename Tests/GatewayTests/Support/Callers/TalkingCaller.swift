import Foundation
import Wire

/// A participant that sends a frame and a numbered data message every 20 ms, on a thread of its own, and reads everything.
///
/// `@unchecked Sendable`: after `start` only its thread uses `caller`, and the rest is used under `condition`.
final class TalkingCaller: @unchecked Sendable {
    private let caller: Caller
    private let track: TrackInfo
    private let condition = NSCondition()
    private var isFinishing = false
    private var sentAt: [ContinuousClock.Instant]?

    init(_ gateway: TestGateway, room: String, identity: String, shard: Int) throws {
        caller = try Caller(gateway, room: room, identity: identity, shard: shard)
        track = try caller.publish()
    }

    func start() {
        let thread = Thread { [self] in
            let sentAt = (try? talk()) ?? []
            condition.withLock {
                self.sentAt = sentAt
                condition.signal()
            }
        }
        thread.name = "talking"
        thread.start()
    }

    /// When each number was sent; empty if the connection failed.
    func finish() -> [ContinuousClock.Instant] {
        condition.withLock {
            isFinishing = true
            while sentAt == nil { condition.wait() }
            return sentAt ?? []
        }
    }

    private func talk() throws -> [ContinuousClock.Instant] {
        var sentAt: [ContinuousClock.Instant] = []
        var due = ContinuousClock.now
        while !condition.withLock({ isFinishing }) {
            let number = sentAt.count
            sentAt.append(.now)
            try caller.say(TestFrame.bytes(track.alias, number))
            try caller.socket.send(text: #"{"type":"data.send","data":{"topic":"n","payload":"\#(number)"}}"#)
            due += .milliseconds(20)
            repeat { try caller.takeAll(within: .milliseconds(5)) } while ContinuousClock.now < due
            caller.events.removeAll()
        }
        return sentAt
    }
}
