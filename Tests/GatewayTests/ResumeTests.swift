import Engine
import Foundation
import Gateway
import Identity
import Testing
import Wire

/// A socket is lost and another one takes its place: on the same thread or on another, and at home or not.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct ResumeTests {
    private let gateway = try! TestGateway { $0.room.resumeWindow = .seconds(20) }
    private static let ann = Identity(text: "ann")

    /// Of kind agent, for which late is better than lost: that this process is late itself must not look like a loss.
    private func join(_ identity: String, onShard shard: Int = 0) throws -> Caller {
        try Caller(gateway, room: "r", identity: identity, shard: shard) { $0.kind = .agent }
    }

    private func away() throws -> Double { try gateway.value(.participantsAway) }

    private func loseLine(of caller: Caller) throws {
        caller.socket.socket.reset()
        try Patience.until("the gateway knows") { try away() == 1 }
    }

    // MARK: Back

    /// How a line may end.
    enum Kill: CaseIterable {
        case reset, closed, leftHalfOpen
    }

    @Test(arguments: [[0], [1], [0, 1], [1, 0, 0, 1, 1]])
    func aHundredKillsInOneCallLoseNoEvent(shards: [Int]) throws {
        let bob = try join("bob")
        let voice = try bob.publish()
        var ann = try join("ann", onShard: shards[0])
        let track = try ann.publish()
        let sid = ann.hello.participant.sid
        var (told, sent) = (0, 0)
        /// Data that came, in order; `sent` numbers were sent.
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
            // Both hear each other again at once.
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
        try Patience.until("no dead line is left") { try gateway.value(Counter(name: "patchbay_connections")) == 2 }
        #expect(bob.events.allSatisfy { if case .participantUpdated = $0 { true } else { $0.isOfTalk } }, "\(bob.events)")
    }

    @Test(arguments: [[0], [1], [0, 1]])
    func aCallGoesOnAroundAHundredKills(shards: [Int]) throws {
        let speaker = try TalkingCaller(gateway, room: "r", identity: "bob", shard: 0)
        var ann = try join("ann", onShard: shards[0])
        speaker.start()
        var numbers: [Int] = []
        var frames: [(number: Int, at: ContinuousClock.Instant)] = []
        var downtimes: [ClosedRange<ContinuousClock.Instant>] = []
        func note() {
            for case .data(_, _, .text(let number)) in ann.events { numbers.append(Int(number) ?? -1) }
            for frame in ann.frames { frames.append((TestFrame.sequence(of: frame.bytes), frame.at)) }
            ann.events.removeAll()
            ann.frames.removeAll()
        }
        for round in 0..<100 {
            let until = ContinuousClock.now + .milliseconds(40)
            while ContinuousClock.now < until { try ann.takeAll(within: .milliseconds(5)) }
            let lostAt = ContinuousClock.now
            if round.isMultiple(of: 2) { ann.socket.socket.reset() }
            note()
            ann = try Caller(resuming: ann, on: gateway, shard: shards[round % shards.count])
            try #require(ann.hello.resumed == true)
            downtimes.append(lostAt...ContinuousClock.now)
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
        // What was on its way when the line broke had been sent a little before.
        let missing = report.indices.filter { number in
            let isExcused = downtimes.contains { $0.lowerBound - .milliseconds(250) <= report[number] && report[number] <= $0.upperBound }
            return number > (frames.first?.number ?? 0) && !heard.contains(number) && !isExcused
        }
        #expect(missing.isEmpty, "gaps where there was a line: \(missing)")
        #expect(heard.count > 100)
        #expect(try gateway.value(.resumed("resumed")) == 100)
    }

    @Test(arguments: 0..<5)
    func aRoomFullOfLossesEndsWithEverybodyHearingEverybody(seed: Int) throws {
        let gateway = try TestGateway {
            $0.shardCount = 3
            $0.room.resumeWindow = .seconds(20)
        }
        var random = SeededBytes(seed: UInt64(seed))
        var callers = try (0..<6).map { number in
            try Caller(gateway, room: "r", identity: "caller \(number)", shard: number % 3) { $0.kind = .agent }
        }
        let tracks = try callers.map { try $0.publish() }
        var dead: [Caller] = []
        for _ in 0..<60 {
            let one = Int(random.next() % 6)
            // Read what has come, or too much may have been missed some day.
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
        try Patience.until("no dead line is left") { try gateway.value(Counter(name: "patchbay_connections")) == 6 }
        let metrics = try gateway.metrics()
        #expect(metrics.value(.participants) == 6)
        #expect(metrics.value(.participantsAway) == 0)
        #expect(metrics.value(Counter(name: "patchbay_tracks")) == 6)
    }

    @Test(arguments: [(0, 0), (0, 1), (1, 0), (1, 1)])
    func aPublisherGoesOnUnderItsAliasForListenersEverywhere(from: Int, to: Int) throws {
        let (bob, cid) = (try join("bob", onShard: 0), try join("cid", onShard: 1))
        let ann = try join("ann", onShard: from)
        let track = try ann.publish()
        try ann.say(TestFrame.bytes(track.alias, 0))
        try ann.settle()
        try loseLine(of: ann)
        let back = try Caller(resuming: ann, on: gateway, shard: to)
        for number in 1..<20 { try back.say(TestFrame.bytes(track.alias, number)) }
        for listener in [bob, cid] {
            for number in 0..<20 { #expect(try listener.frame() == TestFrame.bytes(track.alias, number)) }
        }
        // Who comes later hears it too, and who goes hears it no more.
        let dan = try join("dan", onShard: 1)
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
    func whatWasMutedAndHeldIsSoStill(from: Int, to: Int) throws {
        let bob = try join("bob", onShard: 1)
        let ann = try join("ann", onShard: from)
        let track = try ann.publish()
        try ann.ask(.mute(track.sid, muted: true))
        try loseLine(of: ann)
        var back = try Caller(resuming: ann, on: gateway, shard: to)
        #expect(back.hello.participant.tracks?.first?.muted == true)
        try back.say(TestFrame.bytes(track.alias, 0))
        try back.ask(.hold(true))
        try back.ask(.mute(track.sid, muted: false))
        try loseLine(of: back)
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
    func whatIsSaidToWhoIsAwayIsDroppedAndCounted(shard: Int) throws {
        let bob = try join("bob")
        let voice = try bob.publish()
        let ann = try join("ann", onShard: shard)
        try loseLine(of: ann)
        for number in 0..<5 { try bob.say(TestFrame.bytes(voice.alias, number)) }
        try Patience.until("they are dropped") { try gateway.value(.dropped("away")) == 5 }
        let back = try Caller(resuming: ann, on: gateway, shard: shard)
        try bob.say(TestFrame.bytes(voice.alias, 5))
        #expect(TestFrame.sequence(of: try back.frame()) == 5)
    }

    @Test(arguments: [0, 1])
    func theOthersSeeItGoAndComeAndAnOldSocketIsClosed(shard: Int) throws {
        let bob = try join("bob")
        let ann = try join("ann", onShard: shard)
        let back = try Caller(resuming: ann, on: gateway, shard: 0)
        #expect(try ann.closeCode() == 4104)
        try bob.settle()
        #expect(bob.events.words == ["participantJoined", "agentJoined"], "of a line that was never missed nobody is told")
        try loseLine(of: back)
        _ = try Caller(resuming: back, on: gateway, shard: shard)
        let changes = try (0..<2).map { _ in
            try bob.event("a change") { if case .participantUpdated(_, let state) = $0 { state } else { nil } }
        }
        #expect(changes == [.reconnecting, .connected])
    }

    @Test func aLineThatFellSilentMayBeTakenUpAgain() throws {
        let ann = try join("ann", onShard: 1)
        ann.socket.isPolite = false
        let bob = try join("bob")
        let deadline = ContinuousClock.now + .seconds(25)
        while try away() == 0, ContinuousClock.now < deadline { try bob.takeAll(within: .milliseconds(200)) }
        let back = try Caller(resuming: ann, on: gateway)
        #expect(back.hello.resumed == true)
    }

    @Test func aMegabyteOfReplayIsNoSignOfASlowConsumer() throws {
        let bob = try join("bob")
        let ann = try join("ann", onShard: 1)
        try loseLine(of: ann)
        let payload = String(repeating: "a", count: 60_000)
        for _ in 0..<16 { try bob.ask(.sendData(DataMessage(topic: "t", payload: .text(payload)))) }
        let back = try Caller(resuming: ann, on: gateway, receiveBuffer: 4_096)
        #expect(back.hello.resumed == true)
        #expect(back.events.count == 16)
        try back.settle()
    }

    // MARK: Not back

    @Test(arguments: [0, 1])
    func whoComesTooLateJoinsAfresh(shard: Int) throws {
        let gateway = try TestGateway { $0.room.resumeWindow = .milliseconds(300) }
        let bob = try Caller(gateway, room: "r", identity: "bob", shard: 0)
        let ann = try Caller(gateway, room: "r", identity: "ann", shard: shard)
        ann.socket.socket.reset()
        try bob.await(.participantLeft(Self.ann, reason: .signalClose))
        let late = try Caller(resuming: ann, on: gateway, shard: shard)
        #expect(late.hello.resumed == false)
        #expect(late.hello.participant.sid != ann.hello.participant.sid)
        #expect(try gateway.value(.resumed("refused")) == 1)
        #expect(try gateway.value(.participantsAway) == 0)
        #expect(try gateway.value(.participants) == 2)
    }

    @Test(arguments: [(0, 0), (0, 1), (1, 0), (1, 1)])
    func whoMissedTooMuchJoinsAfreshOnTheSameSocket(from: Int, to: Int) throws {
        let bob = try join("bob")
        let ann = try join("ann", onShard: from)
        let track = try ann.publish()
        try loseLine(of: ann)
        for number in 0..<257 {
            try bob.socket.send(text: #"{"type":"text.send","data":{"text":"\#(number)"}}"#)
        }
        try bob.settle()
        let back = try Caller(resuming: ann, on: gateway, shard: to)
        #expect(back.hello.resumed == false)
        #expect(back.hello.participant.sid != ann.hello.participant.sid)
        try bob.await(.trackUnpublished(track.sid, of: Self.ann))
        try bob.await(.participantLeft(Self.ann, reason: .duplicateIdentity))
        // It is there like anybody.
        let new = try back.publish()
        try back.say(TestFrame.bytes(new.alias, 0))
        #expect(try bob.frame() == TestFrame.bytes(new.alias, 0))
        #expect(try gateway.value(.resumed("missed")) == 1)
        #expect(try gateway.value(.participants) == 2)
        #expect(try away() == 0)
        // And may resume from here.
        try loseLine(of: back)
        #expect(try Caller(resuming: back, on: gateway, shard: from).hello.resumed == true)
    }

    @Test func anEventThatNeverWasIsNoPlaceToGoOnFrom() throws {
        let ann = try join("ann")
        let back = try Caller(resuming: ann, on: gateway, lastSeq: .max - 10)
        #expect(back.hello.resumed == false)
    }

    @Test func anothersTokenTakesNobodysPlace() throws {
        let bob = try join("bob")
        let ann = try join("ann", onShard: 1)
        let eve = try Caller(resuming: ann, on: gateway, shard: 1, identity: "eve")
        #expect(eve.hello.resumed == false)
        #expect(eve.hello.participant.identity.text == "eve")
        try ann.settle()
        #expect(ann.ending == nil)
        #expect(try Caller(resuming: ann, on: gateway).hello.resumed == true)
        try bob.settle()
    }

    @Test func aTokenIsGoodOnce() throws {
        let ann = try join("ann")
        let back = try Caller(resuming: ann, on: gateway, shard: 1)
        // The pong that tells that `hello` came goes before the answer to this.
        try back.settle()
        let again = try Caller(resuming: ann, on: gateway, shard: 0)
        #expect(again.hello.resumed == false)
        #expect(try back.closeCode() == 4104)
        #expect(try gateway.value(.resumed("refused")) == 1)
    }

    @Test(arguments: [0, 1])
    func aTokenIsGoodUntilTheNextOneHasArrived(shard: Int) throws {
        let bob = try join("bob")
        let ann = try join("ann", onShard: 1)
        for round in 0..<30 {
            // Its line breaks again before it has read its `hello`.
            ann.socket.socket.reset()
            let socket = try ann.beginToResume(on: gateway, shard: (round + shard) % 2)
            if round % 2 == 0 { try Patience.until("it is back") { try gateway.value(.resumed("resumed")) == Double(round + 1) } }
            socket.socket.reset()
            try bob.ask(.sendText(TextMessage(text: "\(round)")))
        }
        let back = try Caller(resuming: ann, on: gateway, shard: shard)
        #expect(back.hello.resumed == true)
        #expect(back.events.texts == (0..<30).map(String.init))
        try Patience.until("two are there") { try gateway.value(.participants) == 2 && away() == 0 }
    }

    @Test(arguments: 0..<10)
    func ofTwoThatRaceTheNewestWins(_: Int) throws {
        let bob = try join("bob")
        let ann = try join("ann", onShard: 1)
        ann.socket.socket.reset()
        let sockets = try (0..<2).map { try ann.beginToResume(on: gateway, shard: $0) }
        let callers = try sockets.map { try Caller(on: $0, goingOnAfter: ann.lastSeq) }
        // Whether the second one is a resume, too, depends on how far the first one was.
        #expect(callers.contains { $0.hello.resumed == true })
        try Patience.until("one is closed") {
            for caller in callers { try caller.takeAll(within: .milliseconds(10)) }
            return callers.contains { $0.ending != nil }
        }
        #expect(callers.compactMap(\.ending) == [.close(4104, "duplicate identity")])
        try Patience.until("two are there") { try gateway.value(.participants) == 2 && away() == 0 }
        try bob.settle()
    }

    @Test(arguments: ["leave", "close"])
    func whoLeftInGoodOrderDoesNotComeBack(how: String) throws {
        let bob = try join("bob")
        let ann = try join("ann", onShard: 1)
        if how == "leave" { try ann.socket.send(text: #"{"type":"leave"}"#) } else { try ann.socket.send(.close(1001)) }
        try bob.await(.participantLeft(Self.ann, reason: .clientInitiated))
        #expect(try Caller(resuming: ann, on: gateway).hello.resumed == false)
    }

    @Test(arguments: [0, 1])
    func aDrainWaitsForNobodyWhoIsAway(shard: Int) async throws {
        let gateway = try TestGateway {
            $0.room.resumeWindow = .seconds(20)
            $0.drainTimeout = .seconds(60)
        }
        let bob = try Caller(gateway, room: "r", identity: "bob", shard: 0)
        let ann = try Caller(gateway, room: "r", identity: "ann", shard: shard)
        ann.socket.socket.reset()
        try Patience.until("the gateway knows") { try gateway.value(.participantsAway) == 1 }
        gateway.gateway.drain()
        try bob.await(.participantLeft(Self.ann, reason: .signalClose))
        try bob.socket.send(text: #"{"type":"leave"}"#)
        try await gateway.ended()
    }

    @Test(arguments: [0, 1])
    func whoIsAwayMayBeRemovedAndItsSeatIsFree(shard: Int) throws {
        let bob = try join("bob")
        for _ in 0..<20 {
            let ann = try join("ann", onShard: shard)
            try loseLine(of: ann)
            let token = TestToken.administering {
                $0.room = "r"
                $0.roomAdmin = true
            }
            let ask = HTTPAsk(
                method: "DELETE", path: "/v1/rooms/r/participants/ann",
                fields: [("Authorization", "Bearer " + token), ("Connection", "close")])
            #expect(try ask.answer(port: gateway.gateway.shardPorts[0])?.status == 200)
            try bob.await(.participantLeft(Self.ann, reason: .participantRemoved))
            try Patience.until("nobody is away") { try away() == 0 }
        }
        #expect(try gateway.value(.participants) == 1)
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
    fileprivate var texts: [String] { compactMap { if case .text(_, _, _, let text) = $0 { text } else { nil } } }

    fileprivate var words: [String] {
        map { String(String(describing: $0).prefix { $0 != "(" }) }.filter { $0 != "stats" }
    }
}
