import Testing
import Wire

@testable import PatchbayClient

struct CallListTests {
    private var calls = CallList()

    init() {
        _ = calls.apply(.hello(Self.hello()))
    }

    private static func hello(_ device: String = "DV_here", calls: [CallInfo] = []) -> CallsHello {
        CallsHello(
            server: ServerInfo(version: "1", node: "n"), user: Identity(text: "me"), device: DeviceID(text: device), calls: calls)
    }

    private static func party(_ name: String) -> CallParty { .user(Identity(text: name)) }

    /// A call from `caller` with two members, after event number `seq`.
    private static func info(
        _ seq: UInt64, _ status: CallStatus, me: CallStatus, bob: CallStatus, caller: String = "bob", device: String? = nil,
        meHeld: Bool = false, bobHeld: Bool = false
    ) -> CallInfo {
        let mine = CallMember(party: party("me"), status: me, held: meHeld, device: device.map(DeviceID.init(text:)))
        let his = CallMember(party: party("bob"), status: bob, held: bobHeld)
        return CallInfo(
            id: CallID(text: "CA_1"), room: "call-CA_1", seq: seq, status: status, caller: party(caller),
            members: caller == "me" ? [mine, his] : [his, mine])
    }

    private static let ringing = info(1, .ringing, me: .ringing, bob: .answered)
    private static let answeredHere = info(2, .answered, me: .answered, bob: .answered, device: "DV_here")

    private mutating func happens(_ kind: CallEvent.Kind, _ info: CallInfo) -> [CallUpdate] { calls.apply(.event(CallEvent(kind, info))) }

    /// Applies an event caused by this user.
    private mutating func take(_ kind: CallEvent.Kind, _ info: CallInfo) -> [CallUpdate] {
        calls.apply(.event(CallEvent(kind, info, by: Self.party("me"))))
    }

    private var state: Call.State? { calls[CallID(text: "CA_1")]?.state }

    @Test mutating func incomingCallIsAnsweredHereAndEnds() {
        guard case .appeared(let call) = happens(.incoming, Self.ringing).first else {
            Issue.record("no call appeared")
            return
        }
        #expect(call.direction == .incoming)
        #expect(state == .connecting)
        _ = calls.apply(.reply(re: 1, CallReply(Self.answeredHere, livekitToken: "t")))
        #expect(state == .active)
        #expect(happens(.answered, Self.answeredHere).isEmpty, "the reply has told it already")
        let over = Self.info(4, .completed, me: .completed, bob: .completed)
        #expect(happens(.ended, over).map(\.ending) == [.completed])
        #expect(calls.calls.isEmpty)
    }

    @Test mutating func callAnsweredElsewhereStopsRinging() {
        _ = happens(.incoming, Self.ringing)
        let elsewhere = Self.info(2, .answered, me: .answered, bob: .answered, device: "DV_car")
        #expect(happens(.answered, elsewhere).map(\.ending) == [.answeredElsewhere])
        #expect(calls.callsElsewhere.map(\.id.text) == ["CA_1"])
        #expect(happens(.held, Self.info(3, .answered, me: .answered, bob: .answered, device: "DV_car", bobHeld: true)).isEmpty)
    }

    @Test mutating func callFromAnotherDeviceIsTakenOver() {
        let elsewhere = Self.info(2, .answered, me: .answered, bob: .answered, device: "DV_car")
        #expect(happens(.answered, elsewhere).isEmpty)
        let reply = CallReply(Self.answeredHere, livekitToken: "t")
        #expect(calls.apply(.reply(re: 1, reply)).count == 1)
        #expect(state == .active)
    }

    @Test mutating func callTakenOverByAnotherDeviceEndsHere() {
        _ = happens(.incoming, Self.ringing)
        _ = happens(.answered, Self.answeredHere)
        let elsewhere = Self.info(3, .answered, me: .answered, bob: .answered, device: "DV_car")
        #expect(happens(.moved, elsewhere).map(\.ending) == [.movedElsewhere])
        #expect(calls.callsElsewhere.map(\.id.text) == ["CA_1"])
        let over = Self.info(4, .completed, me: .completed, bob: .completed)
        #expect(happens(.ended, over).isEmpty, "it ends once")
    }

    @Test mutating func takeoverByHTTPEndsTheCallHere() {
        _ = happens(.incoming, Self.ringing)
        _ = happens(.answered, Self.answeredHere)
        let elsewhere = Self.info(3, .answered, me: .answered, bob: .answered)
        #expect(take(.moved, elsewhere).map(\.ending) == [.movedElsewhere])
    }

    @Test mutating func secondTakeoverByHTTPEndsTheCallHere() {
        _ = calls.apply(CallReply(Self.info(2, .answered, me: .answered, bob: .answered), livekitToken: "t"))
        #expect(state == .active)
        #expect(take(.moved, Self.info(3, .answered, me: .answered, bob: .answered)).map(\.ending) == [.movedElsewhere])
    }

