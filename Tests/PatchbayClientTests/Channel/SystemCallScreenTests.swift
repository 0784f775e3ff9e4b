import Foundation
import Testing
import Wire

@testable import PatchbayClient

/// The mapping between a system's call screen and calls, with CallKit's actions and reports.
struct SystemCallScreenTests {
    private var screen = SystemCallScreen()
    private let me = Identity(text: "me")
    private let incoming = CallID(text: "CA_in")
    private let outgoing = CallID(text: "CA_out")

    /// Returns a call with bob, as seen by this device.
    private func call(
        _ id: CallID, _ status: CallStatus, mine: CallStatus, bob: CallStatus, caller: String = "bob", isHere: Bool = false,
        held: Bool = false,
        muted: Bool = false, answeredAt: Int64? = nil
    ) -> Call {
        let info = CallInfo(
            id: id, room: "call-\(id)", seq: 1, status: status, caller: .user(Identity(text: caller)),
            callerName: caller == "bob" ? "Bob" : "",
            members: [
                CallMember(party: .user(me), status: mine, held: held, muted: muted),
                CallMember(party: .user(Identity(text: "bob")), status: bob),
            ], startedAt: 1_000, answeredAt: answeredAt)
        return Call(info: info, user: me, isHere: isHere)
    }

    private var ringing: Call { call(incoming, .ringing, mine: .ringing, bob: .answered) }
    private var answered: Call { call(incoming, .answered, mine: .answered, bob: .answered, isHere: true, answeredAt: 3_000) }
    private var dialled: Call { call(outgoing, .started, mine: .answered, bob: .started, caller: "me", isHere: true) }
    private var rung: Call { call(outgoing, .ringing, mine: .answered, bob: .ringing, caller: "me", isHere: true) }
    private var connected: Call {
        call(outgoing, .answered, mine: .answered, bob: .answered, caller: "me", isHere: true, answeredAt: 5_000)
    }

    private func push(_ id: String = "CA_in") -> [AnyHashable: Any] {
        [
            "aps": [String: String](),
            "call": ["id": id, "uuid": CallID(text: id).uuid, "caller": "bob", "caller_name": "Bob", "metadata": ""],
        ]
    }

    @Test mutating func incomingCallIsReportedOnceAnsweredAndEndedByTheOtherSide() {
        let uuid = ringing.uuid
        #expect(uuid.uuidString.lowercased() == incoming.uuid)
        #expect(screen.apply(.incoming(ringing)) == [.incoming(uuid, SystemCallDisplay(ringing))])
        #expect(screen.apply(.changed(ringing, nil)).isEmpty)
        #expect(screen.perform(.answer(uuid)) == .request(.answer(incoming)))
        #expect(screen.apply(.changed(answered, nil)).isEmpty)
        #expect(screen.perform(.answer(uuid)) == .done, "a repeated action")
        #expect(screen.apply(.ended(answered, .completed)) == [.ended(uuid, .remoteEnded)])
        #expect(screen.calls.isEmpty && screen.perform(.end(uuid)) == .done)
    }

    @Test mutating func endingRejectsARingingCallAndHangsUpAnAnsweredOne() {
        _ = screen.apply(.incoming(ringing))
        #expect(screen.perform(.end(ringing.uuid)) == .request(.reject(incoming)))
        #expect(screen.apply(.ended(ringing, .rejected)).isEmpty, "the system knows what the user did")
        _ = screen.apply(.incoming(answered))
        #expect(screen.perform(.end(answered.uuid)) == .request(.hangUp(incoming)))
        #expect(screen.apply(.ended(answered, .completed)).isEmpty)
    }

