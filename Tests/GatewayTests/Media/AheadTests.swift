import Foundation
import Gateway
import Testing
import Wire

/// Frames of `ahead` tracks that are sent faster than real time are released by the clock, over real sockets.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(2)))
struct AheadTests {
    private let gateway: TestGateway
    private static let description = PublishTrack(name: "voice", source: .assistant, mode: .ahead)

    init() throws { gateway = try TestGateway { $0.shardCount = 3 } }

    private func join(_ identity: String, onShard shard: Int? = nil, receiveBuffer: Int32? = nil) throws -> Caller {
        try Caller(gateway, room: "r", identity: identity, receiveBuffer: receiveBuffer, shard: shard)
    }

    /// Sends frames as an assistant does that gets a second of audio at a time.
    private func say(_ frames: Range<Int>, of track: TrackInfo, epoch: UInt8 = 0, by caller: Caller) throws {
        for first in stride(from: frames.lowerBound, to: frames.upperBound, by: 25) {
            let bundle = (first..<min(first + 25, frames.upperBound)).map { TestFrame.bytes(track.alias, $0, epoch: epoch) }
            try caller.say(Bundle.joining(bundle))
        }
    }

    /// Received media messages: their times, and how many frames were in each.
    private func messages(_ caller: Caller) -> [(at: ContinuousClock.Instant, frames: Int)] {
        var messages: [(at: ContinuousClock.Instant, frames: Int)] = []
        for (_, at) in caller.frames {
            if messages.last?.at == at { messages[messages.count - 1].frames += 1 } else { messages.append((at, 1)) }
        }
        return messages
    }

    private func numbers(_ caller: Caller) -> [Int] { caller.frames.map { TestFrame.sequence(of: $0.bytes) } }

    @Test(arguments: [(30, [0, 0]), (10, [0, 1]), (10, [2, 0])])
    func framesSentAtOnceAreReleasedByTheClock(seconds: Int, shards: [Int]) throws {
        let count = seconds * 50
        let (assistant, listener) = try (join("assistant", onShard: shards[0]), join("listener", onShard: shards[1]))
        let track = try assistant.publish(Self.description)
        let start = ContinuousClock.now
        try say(0..<count, of: track, by: assistant)
        let saidAll = ContinuousClock.now
        while listener.frames.count < count, ContinuousClock.now < start + .seconds(seconds + 10) {
            try listener.takeAll(within: .milliseconds(200))
            // Reading answers pings.
            try assistant.takeAll(within: .zero)
        }
        let isWhatWasSent = listener.frames.map(\.bytes) == (0..<count).map { TestFrame.bytes(track.alias, $0) }
        #expect(isWhatWasSent, "complete, in order, byte for byte")
        let messages = messages(listener)
        for (index, message) in messages.enumerated() {
            // Within one tick of 20 ms, by which the first message may have been late.
            let inASecond = messages[index...].prefix { $0.at < message.at + .milliseconds(980) }.count
            // Ten by the clock, and three more at the start. On a busy machine what was due in a stall follows it.
            let around = messages[max(0, index - 1)..<index + inASecond]
            // Nobody reads until everything is sent.
            let unheard = message.at < saidAll + .milliseconds(20) ? saidAll - start : .zero
            let stall = zip(around, around.dropFirst()).map { $1.at - $0.at }.max().map { max($0, unheard) } ?? unheard
            let made = stall > .milliseconds(115) ? Int(stall / .milliseconds(100)) : 0
            // A trunk may deliver in two parts, and the first is released at once.
            let torn = shards[0] != shards[1] && messages[min(index, 5)..<min(index + inASecond, 5)].contains { $0.frames < 5 } ? 1 : 0
            #expect(inASecond <= 13 + made + torn, "\(inASecond) after \(message.at - start), with a stall of \(stall)")
        }
        #expect(messages.count <= seconds * 10 + 5 && messages.allSatisfy { $0.frames <= 5 })
        let leads = listener.frames.map { start + .milliseconds(20 * TestFrame.sequence(of: $0.bytes)) - $0.at }
        #expect(leads.allSatisfy { $0 < .milliseconds(320) }, "no frame is released early")
        let early = leads.dropFirst(15).sorted()[leads.count / 20]
        // The clock starts when the gateway has the first frame.
        #expect(early + (saidAll - start) > .milliseconds(150), "nearly all frames arrive well before they play: \(early)")
        #expect(try gateway.value(Counter(name: "patchbay_bundles_sent_total")) >= Double(seconds * 10 - 10))
        #expect(try gateway.value(.framesQueued) == 0, "no frame went through an outbox")
    }

