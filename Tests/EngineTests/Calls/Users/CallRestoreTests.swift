import Engine
import Testing
import Wire

/// Calls that another process has left.
struct CallRestoreTests {
    private let start = Instant(nanoseconds: 1_000_000_000)
    private let ann = DeviceID(text: "ann.phone")
    private let bob = DeviceID(text: "bob.phone")
    private var calls: CallStateMachine

    init() { calls = CallStateMachine(seed: 1) }

    private func identity(_ name: String) -> Identity { Identity(text: name) }

    @discardableResult
    private func handle(
        _ input: CallStateMachine.Input, in calls: inout CallStateMachine, after span: Duration = .zero
    ) -> [CallStateMachine.Effect] {
        var effects: [CallStateMachine.Effect] = []
        calls.handle(input, at: start + span, wallClock: 5, into: &effects)
        return effects
    }

    /// The latest stored state of a call of Ann with Bob.
    private func stored(isAnswered: Bool) -> CallInfo {
        var former = CallStateMachine(seed: 2)
        handle(.connected(ann, of: identity("ann")), in: &former)
        handle(.connected(bob, of: identity("bob")), in: &former)
        var effects = handle(.request(.start(CallStart(to: [.user(identity("bob"))])), from: .device(ann, id: 1)), in: &former)
        func record() -> CallInfo? {
            effects.compactMap { if case .record(let record) = $0 { record.call } else { nil } }.last
        }
        guard let call = record()?.id else { preconditionFailure("a call starts") }
        if isAnswered { effects = handle(.request(.answer(call), from: .device(bob, id: 1)), in: &former) }
        return record() ?? former.ongoing(call)!
    }

    private mutating func reconnect(after span: Duration = .seconds(1)) -> [CallStateMachine.Effect] {
        let phone = DeviceID(text: "bob.again")
        return handle(.connected(DeviceID(text: "ann.again"), of: identity("ann")), in: &calls, after: span)
            + handle(.connected(phone, of: identity("bob")), in: &calls, after: span)
    }

    @Test mutating func membersFindTheirCallAndEndIt() {
        let call = stored(isAnswered: true)
        calls.restore([call], at: start)
        let greetings = reconnect().compactMap { if case .greet(_, _, let calls) = $0 { calls.map(\.id) } else { nil } }
        #expect(greetings == [[call.id], [call.id]])
        for name in ["ann", "bob"] { handle(.joinedRoom(call.id, .user(identity(name))), in: &calls, after: .seconds(2)) }
        handle(.deadlinePassed, in: &calls, after: .seconds(120))
        #expect(calls.ongoing(call.id)?.status == .answered, "both are in the room")
        let effects = handle(
            .request(.hangUp(call.id), from: .device(DeviceID(text: "bob.again"), id: 1)), in: &calls, after: .seconds(121))
        let events = effects.compactMap { if case .send(let event, _) = $0 { event } else { nil } }
        #expect(events.map(\.kind) == [.left, .ended])
        #expect(events.allSatisfy { $0.call.seq > call.seq }, "numbers do not repeat")
        #expect(effects.contains(.endRoom(call.id)))
    }

    @Test mutating func memberWhoIsNotSeenInTheRoomLeavesTheCall() {
        let call = stored(isAnswered: true)
        calls.restore([call], at: start)
        handle(.joinedRoom(call.id, .user(identity("ann"))), in: &calls)
        let effects = handle(.deadlinePassed, in: &calls, after: .seconds(31))
        #expect(calls.ongoing(call.id) == nil)
        #expect(effects.contains(.endRoom(call.id)))
    }

    @Test mutating func membersAreOnHoldAndMutedAsTheRoomHasThem() {
        var call = stored(isAnswered: true)
        // Bob has resumed after this was stored.
        call.members[1].held = true
        calls.restore([call], at: start)
        _ = reconnect()
        let effects =
            handle(.joinedRoom(call.id, .user(identity("ann")), media: CallMediaState(held: true, muted: true)), in: &calls)
            + handle(.joinedRoom(call.id, .user(identity("bob")), media: CallMediaState(held: false, muted: false)), in: &calls)
        let events = effects.compactMap { if case .send(let event, _) = $0 { event } else { nil } }
        #expect(events.map(\.kind) == [.held, .muted, .resumed])
        #expect(effects.count == events.count, "the room has it so")
        #expect(calls.ongoing(call.id)?.members.map(\.held) == [true, false])
        #expect(calls.ongoing(call.id)?.members.map(\.muted) == [true, false])
        let greetings = handle(.connected(DeviceID(text: "ann.tablet"), of: identity("ann")), in: &calls, after: .seconds(2))
        guard case .greet(_, _, let greeted)? = greetings.first else { preconditionFailure("a device is greeted") }
        #expect(greeted == [calls.ongoing(call.id)!])
    }

    @Test mutating func requestCountsMoreThanTheRoomsReport() {
        let call = stored(isAnswered: true)
        calls.restore([call], at: start)
        _ = reconnect()
        let ann = CallParty.user(identity("ann"))
        let phone = CallStateMachine.Requester.device(DeviceID(text: "ann.again"), id: 1)
        var effects = handle(.request(.hold(call.id, held: false), from: phone), in: &calls, after: .seconds(2))
        #expect(effects.contains(.hold(ann, in: call.id, false)), "the room may have it otherwise")
        // The room reported before the command arrived.
        effects = handle(.joinedRoom(call.id, ann, media: CallMediaState(held: true, muted: true)), in: &calls, after: .seconds(2))
        #expect(effects.contains(.hold(ann, in: call.id, false)))
        #expect(calls.ongoing(call.id)?.member(ann)?.held == false)
        #expect(calls.ongoing(call.id)?.member(ann)?.muted == true, "of that nothing was requested")
        effects = handle(.request(.mute(call.id, muted: false), from: phone), in: &calls, after: .seconds(2))
        #expect(effects.contains(.mute(ann, in: call.id, false)))
    }

    @Test mutating func memberOfARoomAtANodeOfTheEarlierVersionCanResume() {
        let call = stored(isAnswered: true)
        calls.restore([call], at: start)
        _ = reconnect()
        let ann = CallParty.user(identity("ann"))
        #expect(handle(.joinedRoom(call.id, ann), in: &calls, after: .seconds(2)).isEmpty)
        let effects = handle(
            .request(.hold(call.id, held: false), from: .device(DeviceID(text: "ann.again"), id: 1)), in: &calls, after: .seconds(2))
        #expect(effects.contains(.hold(ann, in: call.id, false)))
    }

    @Test mutating func ringingCallCanBeAnsweredAndIsMissedInTheEnd() {
        let call = stored(isAnswered: false)
        for answers in [true, false] {
            calls = CallStateMachine(seed: 3)
            calls.restore([call], at: start)
            _ = reconnect()
            if answers {
                handle(.request(.answer(call.id), from: .device(DeviceID(text: "bob.again"), id: 1)), in: &calls, after: .seconds(2))
                #expect(calls.ongoing(call.id)?.status == .answered)
            } else {
                handle(.deadlinePassed, in: &calls, after: .seconds(120))
                #expect(calls.ongoing(call.id) == nil)
            }
        }
    }

    @Test mutating func endedCallsAreNotContinued() {
        var call = stored(isAnswered: true)
        call.status = .completed
        calls.restore([call], at: start)
        #expect(calls.isEmpty)
    }
}
