import Foundation
import Gateway
import Identity
import Testing
import Wire

/// What a listener gets that does not read for a while, and that nobody else notices.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct SlowListenerTests {
    private static let interval = Duration.milliseconds(20)
    let gateway: TestGateway

    init() throws { gateway = try TestGateway() }

    /// A listener's frames with how old each was, the sender's clock being ours.
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

    @Test func aStallOfThreeSecondsEndsInThePresent() throws {
        let (speaker, stalled, attentive) = try (
            Caller(gateway, room: "r", identity: "speaker"), Caller(gateway, room: "r", identity: "stalled"),
            Caller(gateway, room: "r", identity: "attentive")
        )
        let track = try speaker.publish()
        let toSpeaker = try attentive.publish()
        var sentAt: [ContinuousClock.Instant] = []
        var (heard, heardByAttentive) = (Heard(), Heard())
        var heardBySpeaker = 0
        // 2 s of talk, 3 s without reading, 10 s after it.
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
        #expect(afterStall.count >= end - stallEnd, "all that was said after the stall was heard, and a little of what was said in it")
        // On a busy machine pongs are late too, and the gateway patient. How late, the listener tells that reads all the time.
        let noise = heardByAttentive.ages.map(\.age).max() ?? .zero
        let framesOfNoise: Double = 3 * (noise / Self.interval)
        let allowed = afterStall.count / 50 + Int(framesOfNoise)
        #expect(old.count <= allowed, "\(old.count) of \(afterStall.count) frames were old; noise \(noise)")
        #expect(heard.numbers == heard.numbers.sorted(), "in order")
        #expect(heard.numbers.suffix(450) == ArraySlice(end - 450..<end), "without a gap once it reads again")
        let gaps = zip(heard.ages, heard.ages.dropFirst()).filter { $1.number != $0.number + 1 }
        #expect(!gaps.isEmpty)
        #expect(gaps.allSatisfy { $1.isAfterDrop }, "0x08 after each gap")
        #expect(heard.ages.count { $0.isAfterDrop } == gaps.count, "and nowhere else")
        #expect(try gateway.value(.dropped("age")) > 50)

        #expect(heardByAttentive.numbers.count >= end - 5, "nobody else loses anything")
        #expect(heardByAttentive.ages.allSatisfy { !$0.isAfterDrop })
        #expect(heardBySpeaker >= end - 5, "and the speaker hears on")
        try Patience.until("nothing is held any more") { try gateway.value(.framesHeld) == 0 }
    }

    @Test func whoReadsAgainInTimeLosesNothingAndGetsItInOrder() throws {
        let speaker = try Caller(gateway, room: "r", identity: "speaker")
        let listener = try Caller(gateway, room: "r", identity: "listener") { $0.kind = .agent }
        let track = try speaker.publish()
        // The first deliveryProbe have been answered, so that an overdue one is noticed.
        for number in 0..<20 {
            try speaker.say(TestFrame.bytes(track.alias, number))
            try listener.take(until: "frame \(number)") { $0.frames.count == number + 1 }
        }
        for number in 20..<60 {
            try speaker.say(TestFrame.bytes(track.alias, number))
            Thread.sleep(forTimeInterval: 0.02)
        }
        #expect(try gateway.value(.framesQueued) > 0, "some waited")
        try listener.take(until: "60 frames") { $0.frames.count == 60 }
        #expect(listener.frames.map(\.bytes) == (0..<60).map { TestFrame.bytes(track.alias, $0) }, "byte for byte and without 0x08")
        #expect(try gateway.value(.framesHeld) == 0)
    }

    @Test func controlMessagesGoBeforeFramesThatWait() throws {
        // Between two shards the text may come when the listener reads already, and all has left that waited.
        let gateway = try TestGateway { $0.shardCount = 1 }
        let speaker = try Caller(gateway, room: "r", identity: "speaker")
        let listener = try Caller(gateway, room: "r", identity: "listener") { $0.kind = .agent }
        let track = try speaker.publish()
        var number = 0
        func sayOne() throws {
            try speaker.say(TestFrame.bytes(track.alias, number))
            number += 1
        }
        // The first deliveryProbe have been answered, so that an overdue one is noticed.
        while number < 20 {
            try sayOne()
            try listener.take(until: "frame \(number)") { $0.frames.count == number }
        }
        // A gateway that is late itself is patient with listeners: then all has left before the text is sent, and it is tried again.
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
