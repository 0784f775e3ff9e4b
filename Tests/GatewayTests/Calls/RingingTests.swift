import Backend
import Engine
import Foundation
import Gateway
import Store
import Testing
import Wire

/// Ringing, answering and the resulting events, over real sockets.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct RingingTests {
    @Test func firstDeviceToAnswerWinsAndOthersAreNotified() async throws {
        let node = try CallTestGateway()
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let anns = [try ann.device(shard: 0), try ann.device(shard: 1)]
        let bobs = [try bob.device(shard: 0), try bob.device(shard: 1)]
        let call = try anns[0].start(bob.party)
        #expect(call.livekitToken != nil && call.roomName == "call-\(call.id)" && call.livekitUrl?.hasPrefix("wss://127.0.0.1") == true)
        for device in bobs { try device.event(.incoming, of: call.id) }
        let asked = try bobs.map { try $0.send(.answer(call.id)) }
        let outcomes = try zip(bobs, asked).map { try $0.answer(to: $1) }
        let winners = outcomes.indices.filter { if case .success = outcomes[$0] { true } else { false } }
        #expect(winners.count == 1)
        for case .failure(let refusal) in outcomes {
            #expect(refusal.error.code == .conflict)
            #expect(refusal.call?.status == .answered)
        }
        for device in anns + bobs { #expect(try device.event(.answered, of: call.id).device == bobs[winners[0]].id) }
        #expect(Set((anns + bobs).map { $0.history(of: call.id) }).count == 1)
    }

    @Test func requestsOfADeviceAreAnsweredInOrderWhileTheStoreIsAsked() async throws {
        let node = try CallTestGateway()
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let caller = try ann.device()
        // Bob has no device, so that the store is asked; nobody is unknown.
        let requests: [CallRequest] = [
            .start(CallStart(to: [.user(Identity(text: "nobody"))])), .start(CallStart(to: [bob.party])), .answer(CallID(text: "none")),
            .start(CallStart(to: [bob.party])),
        ]
        let ids = try requests.map { try caller.send($0) }
        let codes = try ids.map { id -> RequestError.Code? in
            if case .failure(let error) = try caller.answer(to: id) { error.error.code } else { nil }
        }
        #expect(codes == [.notFound, nil, .notFound, .conflict])
        #expect(caller.answered == ids)
    }

    /// Otherwise a call that its caller knows could be lost with the gateway.
    @Test func callerLearnsOfItsCallOnceItIsStored() async throws {
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        var collaborators = CallCollaborators(server: ServerInfo(version: "tests", node: "n"))
        collaborators.storeWaitMax = Patience.usual
        let node = try CallTestGateway(collaborators: collaborators, storing: { for await _ in released { return } })
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let (caller, callee) = (try ann.device(), try bob.device())
        let request = try caller.send(.start(CallStart(to: [bob.party])))
        try callee.event(.incoming)
        #expect(throws: DidNotHappen.self) { try caller.socket.next(within: .milliseconds(100)) }
        release.yield()
        let call = try caller.answer(to: request).get()
        try caller.event(.started, of: call.id)
        try caller.ask(.cancel(call.id))
        #expect(try callee.event(.ended, of: call.id).call.status == .cancelled)
    }

    @Test func cancelledCallStopsRinging() async throws {
        let node = try CallTestGateway()
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let (caller, callee) = (try ann.device(), try bob.device())
        let call = try caller.start(bob.party)
        try callee.event(.incoming)
        try caller.ask(.cancel(call.id))
        #expect(try callee.event(.cancelled).by == ann.party)
        #expect(try callee.event(.ended).call.status == .cancelled)
        #expect(try callee.refusal(of: .answer(call.id))?.error.code == .conflict)
    }

    @Test func rejectionIsReportedWithItsReason() async throws {
        let node = try CallTestGateway()
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let (caller, callee, other) = (try ann.device(), try bob.device(), try bob.device())
        let call = try caller.start(bob.party)
        try callee.ask(.reject(call.id, CallRejection(reason: "later")))
        #expect(try caller.event(.rejected).reason == "later")
        #expect(try caller.event(.ended).call.status == .rejected)
        #expect(try other.event(.ended).call.status == .rejected)
    }

    @Test func userInACallIsBusy() async throws {
        let node = try CallTestGateway()
        let (ann, bob, cat) = (try await node.user("ann"), try await node.user("bob"), try await node.user("cat"))
        let (anns, bobs, cats) = (try ann.device(), try bob.device(), try cat.device())
        let call = try anns.start(bob.party)
        try bobs.ask(.answer(call.id))
        let second = try cats.start(bob.party)
        #expect(try cats.event(.ended, of: second.id).call.status == .busy)
        try bobs.ask(.ping(1))
        #expect(bobs.history(of: second.id).isEmpty)
    }

    @Test func unansweredCallTimesOut() async throws {
        let node = try CallTestGateway(settings: CallSettings(ringTime: .milliseconds(300)))
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let (caller, callee) = (try ann.device(), try bob.device())
        let call = try caller.start(bob.party)
        #expect(try callee.event(.missed).by == bob.party)
        #expect(try caller.event(.ended, of: call.id).call.status == .timeout)
    }

    @Test func reconnectingDeviceReceivesTheCurrentCalls() async throws {
        let node = try CallTestGateway()
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let caller = try ann.device()
        let call = try caller.start(bob.party)
        // Bob had no device when the call started.
        let callee = try bob.device()
        #expect(callee.hello.calls.map(\.id) == [call.id])
        #expect(callee.hello.calls.first?.member(bob.party)?.status == .ringing)
        try caller.event(.ringing)
        try callee.ask(.answer(call.id))
        try callee.socket.send(RawFrame(opcode: 8, payload: [0x03, 0xE8]))
        let again = try bob.device()
        #expect(again.hello.calls.map(\.status) == [.answered])
        #expect(again.id != callee.id)
        #expect(try again.ask(.join(call.id)).livekitToken != nil)
    }

    @Test func outsidersLearnNothingOfACall() async throws {
        let node = try CallTestGateway()
        let (ann, bob, eve) = (try await node.user("ann"), try await node.user("bob"), try await node.user("eve"))
        let (caller, stranger) = (try ann.device(), try eve.device())
        let call = try caller.start(bob.party)
        let unknown = CallID(text: "CA_none")
        for request: (CallID) -> CallRequest in [
            { .answer($0) }, { .join($0) }, { .reject($0, CallRejection()) }, { .cancel($0) }, { .hangUp($0) }, { .hold($0, held: true) },
            { .mute($0, muted: true) }, { .invite($0, [eve.party]) },
        ] {
            let refusal = try #require(try stranger.refusal(of: request(call.id)))
            #expect(refusal.error.code == .notFound)
            #expect(try stranger.refusal(of: request(unknown)) == refusal)
        }
        #expect(stranger.events.isEmpty)
    }

    @Test func callChangesAreAnnouncedToWebhooks() async throws {
        let announced = RecordedNames()
        let node = try CallTestGateway(
            collaborators: CallCollaborators(
                server: ServerInfo(version: "tests", node: "n"),
                announcement: {
                    announced.note($0.name); return Announcement()
                }))
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let (caller, callee) = (try ann.device(), try bob.device())
        let call = try caller.start(bob.party)
        try callee.ask(.answer(call.id))
        try caller.ask(.hangUp(call.id))
        try callee.event(.ended)
        // Devices learn of a change before it is announced.
        try Patience.until("the end is announced") { announced.names.last == "call_completed" }
        #expect(
            announced.names == [
                "call_started", "call_ringing", "call_member_joined", "call_member_invited", "call_answered", "call_member_joined",
                "call_member_left", "call_member_left", "call_completed",
            ])
    }
}
