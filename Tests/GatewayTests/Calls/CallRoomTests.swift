import Backend
import Engine
import Foundation
import Gateway
import Identity
import Testing
import Wire

/// A call and its room: admission, hold and mute, and how they end together.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct CallRoomTests {
    private struct Talk {
        let node: CallTestGateway
        let (anns, bobs): (TestDevice, TestDevice)
        let (atAnns, atBobs): (CallReply, CallReply)

        var id: CallID { atAnns.id }

        init(_ settings: CallSettings = CallSettings()) async throws {
            node = try CallTestGateway(settings: settings)
            let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
            (anns, bobs) = (try ann.device(), try bob.device())
            atAnns = try anns.start(bob.party)
            atBobs = try bobs.ask(.answer(atAnns.id))
        }

        func enter(shards: [Int] = [0, 1]) throws -> (Caller, Caller) {
            (try atAnns.join(node.gateway, shard: shards[0]), try atBobs.join(node.gateway, shard: shards[1]))
        }
    }

    @Test func leavingTheCallRemovesFromTheRoomForGood() async throws {
        let node = try CallTestGateway()
        var users: [TestUser] = []
        for name in ["ann", "bob", "cat"] { users.append(try await node.user(name)) }
        let devices = try users.map { try $0.device() }
        let call = try devices[0].start(users[1].party, users[2].party)
        let passes = [call] + (try devices[1...].map { try $0.ask(.answer(call.id)) })
        let callers = try passes.map { try $0.join(node.gateway) }
        try devices[1].ask(.hangUp(call.id))
        #expect(try callers[1].closeCode() == 4103)
        let refused = try #require(
            try HTTPConnection(node.gateway).answer(to: .upgrade(token: passes[1].livekitToken ?? "")))
        #expect(refused.status == 403)
        #expect(refused.code == "call_ended")
        #expect(try passes[2].join(node.gateway).hello.participants.count == 1)
    }

    @Test func roomEndsWithTheCall() async throws {
        let talk = try await Talk()
        let (ann, bob) = try talk.enter()
        try talk.bobs.ask(.hangUp(talk.id))
        #expect(try talk.anns.event(.ended).call.status == .completed)
        #expect(try ann.closeCode() == 4102)
        #expect(try bob.closeCode() == 4102)
        let refused = try #require(
            try HTTPConnection(talk.node.gateway).answer(to: .upgrade(token: talk.atAnns.livekitToken ?? "")))
        #expect(refused.status == 403)
    }

    @Test func callEndsWithTheRoom() async throws {
        let talk = try await Talk()
        let callers = try talk.enter()
        #expect(await talk.node.gateway.gateway.rooms.attempt(.close(.roomDeleted), in: talk.atAnns.roomName ?? ""))
        #expect(try talk.anns.event(.ended).call.status == .completed)
        #expect(try talk.bobs.event(.ended).call.status == .completed)
        #expect(!talk.anns.events.contains { $0.kind == .left })
        withExtendedLifetime(callers) {}
    }

    @Test func leavingTheRoomHangsUp() async throws {
        let talk = try await Talk()
        let (ann, bob) = try talk.enter()
        try bob.socket.send(text: #"{"type":"leave","data":{}}"#)
        #expect(try talk.anns.event(.left).by == .user(talk.bobs.hello.user))
        #expect(try talk.anns.event(.ended).call.status == .completed)
        #expect(try ann.closeCode() == 4102)
    }

    @Test func answeringWithoutJoiningTheRoomFails() async throws {
        let node = try CallTestGateway(settings: CallSettings(arrivalTime: .milliseconds(300)))
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let (anns, bobs) = (try ann.device(), try bob.device())
        let call = try anns.start(bob.party)
        // Before the answer, from which on the time counts.
        let caller = try call.join(node.gateway)
        try bobs.ask(.answer(call.id))
        #expect(try anns.event(.failed).by == bob.party)
        #expect(try caller.closeCode() == 4102)
    }

    @Test func joiningTheRoomInTimeKeepsTheCall() async throws {
        let talk = try await Talk(CallSettings(arrivalTime: .seconds(3)))
        let (ann, bob) = try talk.enter()
        // Longer than the time allowed for joining.
        let end = ContinuousClock.now + .milliseconds(3_300)
        while ContinuousClock.now < end { try bob.takeAll(within: .milliseconds(100)) }
        try ann.settle()
        #expect(try talk.anns.ask(.mute(talk.id, muted: false)).call?.status == .answered)
    }

    @Test(arguments: [[0, 0], [0, 1]])
    func holdStopsMediaInBothDirections(shards: [Int]) async throws {
        let talk = try await Talk()
        let (ann, bob) = try talk.enter(shards: shards)
        let (anns, bobs) = (try ann.publish(), try bob.publish())
        try talk.bobs.ask(.hold(talk.id, held: true))
        try talk.anns.event(.held)
        try ann.await(.callHeld(by: talk.bobs.hello.user))
        try bob.await(.callHeld(by: talk.bobs.hello.user))
        try ann.say(TestFrame.bytes(anns.alias, 1))
        try bob.say(TestFrame.bytes(bobs.alias, 1))
        try ann.settle()
        try bob.settle()
        try talk.bobs.ask(.hold(talk.id, held: false))
        try talk.anns.event(.resumed)
        try ann.await(.callResumed(by: talk.bobs.hello.user))
        try bob.await(.callResumed(by: talk.bobs.hello.user))
        try ann.say(TestFrame.bytes(anns.alias, 2))
        try bob.say(TestFrame.bytes(bobs.alias, 2))
        #expect(TestFrame.sequence(of: try ann.frame()) == 2)
        #expect(TestFrame.sequence(of: try bob.frame()) == 2)
    }

    @Test func holdAppliesToALaterJoin() async throws {
        let talk = try await Talk()
        try talk.bobs.ask(.hold(talk.id, held: true))
        let (ann, bob) = try talk.enter()
        try ann.await(.callHeld(by: talk.bobs.hello.user))
        withExtendedLifetime(bob) {}
    }

    @Test(arguments: [[0, 0], [0, 1]])
    func roomIsNotifiedOfMutes(shards: [Int]) async throws {
        let talk = try await Talk()
        let (ann, bob) = try talk.enter(shards: shards)
        try talk.bobs.ask(.mute(talk.id, muted: true))
        try ann.await(.callMuted(by: talk.bobs.hello.user))
        try bob.await(.callMuted(by: talk.bobs.hello.user))
        try talk.bobs.ask(.mute(talk.id, muted: false))
        try ann.await(.callUnmuted(by: talk.bobs.hello.user))
        try bob.await(.callUnmuted(by: talk.bobs.hello.user))
    }

    @Test func muteAppliesToALaterJoin() async throws {
        let talk = try await Talk()
        try talk.bobs.ask(.mute(talk.id, muted: true))
        let (ann, bob) = try talk.enter()
        try ann.await(.callMuted(by: talk.bobs.hello.user))
        try bob.await(.callMuted(by: talk.bobs.hello.user))
        withExtendedLifetime(bob) {}
    }

    @Test func takeoverDoesNotRequireTheOldDeviceToLeaveFirst() async throws {
        let talk = try await Talk()
        let (ann, phone) = try talk.enter()
        let car = try await talk.node.user("bob").device()
        let joined = try car.ask(.join(talk.id))
        #expect(try talk.bobs.event(.moved).device == car.id)
        #expect(try talk.anns.event(.moved).by == .user(car.hello.user))
        try phone.socket.send(text: #"{"type":"leave","data":{}}"#)
        try ann.await(.participantLeft(car.hello.user, reason: .clientInitiated))
        let inCar = try joined.join(talk.node.gateway)
        #expect(inCar.hello.participants.count == 1)
        #expect(try talk.anns.ask(.mute(talk.id, muted: false)).call?.status == .answered)
    }

    @Test func muteAppliesToTracksPublishedLater() async throws {
        let talk = try await Talk()
        let (ann, bob) = try talk.enter()
        let first = try bob.publish()
        try talk.bobs.ask(.mute(talk.id, muted: true))
        // Bob's shard has applied a change when he learns of it.
        try bob.await(.callMuted(by: talk.bobs.hello.user))
        let second = try bob.publish()
        for alias in [first.alias, second.alias] { try bob.say(TestFrame.bytes(alias, 1)) }
        try bob.settle()
        try talk.bobs.ask(.mute(talk.id, muted: false))
        try bob.await(.callUnmuted(by: talk.bobs.hello.user))
        for alias in [first.alias, second.alias] { try bob.say(TestFrame.bytes(alias, 2)) }
        let heard = [try ann.frame(), try ann.frame()]
        #expect(heard.map(TestFrame.sequence) == [2, 2])
    }

    @Test func undispatchableAssistantFailsAtOnce() async throws {
        let node = try CallTestGateway()
        let device = try await node.user("ann").device()
        let call = try device.start(.assistant("helper"))
        #expect(try device.event(.failed).by == .assistant("helper"))
        #expect(try device.event(.ended, of: call.id).call.status == .failed)
    }

    @Test func assistantAnswersByJoiningTheRoom() async throws {
        let sent = RecordedNames()
        let node = try CallTestGateway(
            collaborators: CallCollaborators(
                server: ServerInfo(version: "tests", node: "n"),
                dispatch: { assistant, call in
                    sent.note("\(assistant) \(call.room)"); return true
                }))
        let device = try await node.user("ann").device()
        let call = try device.start(.assistant("helper"))
        let assistant = try Caller(node.gateway, room: call.roomName ?? "", identity: "assistant:helper") { $0.kind = .agent }
        #expect(try device.event(.answered).by == .assistant("helper"))
        #expect(assistant.hello.room.name == call.roomName)
        // Only now, because the caller is answered before the job is dispatched.
        #expect(sent.names == ["helper \(call.roomName ?? "")"])
    }

    @Test func roomNameWithoutACallIsRefused() async throws {
        let node = try CallTestGateway()
        let token = TestToken.joining("call-CA_madeup", as: "eve")
        let answer = try #require(try HTTPConnection(node.gateway).answer(to: .upgrade(token: token)))
        #expect(answer.status == 403)
        #expect(answer.code == "call_ended")
    }
}
