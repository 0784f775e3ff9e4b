import Engine
import Foundation
import Gateway
import Identity
import Testing
import Wire

/// Sessions resumed after a lost connection: on the same shard or another, on the room's home or not.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct ResumeTests {
    private let gateway = try! TestGateway { $0.room.resumeWindow = .seconds(20) }

    /// How a connection is lost.
    enum Kill: CaseIterable {
        case reset, closed, leftHalfOpen
    }

    /// On a busy machine, a turn of a shard has no time for all of them, and each reset is reported only once.
    @Test func connectionsThatAreResetAtOnceAreAllNoticed() throws {
        let callers = try (0..<60).map { try gateway.join("caller \($0)") }
        let end = ContinuousClock.now + .seconds(1)
        for _ in 0..<8 { Thread.detachNewThread { while ContinuousClock.now < end {} } }
        for caller in callers { caller.socket.socket.reset() }
        try Patience.until("all connections are lost", within: .seconds(10)) { try gateway.away() == Double(callers.count) }
    }

    @Test(arguments: [[0], [1], [0, 1], [1, 0, 0, 1, 1]])
    func resumeReplaysEachMissedEventOnce(shards: [Int]) throws {
        let bob = try gateway.join("bob")
        let voice = try bob.publish()
        var ann = try gateway.join("ann", onShard: shards[0])
        let track = try ann.publish()
        let sid = ann.hello.participant.sid
        var (told, sent) = (0, 0)
        /// Checks the numbers received so far, of which `sent` were sent.
        func note() {
            for case .data(_, _, .text(let number)) in ann.events {
                #expect(Int(number) == told)
                told += 1
            }
            ann.events.removeAll()
        }
        func send() throws {
            try bob.socket.send(text: #"{"type":"data.send","data":{"topic":"n","payload":"\#(sent)"}}"#)
            sent += 1
        }
        var halfOpen: [Caller] = []
        for round in 0..<100 {
            try send()
            try ann.say(TestFrame.bytes(track.alias, round))
            try ann.settle()
            note()
            switch Kill.allCases[round % 3] {
            case .reset: ann.socket.socket.reset()
            case .closed: ann.socket.socket.close()
            case .leftHalfOpen: halfOpen.append(ann)
            }
            try send()
            ann = try Caller(resuming: ann, on: gateway, shard: shards[round % shards.count])
            #expect(ann.hello.resumed == true)
            #expect(ann.hello.participant.sid == sid)
            #expect(ann.hello.participant.tracks == [track])
            note()
            try send()
            // Media flows again in both directions at once.
            try bob.say(TestFrame.bytes(voice.alias, round))
            #expect(try ann.frame() == TestFrame.bytes(voice.alias, round))
            #expect(try bob.frame() == TestFrame.bytes(track.alias, round))
        }
        try ann.take(until: "the last number") { _ in
            note()
            return told == sent
        }
        for old in halfOpen { #expect(try old.closeCode() == 4104) }
        let metrics = try gateway.metrics()
        #expect(metrics.value(.resumed("resumed")) == 100)
        #expect(metrics.value(.participantsAway) == 0)
        #expect(metrics.value(.participants) == 2)
        #expect(metrics.value(.joins) == 2)
        #expect(metrics.value(Counter(name: "patchbay_tracks")) == 2)
        try Patience.until("dead connections are closed") { try gateway.value(Counter(name: "patchbay_connections")) == 2 }
        #expect(bob.events.allSatisfy { if case .participantUpdated = $0 { true } else { $0.isOfTalk } }, "\(bob.events)")
    }

    @Test(arguments: [[0], [1], [0, 1]])
    func callContinuesAcrossAHundredLostConnections(shards: [Int]) throws {
        let speaker = try TalkingCaller(gateway, room: "r", identity: "bob", shard: 0)
        var ann = try gateway.join("ann", onShard: shards[0])
        speaker.start()
        var numbers: [Int] = []
        var frames: [(number: Int, at: ContinuousClock.Instant)] = []
        var downtimes: [(last: Int, end: ContinuousClock.Instant)] = []
        func note() {
            for case .data(_, _, .text(let number)) in ann.events { numbers.append(Int(number) ?? -1) }
            for frame in ann.frames { frames.append((TestFrame.sequence(of: frame.bytes), frame.at)) }
            ann.events.removeAll()
            ann.frames.removeAll()
        }
        for round in 0..<100 {
            let until = ContinuousClock.now + .milliseconds(40)
            while ContinuousClock.now < until { try ann.takeAll(within: .milliseconds(5)) }
            if round.isMultiple(of: 2) { ann.socket.socket.reset() }
            note()
            let last = frames.last?.number ?? 0
            ann = try Caller(resuming: ann, on: gateway, shard: shards[round % shards.count])
            try #require(ann.hello.resumed == true)
            downtimes.append((last, ContinuousClock.now))
            note()
        }
        let report = speaker.finish()
        try ann.take(until: "the last number") { _ in
            note()
            return numbers.last == report.count - 1
        }
        #expect(numbers == Array(0..<report.count), "each event once and in order")
        #expect(frames.map(\.number) == frames.map(\.number).sorted())
        let heard = Set(frames.map(\.number))
        // Frames that were in flight when the connection broke, or that were sent before it was back.
        let missing = report.indices.filter { number in
            let isExcused = downtimes.contains { $0.last < number && report[number] <= $0.end }
            return number > (frames.first?.number ?? 0) && !heard.contains(number) && !isExcused
        }
        // A frame that a busy machine delayed for too long is dropped, and counted.
        let late = try gateway.value(.dropped("age"))
        #expect(Double(missing.count) <= late, "frames lost while connected, with \(late) dropped for their age: \(missing)")
        #expect(heard.count > 100)
        #expect(try gateway.value(.resumed("resumed")) == 100)
    }

    @Test(arguments: 0..<5)
    func everybodyGetsEveryTrackAfterRandomLosses(seed: Int) throws {
        let gateway = try TestGateway {
            $0.shardCount = 3
            $0.room.resumeWindow = .seconds(20)
        }
        var random = SplitMix64(seed: UInt64(seed))
        var callers = try (0..<6).map { number in
            try Caller(gateway, room: "r", identity: "caller \(number)", shard: number % 3) { $0.kind = .agent }
        }
        let tracks = try callers.map { try $0.publish() }
        var dead: [Caller] = []
        for _ in 0..<60 {
            let one = Int(random.next() % 6)
            // Read received events, or too many may have been missed at some point.
            for caller in callers { try caller.takeAll(within: .zero) }
            if random.next() % 3 > 0 { callers[one].socket.socket.reset() } else { dead.append(callers[one]) }
            callers[one] = try Caller(resuming: callers[one], on: gateway, shard: Int(random.next() % 3))
            try #require(callers[one].hello.resumed == true)
        }
        for caller in callers {
            try caller.settle()
            caller.frames.removeAll()
        }
        for (speaker, track) in zip(callers, tracks) { try speaker.say(TestFrame.bytes(track.alias, 7)) }
        for (index, listener) in callers.enumerated() {
            let expected = tracks.indices.filter { $0 != index }.map { TestFrame.bytes(tracks[$0].alias, 7) }
            let heard = try (0..<5).map { _ in try listener.frame() }
            #expect(Set(heard) == Set(expected))
            #expect(!listener.events.contains { if case .participantLeft = $0 { true } else { false } })
        }
        for old in dead { #expect(try old.closeCode() == 4104) }
        try Patience.until("dead connections are closed") { try gateway.value(Counter(name: "patchbay_connections")) == 6 }
        let metrics = try gateway.metrics()
        #expect(metrics.value(.participants) == 6)
        #expect(metrics.value(.participantsAway) == 0)
        #expect(metrics.value(Counter(name: "patchbay_tracks")) == 6)
    }

    @Test(arguments: [(0, 0), (0, 1), (1, 0), (1, 1)])
    func publisherResumesUnderItsAliasForSubscribersOnAllShards(from: Int, to: Int) throws {
        let (bob, cid) = (try gateway.join("bob", onShard: 0), try gateway.join("cid", onShard: 1))
        let ann = try gateway.join("ann", onShard: from)
        let track = try ann.publish()
        try ann.say(TestFrame.bytes(track.alias, 0))
        try ann.settle()
        try gateway.loseLine(of: ann)
        let back = try Caller(resuming: ann, on: gateway, shard: to)
        for number in 1..<20 { try back.say(TestFrame.bytes(track.alias, number)) }
        for listener in [bob, cid] {
            for number in 0..<20 { #expect(try listener.frame() == TestFrame.bytes(track.alias, number)) }
        }
        // Subscriptions made and ended afterwards take effect.
        let dan = try gateway.join("dan", onShard: 1)
        try bob.ask(.subscribe(track.sid, subscribed: false))
        try back.say(TestFrame.bytes(track.alias, 20))
        #expect(try dan.frame() == TestFrame.bytes(track.alias, 20))
        #expect(try cid.frame() == TestFrame.bytes(track.alias, 20))
        try bob.settle()
        #expect(bob.frames.isEmpty)
        try back.ask(.unpublish(track.sid))
        #expect(try gateway.value(Counter(name: "patchbay_tracks")) == 0)
    }

    @Test(arguments: [(0, 0), (0, 1), (1, 0), (1, 1)])
    func muteAndHoldSurviveAResume(from: Int, to: Int) throws {
        let bob = try gateway.join("bob", onShard: 1)
        let ann = try gateway.join("ann", onShard: from)
        let track = try ann.publish()
        try ann.ask(.mute(track.sid, muted: true))
        try gateway.loseLine(of: ann)
        var back = try Caller(resuming: ann, on: gateway, shard: to)
        #expect(back.hello.participant.tracks?.first?.muted == true)
        try back.say(TestFrame.bytes(track.alias, 0))
        try back.ask(.hold(true))
        try back.ask(.mute(track.sid, muted: false))
        try gateway.loseLine(of: back)
        back = try Caller(resuming: back, on: gateway, shard: from)
        try back.say(TestFrame.bytes(track.alias, 1))
        try back.ask(.hold(false))
        try back.say(TestFrame.bytes(track.alias, 2))
        #expect(try bob.frame() == TestFrame.bytes(track.alias, 2))
        let metrics = try gateway.metrics()
        #expect(metrics.value(.dropped("muted")) == 1)
        #expect(metrics.value(.dropped("held")) == 1)
    }

    @Test(arguments: [0, 1])
    func framesToALostConnectionAreDroppedAndCounted(shard: Int) throws {
        let bob = try gateway.join("bob")
        let voice = try bob.publish()
        let ann = try gateway.join("ann", onShard: shard)
        try gateway.loseLine(of: ann)
        for number in 0..<5 { try bob.say(TestFrame.bytes(voice.alias, number)) }
        try Patience.until("they are dropped") { try gateway.value(.dropped("away")) == 5 }
        let back = try Caller(resuming: ann, on: gateway, shard: shard)
        try bob.say(TestFrame.bytes(voice.alias, 5))
        #expect(TestFrame.sequence(of: try back.frame()) == 5)
    }

    @Test(arguments: [0, 1])
    func othersAreNotifiedOfLossAndResume(shard: Int) throws {
        let bob = try gateway.join("bob")
        let ann = try gateway.join("ann", onShard: shard)
        let back = try Caller(resuming: ann, on: gateway, shard: 0)
        #expect(try ann.closeCode() == 4104)
        try bob.settle()
        #expect(bob.events.words == ["participantJoined", "agentJoined"], "a replaced connection that was never lost is not announced")
        try gateway.loseLine(of: back)
        _ = try Caller(resuming: back, on: gateway, shard: shard)
        let changes = try (0..<2).map { _ in
            try bob.event("a change") { if case .participantUpdated(_, let state) = $0 { state } else { nil } }
        }
        #expect(changes == [.reconnecting, .connected])
    }

    @Test func silentConnectionCanBeResumed() throws {
        let ann = try gateway.join("ann", onShard: 1)
        ann.socket.isPolite = false
        let bob = try gateway.join("bob")
        let deadline = ContinuousClock.now + .seconds(25)
        while try gateway.away() == 0, ContinuousClock.now < deadline { try bob.takeAll(within: .milliseconds(200)) }
        #expect(try gateway.away() == 1)
        let back = try Caller(resuming: ann, on: gateway)
        #expect(back.hello.resumed == true)
    }

    @Test func replayOfAMegabyteIsNotASlowConsumer() throws {
        let bob = try gateway.join("bob")
        let ann = try gateway.join("ann", onShard: 1)
        try gateway.loseLine(of: ann)
        let payload = String(repeating: "a", count: 60_000)
        for _ in 0..<16 { try bob.ask(.sendData(DataMessage(topic: "t", payload: .text(payload)))) }
        let back = try Caller(resuming: ann, on: gateway, receiveBuffer: 4_096)
        #expect(back.hello.resumed == true)
        #expect(back.events.count == 16)
        try back.settle()
    }
}

extension Event {
    fileprivate var isOfTalk: Bool {
        switch self {
        case .talkStarted, .talkStopped, .speakersChanged, .stats, .participantJoined, .agentJoined, .trackPublished, .silence: true
        default: false
        }
    }
}

extension [Event] {
    fileprivate var words: [String] {
        map { String(String(describing: $0).prefix { $0 != "(" }) }.filter { $0 != "stats" }
    }
}