    @Test mutating func outgoingCallKeepsTheUUIDOfTheSystem() {
        let uuid = UUID()
        let to: [CallParty] = [.user(Identity(text: "bob"))]
        #expect(screen.perform(.start(uuid, to, callerName: "Me")) == .request(.start(uuid, to, callerName: "Me")))
        #expect(screen.perform(.start(uuid, to, callerName: "Me")) == .refused)
        #expect(screen.started(uuid, as: dialled).reports == [.updated(uuid, SystemCallDisplay(dialled))])
        #expect(screen.apply(.begun(dialled)).isEmpty)
        #expect(screen.apply(.changed(rung, nil)) == [.connecting(uuid, at: Date(timeIntervalSince1970: 1))])
        #expect(screen.apply(.changed(connected, nil)) == [.connected(uuid, at: Date(timeIntervalSince1970: 5))])
        #expect(screen[uuid]?.id == outgoing)
        #expect(screen.apply(.ended(connected, .busy)) == [.ended(uuid, .remoteEnded)])
    }

    @Test mutating func callEndedWhileItIsStartedIsHungUp() {
        let uuid = UUID()
        _ = screen.perform(.start(uuid, [.user(Identity(text: "bob"))], callerName: ""))
        #expect(screen.perform(.end(uuid)) == .done)
        let (reports, request) = screen.started(uuid, as: dialled)
        #expect(reports.isEmpty && request == .hangUp(outgoing))
        #expect(screen.apply(.ended(dialled, .cancelled)).isEmpty)
    }

    @Test mutating func eventsThatOvertakeTheReplyToAStartAreNotAnotherCall() {
        let uuid = UUID()
        _ = screen.perform(.start(uuid, [.user(Identity(text: "bob"))], callerName: ""))
        #expect(screen.apply(.begun(dialled)).isEmpty && screen.apply(.changed(rung, nil)).isEmpty)
        #expect(screen.started(uuid, as: rung).reports.first == .connecting(uuid, at: Date(timeIntervalSince1970: 1)))
        let other = UUID()
        _ = screen.perform(.start(other, [.user(Identity(text: "eve"))], callerName: ""))
        let busy = call(CallID(text: "CA_busy"), .busy, mine: .busy, bob: .busy, caller: "me", isHere: true)
        #expect(screen.apply(.ended(busy, .busy)).isEmpty, "the start fails instead")
        screen.notStarted(other)
        #expect(screen.apply(.changed(connected, nil)) == [.connected(uuid, at: Date(timeIntervalSince1970: 5))])
    }

    @Test mutating func refusedStartLeavesNothing() {
        let uuid = UUID()
        _ = screen.perform(.start(uuid, [.user(Identity(text: "bob"))], callerName: ""))
        screen.notStarted(uuid)
        #expect(screen.perform(.setMuted(uuid, true)) == .refused)
        #expect(screen.perform(.start(uuid, [.user(Identity(text: "bob"))], callerName: "")) != .refused)
    }

    @Test mutating func pushAndChannelMeanTheSameCall() throws {
        let announced = try #require(CallPush(payload: push()))
        #expect(announced.uuid == ringing.uuid && announced.callerName == "Bob")
        #expect(screen.announced(announced) == .incoming(ringing.uuid, SystemCallDisplay(announced)))
        #expect(screen.perform(.answer(ringing.uuid)) == .request(.answer(incoming)), "before the channel is connected")
        #expect(screen.apply(.incoming(ringing)).allSatisfy { if case .incoming = $0 { false } else { true } }, "it is shown already")
        #expect(screen.synchronize(with: [ringing]).isEmpty)
    }

    @Test mutating func announcedCallThatIsOverEndsOnceTheChannelIsConnected() throws {
        let announced = try #require(CallPush(payload: push()))
        _ = screen.announced(announced)
        #expect(screen.synchronize(with: []) == [.ended(announced.uuid, .unanswered)])
        _ = screen.announced(announced)
        #expect(screen.perform(.end(announced.uuid)) == .request(.reject(incoming)))
        #expect(screen.synchronize(with: []).isEmpty)
    }