    @Test(arguments: [true, false])
    mutating func callJoinedByHTTPReplyIsHere(answerFirst: Bool) {
        _ = happens(.incoming, Self.ringing)
        _ = happens(.answered, Self.answeredHere)
        let moved = Self.info(3, .answered, me: .answered, bob: .answered)
        if !answerFirst { _ = take(.moved, moved) }
        _ = calls.apply(CallReply(moved, livekitToken: "t"))
        if answerFirst { #expect(take(.moved, moved).isEmpty) }
        #expect(state == .active)
    }

    @Test mutating func callTakenBackIsHereAgain() {
        _ = happens(.incoming, Self.ringing)
        _ = happens(.answered, Self.answeredHere)
        _ = happens(.moved, Self.info(3, .answered, me: .answered, bob: .answered, device: "DV_car"))
        let back = Self.info(4, .answered, me: .answered, bob: .answered, device: "DV_here")
        #expect(calls.apply(.reply(re: 2, CallReply(back, livekitToken: "t"))).count == 1)
        #expect(state == .active)
    }

    @Test mutating func outgoingCallBecomesActive() {
        let started = Self.info(1, .ringing, me: .answered, bob: .ringing, caller: "me", device: "DV_here")
        _ = calls.apply(.reply(re: 1, CallReply(started, livekitToken: "t")))
        #expect(calls.calls.first?.direction == .outgoing)
        #expect(state == .connecting)
        _ = happens(.answered, Self.info(2, .answered, me: .answered, bob: .answered, caller: "me", device: "DV_here"))
        #expect(state == .active)
    }

    @Test mutating func unansweredOutgoingCallEndsWithItsStatus() {
        let started = Self.info(1, .ringing, me: .answered, bob: .ringing, caller: "me", device: "DV_here")
        _ = happens(.started, started)
        let over = Self.info(3, .rejected, me: .rejected, bob: .rejected, caller: "me", device: "DV_here")
        #expect(happens(.ended, over).map(\.ending) == [.rejected])
    }

    @Test mutating func lateHTTPReplyDoesNotRevertTheCall() {
        let started = Self.info(1, .ringing, me: .answered, bob: .ringing, caller: "me")
        #expect(happens(.started, started).isEmpty, "without a device it may be another's")
        #expect(happens(.answered, Self.info(2, .answered, me: .answered, bob: .answered, caller: "me")).isEmpty)
        #expect(calls.apply(CallReply(started, livekitToken: "t")).count == 1)
        #expect(state == .active)
    }

    @Test mutating func httpReplyForAnEndedCallShowsNothing() {
        let started = Self.info(1, .ringing, me: .answered, bob: .ringing, caller: "me")
        _ = happens(.started, started)
        _ = happens(.ended, Self.info(3, .busy, me: .busy, bob: .busy, caller: "me"))
        #expect(calls.apply(CallReply(started, livekitToken: "t")).isEmpty)
        #expect(calls.calls.isEmpty)
    }

    @Test(arguments: [(true, false), (false, true), (true, true)])
    mutating func callIsHeldByEitherSide(_ held: (me: Bool, bob: Bool)) {
        _ = happens(.incoming, Self.ringing)
        _ = happens(.answered, Self.answeredHere)
        let info = Self.info(3, .answered, me: .answered, bob: .answered, device: "DV_here", meHeld: held.me, bobHeld: held.bob)
        _ = happens(.held, info)
        #expect(state == .held)
        #expect(calls.calls.first?.isHeldByUs == held.me)
        #expect(calls.calls.first?.isHeldByOthers == held.bob)
        var resumed = Self.answeredHere
        resumed.seq = 4
        _ = happens(.resumed, resumed)
        #expect(state == .active)
    }

    @Test mutating func olderCallInfoIsIgnored() {
        _ = happens(.incoming, Self.ringing)
        _ = happens(.answered, Self.answeredHere)
        #expect(happens(.incoming, Self.ringing).isEmpty)
        #expect(state == .active)
    }

    @Test mutating func reconnectedChannelKeepsItsCall() {
        _ = happens(.incoming, Self.ringing)
        _ = happens(.answered, Self.answeredHere)
        #expect(calls.apply(.hello(Self.hello("DV_again", calls: [Self.answeredHere]))).isEmpty)
        #expect(state == .active)
    }

    @Test mutating func callEndedWhileDisconnectedIsRemoved() {
        _ = happens(.incoming, Self.ringing)
        #expect(calls.apply(.hello(Self.hello("DV_again"))).map(\.ending) == [.whileAway])
        #expect(calls.calls.isEmpty)
    }

    @Test mutating func ringingCallAppearsWithHello() {
        let updates = calls.apply(.hello(Self.hello("DV_again", calls: [Self.ringing])))
        #expect(updates.count == 1)
        #expect(state == .connecting)
    }

    @Test mutating func conflictErrorUpdatesTheCall() {
        _ = happens(.incoming, Self.ringing)
        let elsewhere = Self.info(2, .answered, me: .answered, bob: .answered, device: "DV_car")
        #expect(calls.apply(.error(re: 1, CallError(.conflict, "late", call: elsewhere))).map(\.ending) == [.answeredElsewhere])
        #expect(happens(.answered, elsewhere).isEmpty, "it ends once")
    }

    @Test mutating func reinvitedCallRingsAgain() {
        _ = happens(.incoming, Self.ringing)
        #expect(happens(.missed, Self.info(2, .answered, me: .timeout, bob: .answered)).map(\.ending) == [.unanswered])
        #expect(happens(.incoming, Self.info(3, .answered, me: .ringing, bob: .answered)).count == 1)
        #expect(state == .connecting)
    }

    @Test mutating func numberOfRememberedCallsIsBounded() {
        for number in 0..<500 {
            var info = Self.ringing
            info.id = CallID(text: "CA_\(number)")
            _ = happens(.incoming, info)
            info.seq = 2
            info.members = info.members.map { CallMember(party: $0.party, status: .cancelled) }
            _ = happens(.ended, info)
        }
        #expect(calls.calls.isEmpty)
        #expect(calls.rememberedCount <= CallList.callsMax)
    }
}

extension CallUpdate {
    fileprivate var ending: CallEnding? {
        if case .ended(_, let ending) = self { ending } else { nil }
    }
}