    @Test func subscriberThatStallsForThreeSecondsLosesNothing() throws {
        let (assistant, listener) = try (join("assistant"), join("listener", receiveBuffer: 2_048))
        let track = try assistant.publish(Self.description)
        try say(0..<500, of: track, by: assistant)
        let start = ContinuousClock.now
        while ContinuousClock.now < start + .seconds(1) { try listener.takeAll(within: .milliseconds(20)) }
        Thread.sleep(forTimeInterval: 3)
        #expect(try gateway.value(Counter(name: "patchbay_frames_sent_total")) < 200, "most frames wait for the subscriber")
        try listener.take(until: "the rest") { $0.frames.count >= 500 }
        let isWhatWasSent = listener.frames.map(\.bytes) == (0..<500).map { TestFrame.bytes(track.alias, $0) }
        #expect(isWhatWasSent, "complete, and hence without 0x08")
    }

    @Test(arguments: [0, 1])
    func lateSubscriberGetsTheRemainingFrames(shard: Int) throws {
        let (assistant, listener) = try (join("assistant", onShard: 0), join("listener", onShard: 2))
        let track = try assistant.publish(Self.description)
        let start = ContinuousClock.now
        try say(0..<250, of: track, by: assistant)
        try listener.take(until: "2 s") { $0.frames.count >= 100 }
        let late = try join("late", onShard: shard)
        try late.take(until: "the rest") { numbers($0).last == 249 }
        let first = numbers(late)[0]
        // Frames are released 300 ms early. On a busy machine the late one joins later.
        let released = 15 + Int((late.frames[0].at - start) / .milliseconds(20))
        #expect((80...max(100, released)).contains(first), "\(first)")
        #expect(numbers(late) == Array(first..<250))
    }

    @Test(arguments: [0, 1])
    func muteDelaysFramesAndLosesNone(shard: Int) throws {
        let (assistant, listener) = try (join("assistant", onShard: 0), join("listener", onShard: shard))
        let track = try assistant.publish(Self.description)
        try say(0..<200, of: track, by: assistant)
        try listener.take(until: "1 s") { $0.frames.count >= 50 }
        let asked = ContinuousClock.now
        try assistant.ask(.mute(track.sid, muted: true))
        _ = try listener.event("the mute") { if case .trackMuted = $0 { true } else { nil } }
        let delay = Int((ContinuousClock.now - asked) / .milliseconds(20))
        let count = listener.frames.count
        #expect(throws: (any Error).self) { try listener.take(until: "more", within: .milliseconds(500)) { $0.frames.count > count } }
        // A subscriber that arrives during the mute waits as well.
        let late = try join("late", onShard: 2)
        #expect(throws: (any Error).self) { try late.take(until: "any", within: .milliseconds(300)) { !$0.frames.isEmpty } }
        try assistant.ask(.mute(track.sid, muted: false))
        try listener.take(until: "the rest") { $0.frames.count >= 200 }
        #expect(numbers(listener) == Array(0..<200))
        try late.take(until: "the rest") { numbers($0).last == 199 }
        let first = numbers(late)[0]
        // Shards tick at different times: one may have released one more message before the mute, and more if it learned of it late.
        #expect((count - 5 - delay...count + 5).contains(first))
        #expect(numbers(late) == Array(first..<200))
    }

    @Test func framesMoreThanAMinuteAheadAreRefused() throws {
        let assistant = try join("assistant")
        let track = try assistant.publish(Self.description)
        try say(0..<3_500, of: track, by: assistant)
        try assistant.settle()
        let refused = try gateway.value(.dropped("ahead"))
        #expect((300...499).contains(refused), "\(refused)")
        try assistant.ask(.unpublish(track.sid))
        try Patience.until("what waited is counted too") { try gateway.value(.dropped("cleared")) > 2_900 }
        #expect(try gateway.value(Counter(name: "patchbay_ahead_tracks")) == 0)
    }

    @Test func noFrameFollowsTheUnpublishedEvent() throws {
        let (assistant, listener) = try (join("assistant", onShard: 0), join("listener", onShard: 1))
        for number in 0..<10 {
            let track = try assistant.publish(Self.description)
            try say(0..<500, of: track, by: assistant)
            try listener.take(until: "some of round \(number)") { $0.frames.count >= 15 }
            try assistant.ask(.unpublish(track.sid))
            _ = try listener.event("the end") { if case .trackUnpublished = $0 { true } else { nil } }
            let count = listener.frames.count
            try listener.settle()
            #expect(listener.frames.count == count)
            listener.frames.removeAll()
        }
    }

    @Test func liveTracksAreUnaffectedByAnAheadTrack() throws {
        let (assistant, listener) = try (join("assistant"), join("listener"))
        let voice = try assistant.publish(Self.description)
        let microphone = try assistant.publish()
        try say(0..<200, of: voice, by: assistant)
        for number in 0..<50 {
            try assistant.say(TestFrame.bytes(microphone.alias, number))
            try listener.take(until: "frame \(number)") { caller in
                caller.frames.contains { $0.bytes == TestFrame.bytes(microphone.alias, number) }
            }
        }
        try listener.take(until: "all") { $0.frames.count == 250 }
    }
}
