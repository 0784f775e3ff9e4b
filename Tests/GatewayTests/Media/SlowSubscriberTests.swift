import Foundation
import Gateway
import Identity
import Testing
import Wire

/// A subscriber that stops reading for a while loses old frames and does not affect others.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct SlowSubscriberTests {
    private static let interval = Duration.milliseconds(20)
    let gateway: TestGateway

    init() throws { gateway = try TestGateway() }

    /// A subscriber's frames and their ages; sender and subscriber share a clock.
    private struct Heard {
        var ages: [(number: Int, age: Duration, isAfterDrop: Bool)] = []
        var numbers: [Int] { ages.map(\.number) }

        mutating func take(_ track: TrackInfo, from listener: Caller, sentAt: [ContinuousClock.Instant]) {
            for (frame, at) in listener.frames where Int(frame[2]) << 8 | Int(frame[3]) == Int(track.alias.value) {
                let number = TestFrame.sequence(of: frame)
                ages.append((number, at - sentAt[number], TestFrame.isAfterDrop(frame)))
            }
            listener.frames.removeAll()
        }
    }

    @Test func subscriberIsCurrentAfterAStall() throws {
        let (speaker, stalled, attentive) = try (
            Caller(gateway, room: "r", identity: "speaker"), Caller(gateway, room: "r", identity: "stalled"),
            Caller(gateway, room: "r", identity: "attentive")
        )
        let track = try speaker.publish()
        let toSpeaker = try attentive.publish()
        var sentAt: [ContinuousClock.Instant] = []
        var (heard, heardByAttentive) = (Heard(), Heard())
        var heardBySpeaker = 0
        // 2 s of audio, 3 s without reading, then 10 s.
        let (stallStart, stallEnd, end) = (100, 250, 750)
        var due = ContinuousClock.now
        while sentAt.count < end {
            sentAt.append(.now)
            try speaker.say(TestFrame.bytes(track.alias, sentAt.count - 1))
            try attentive.say(TestFrame.bytes(toSpeaker.alias, sentAt.count - 1))
            due += Self.interval
            let isStalled = stallStart..<stallEnd ~= sentAt.count
            repeat {
                for caller in isStalled ? [speaker, attentive] : [speaker, attentive, stalled] {
                    try caller.takeAll(within: .milliseconds(2))
                }
            } while ContinuousClock.now < due
            heard.take(track, from: stalled, sentAt: sentAt)
            heardByAttentive.take(track, from: attentive, sentAt: sentAt)
            heardBySpeaker += speaker.frames.count
            speaker.frames.removeAll()
        }

        let afterStall = heard.ages.filter { $0.number >= stallStart }
        let old = afterStall.filter { $0.age > .milliseconds(200) && sentAt[$0.number] + $0.age >= sentAt[stallEnd] }
        #expect(afterStall.count >= end - stallEnd, "all frames after the stall arrive, and a few of those during it")
        // On a busy machine pongs are late and the gateway waits for them. The attentive subscriber shows how late.
        let noise = heardByAttentive.ages.map(\.age).max() ?? .zero
        let framesOfNoise: Double = 3 * (noise / Self.interval)
        let allowed = afterStall.count / 50 + Int(framesOfNoise)
        #expect(old.count <= allowed, "\(old.count) of \(afterStall.count) frames were old; noise \(noise)")
        #expect(heard.numbers == heard.numbers.sorted(), "in order")
        #expect(heard.numbers.suffix(450) == ArraySlice(end - 450..<end), "no gap once it reads again")
        let gaps = zip(heard.ages, heard.ages.dropFirst()).filter { $1.number != $0.number + 1 }
        #expect(!gaps.isEmpty)
        #expect(gaps.allSatisfy { $1.isAfterDrop }, "0x08 after each gap")
        #expect(heard.ages.count { $0.isAfterDrop } == gaps.count, "and nowhere else")
        #expect(try gateway.value(.dropped("age")) > 50)

        #expect(heardByAttentive.numbers.count >= end - 5, "others lose nothing")
        #expect(heardByAttentive.ages.allSatisfy { !$0.isAfterDrop })
        #expect(heardBySpeaker >= end - 5, "the publisher still gets frames")
        try Patience.until("nothing is held any more") { try gateway.value(.framesHeld) == 0 }
    }

    @Test func shortStallLosesNothing() throws {
        let speaker = try Caller(gateway, room: "r", identity: "speaker")
        let listener = try Caller(gateway, room: "r", identity: "listener") { $0.kind = .agent }
        let track = try speaker.publish()
        // The first delivery probes are answered, so that an overdue one is noticed.
        for number in 0..<20 {
            try speaker.say(TestFrame.bytes(track.alias, number))
            try listener.take(until: "frame \(number)") { $0.frames.count == number + 1 }
        }
        // A gateway that is late itself waits longer for probes.
        var count = 20
        try Patience.until("some frames are queued") {
            for _ in 0..<40 {
                try speaker.say(TestFrame.bytes(track.alias, count))
                count += 1
                Thread.sleep(forTimeInterval: 0.02)
            }
            return try gateway.value(.framesQueued) > 0
        }
        try listener.take(until: "\(count) frames") { $0.frames.count == count }
        #expect(listener.frames.map(\.bytes) == (0..<count).map { TestFrame.bytes(track.alias, $0) }, "byte for byte and without 0x08")
        try Patience.until("nothing is held any more") { try gateway.value(.framesHeld) == 0 }
    }

    @Test func controlMessagesPrecedeQueuedFrames() throws {
        // On one shard: across shards the text may arrive when the queue is already flushed.
        let gateway = try TestGateway { $0.shardCount = 1 }
        let speaker = try Caller(gateway, room: "r", identity: "speaker")
        let listener = try Caller(gateway, room: "r", identity: "listener") { $0.kind = .agent }
        let track = try speaker.publish()
        var number = 0
        func sayOne() throws {
            try speaker.say(TestFrame.bytes(track.alias, number))
            number += 1
        }
        // The first delivery probes are answered, so that an overdue one is noticed.
        while number < 20 {
            try sayOne()
            try listener.take(until: "frame \(number)") { $0.frames.count == number }
        }
        // A gateway that is late itself waits longer for probes and may have sent everything before the text: try again.
        let waiting = 5
        try Patience.until("what waited comes behind a text that was sent after it") {
            try Patience.until("some wait") {
                try sayOne()
                return try Int(gateway.value(.framesHeld)) >= waiting
            }
            try speaker.ask(.sendText(TextMessage(text: "now")))
            _ = try listener.event("the text") { if case .text = $0 { true } else { nil } }
            let before = listener.frames.count
            while try listener.take(within: .milliseconds(50)) {}
            return listener.frames.count >= before + waiting
        }
        let heard = listener.frames.map { TestFrame.sequence(of: $0.bytes) }
        #expect(heard == heard.sorted())
    }
}
