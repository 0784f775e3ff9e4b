import Backend
import Engine
import Gateway
import Identity
import Testing
import Wire

/// When a session cannot be resumed: late, expired or foreign tokens, too many missed events, ended sessions.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct ResumeRefusalTests {
    private let gateway = try! TestGateway { $0.room.resumeWindow = .seconds(20) }
    private static let ann = Identity(text: "ann")

    @Test(arguments: [0, 1])
    func resumeAfterTheWindowJoinsAfresh(shard: Int) throws {
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
    func resumeWithTooManyMissedEventsJoinsAfresh(from: Int, to: Int) throws {
        let (bob, cid) = (try gateway.join("bob"), try gateway.join("cid"))
        let ann = try gateway.join("ann", onShard: from)
        let track = try ann.publish()
        try gateway.loseLine(of: ann)
        // Two senders, because one may not send as many requests at once.
        for number in 0..<257 {
            let sender = number.isMultiple(of: 2) ? bob : cid
            try sender.socket.send(text: #"{"type":"text.send","data":{"text":"\#(number)"}}"#)
        }
        for sender in [bob, cid] { try sender.settle() }
        let back = try Caller(resuming: ann, on: gateway, shard: to)
        #expect(back.hello.resumed == false)
        #expect(back.hello.participant.sid != ann.hello.participant.sid)
        try bob.await(.trackUnpublished(track.sid, of: Self.ann))
        try bob.await(.participantLeft(Self.ann, reason: .duplicateIdentity))
        // It is a participant like any other.
        let new = try back.publish()
        try back.say(TestFrame.bytes(new.alias, 0))
        #expect(try bob.frame() == TestFrame.bytes(new.alias, 0))
        #expect(try gateway.value(.resumed("missed")) == 1)
        #expect(try gateway.value(.participants) == 3)
        #expect(try gateway.away() == 0)
        // It can resume from here.
        try gateway.loseLine(of: back)
        #expect(try Caller(resuming: back, on: gateway, shard: from).hello.resumed == true)
    }

    @Test func resumeAfterAnUnknownEventJoinsAfresh() throws {
        let ann = try gateway.join("ann")
        let back = try Caller(resuming: ann, on: gateway, lastSeq: .max - 10)
        #expect(back.hello.resumed == false)
    }

    @Test func resumeTokenOfAnotherIdentityIsRefused() throws {
        let bob = try gateway.join("bob")
        let ann = try gateway.join("ann", onShard: 1)
        let eve = try Caller(resuming: ann, on: gateway, shard: 1, identity: "eve")
        #expect(eve.hello.resumed == false)
        #expect(eve.hello.participant.identity.text == "eve")
        try ann.settle()
        #expect(ann.ending == nil)
        #expect(try Caller(resuming: ann, on: gateway).hello.resumed == true)
        try bob.settle()
    }

    @Test func resumeTokenCanBeUsedOnce() throws {
        let ann = try gateway.join("ann")
        let back = try Caller(resuming: ann, on: gateway, shard: 1)
        // The pong that confirms `hello` precedes the reply to this.
        try back.settle()
        let again = try Caller(resuming: ann, on: gateway, shard: 0)
        #expect(again.hello.resumed == false)
        #expect(try back.closeCode() == 4104)
        #expect(try gateway.value(.resumed("refused")) == 1)
    }

    @Test(arguments: [0, 1])
    func resumeTokenIsValidUntilItsSuccessorIsReceived(shard: Int) throws {
        let bob = try gateway.join("bob")
        let ann = try gateway.join("ann", onShard: 1)
        for round in 0..<30 {
            // The connection breaks again before `hello` is read.
            ann.socket.socket.reset()
            let socket = try ann.beginToResume(on: gateway, shard: (round + shard) % 2)
            if round % 2 == 0 { try Patience.until("it is back") { try gateway.value(.resumed("resumed")) == Double(round + 1) } }
            socket.socket.reset()
            try bob.ask(.sendText(TextMessage(text: "\(round)")))
        }
        let back = try Caller(resuming: ann, on: gateway, shard: shard)
        #expect(back.hello.resumed == true)
        #expect(back.events.texts == (0..<30).map(String.init))
        try Patience.until("two are there") { try gateway.value(.participants) == 2 && gateway.away() == 0 }
    }

    @Test(arguments: 0..<10)
    func newestOfTwoRacingResumesWins(_: Int) throws {
        let bob = try gateway.join("bob")
        let ann = try gateway.join("ann", onShard: 1)
        ann.socket.socket.reset()
        let sockets = try (0..<2).map { try ann.beginToResume(on: gateway, shard: $0) }
        // The losing connection may be closed before its `hello`.
        let callers = try sockets.compactMap { socket in
            do {
                return try Caller(on: socket, goingOnAfter: ann.lastSeq)
            } catch let ending as NotGreeted where ending.incoming == .close(4104, "duplicate identity") {
                return nil
            }
        }
        if callers.count == 2 {
            // Whether the second one resumes too depends on how far the first one got.
            #expect(callers.contains { $0.hello.resumed == true })
            try Patience.until("one is closed") {
                for caller in callers { try caller.takeAll(within: .milliseconds(10)) }
                return callers.contains { $0.ending != nil }
            }
            #expect(callers.compactMap(\.ending) == [.close(4104, "duplicate identity")])
        }
        #expect(callers.count { $0.ending == nil } == 1)
        try Patience.until("two are there") { try gateway.value(.participants) == 2 && gateway.away() == 0 }
        try bob.settle()
    }

    @Test(arguments: ["leave", "close"])
    func deliberateLeaveCannotBeResumed(how: String) throws {
        let bob = try gateway.join("bob")
        let ann = try gateway.join("ann", onShard: 1)
        if how == "leave" { try ann.socket.send(text: #"{"type":"leave"}"#) } else { try ann.socket.send(.close(1001)) }
        try bob.await(.participantLeft(Self.ann, reason: .clientInitiated))
        #expect(try Caller(resuming: ann, on: gateway).hello.resumed == false)
    }

    @Test(arguments: [0, 1])
    func drainDoesNotWaitForLostConnections(shard: Int) async throws {
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
    func removingALostParticipantFreesItsSlot(shard: Int) throws {
        let bob = try gateway.join("bob")
        for _ in 0..<20 {
            let ann = try gateway.join("ann", onShard: shard)
            try gateway.loseLine(of: ann)
            let token = TestToken.administering {
                $0.room = "r"
                $0.roomAdmin = true
            }
            let ask = HTTPAsk(
                method: "DELETE", path: "/v1/rooms/r/participants/ann",
                fields: [("Authorization", "Bearer " + token), ("Connection", "close")])
            #expect(try ask.answer(port: gateway.gateway.shardPorts[0])?.status == 200)
            try bob.await(.participantLeft(Self.ann, reason: .participantRemoved))
            try Patience.until("nobody is away") { try gateway.away() == 0 }
        }
        #expect(try gateway.value(.participants) == 1)
    }
}

extension [Event] {
    fileprivate var texts: [String] { compactMap { if case .text(_, _, _, let text) = $0 { text } else { nil } } }
}