    @Test mutating func shownCallThatIsOverEndsOnceTheChannelIsConnectedAgain() {
        _ = screen.apply(.incoming(ringing))
        #expect(screen.synchronize(with: [answered]).isEmpty && screen.calls.count == 1)
        #expect(screen.synchronize(with: []) == [.ended(ringing.uuid, .remoteEnded)] && screen.calls.isEmpty)
        // The system has removed a call that its user has ended.
        _ = screen.apply(.incoming(ringing))
        _ = screen.perform(.end(ringing.uuid))
        #expect(screen.synchronize(with: []).isEmpty && screen.calls.isEmpty)
    }

    @Test(
        arguments: [
            [:], ["call": "CA_1"], ["call": [String: String]()], ["call": ["id": "", "caller": "bob"]], ["call": ["id": "CA_1"]],
            ["call": ["id": 7, "caller": "bob"] as [String: any Sendable]], ["call": ["id": "CA_1", "caller": ""]],
        ] as [[String: any Sendable]]) func otherPushesAnnounceNothing(payload: [String: any Sendable])
    {
        #expect(CallPush(payload: payload) == nil)
    }

    @Test mutating func holdMuteAndTonesAreRequestedOnlyWhereTheyChangeSomething() {
        let uuid = answered.uuid
        _ = screen.apply(.incoming(ringing))
        #expect(screen.perform(.setHeld(uuid, true)) == .refused, "nobody has answered")
        #expect(screen.perform(.playDTMF(uuid, "1")) == .refused)
        _ = screen.apply(.changed(answered, nil))
        #expect(screen.perform(.setHeld(uuid, true)) == .request(.hold(incoming, true)))
        #expect(screen.perform(.setHeld(uuid, false)) == .done)
        #expect(screen.perform(.setMuted(uuid, true)) == .request(.mute(incoming, true)))
        #expect(screen.perform(.playDTMF(uuid, "12#")) == .request(.sendDTMF(incoming, "12#")))
        #expect(screen.perform(.playDTMF(uuid, "")) == .refused)
        let held = call(incoming, .answered, mine: .answered, bob: .answered, isHere: true, held: true, muted: true)
        _ = screen.apply(.changed(held, nil))
        #expect(screen.perform(.setHeld(uuid, true)) == .done && screen.perform(.setMuted(uuid, true)) == .done)
        #expect(screen.perform(.setHeld(uuid, false)) == .request(.hold(incoming, false)))
    }

    @Test func endingsAreTheSystemsReasons() {
        let expected: [(CallEnding, SystemCallEnding, SystemCallEnding)] = [
            (.completed, .remoteEnded, .remoteEnded), (.cancelled, .remoteEnded, .remoteEnded),
            (.rejected, .declinedElsewhere, .remoteEnded),
            (.busy, .declinedElsewhere, .remoteEnded), (.unanswered, .unanswered, .unanswered),
            (.answeredElsewhere, .answeredElsewhere, .answeredElsewhere), (.movedElsewhere, .answeredElsewhere, .answeredElsewhere),
            (.failed, .failed, .failed), (.whileAway, .remoteEnded, .remoteEnded),
        ]
        for (ending, incoming, outgoing) in expected {
            #expect(SystemCallEnding(ending, .incoming) == incoming && SystemCallEnding(ending, .outgoing) == outgoing)
        }
    }

    @Test mutating func resetEndsEveryCall() throws {
        let started = UUID()
        _ = screen.apply(.incoming(ringing))
        _ = screen.announced(try #require(CallPush(payload: push("CA_other"))))
        _ = screen.perform(.start(started, [.user(Identity(text: "bob"))], callerName: ""))
        #expect(Set(screen.reset()) == [.reject(incoming), .reject(CallID(text: "CA_other"))])
        #expect(screen.started(started, as: dialled).request == .hangUp(outgoing))
        for action in [SystemCallAction.answer(UUID()), .setHeld(UUID(), true), .setMuted(UUID(), true), .playDTMF(UUID(), "1")] {
            #expect(screen.perform(action) == .refused)
        }
    }
}
