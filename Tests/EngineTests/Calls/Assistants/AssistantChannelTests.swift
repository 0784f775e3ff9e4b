import Engine
import Testing
import Wire

/// An assistant with channels of its own: it rings like a user, and is never busy.
struct AssistantChannelTests {
    private var world = CallWorld()
    private let ann: DeviceID
    private let (first, second): (DeviceID, DeviceID)

    init() {
        ann = world.connect("ann")
        first = world.connect("assistant:helper.1")
        second = world.connect("assistant:helper.2")
    }

    @Test mutating func connectedAssistantRingsOnAllProcessesWithoutDispatch() {
        _ = world.call(ann, "assistant:helper")
        #expect(
            world.trace == ["admit ann > ann", "started by ann > ann", "incoming by ann > assistant:helper.1 assistant:helper.2"])
        #expect(world.status(ann) == .ringing)
    }

    @Test mutating func firstProcessToAnswerTakesTheCall() {
        let call = world.call(ann, "assistant:helper")
        #expect(world.send(second, .answer(call))?.isAdmission == true)
        #expect(world.trace.first == "admit assistant:helper > assistant:helper.2")
        #expect(world.send(first, .answer(call))?.code == .conflict)
        #expect(world.received[ann]?.last?.device == second)
        world.receive(.joinedRoom(call, .assistant("helper")))
        #expect(world.trace.isEmpty, "it has already answered")
    }

    @Test mutating func assistantJoinsManyCallsAtOnce() {
        let bob = world.connect("bob")
        for device in [ann, bob] {
            let call = world.call(device, "assistant:helper")
            #expect(world.send(first, .answer(call))?.call?.status == .answered)
        }
    }

    @Test mutating func assistantIsBusyBeyondItsCallLimit() {
        for number in 0..<200 {
            _ = world.call(world.connect("user\(number)"), "assistant:helper")
        }
        _ = world.call(ann, "assistant:helper")
        #expect(world.status(ann) == .busy)
    }

    @Test mutating func newProcessReceivesRingingCalls() {
        let call = world.call(ann, "assistant:helper")
        world.disconnect(first)
        world.disconnect(second)
        let again = world.connect("assistant:helper.3")
        #expect(world.hellos[again]?.map(\.id) == [call])
        #expect(world.send(again, .answer(call))?.isAdmission == true)
    }

    @Test mutating func callerLearnsThatTheAssistantDidNotAnswer() {
        let call = world.call(ann, "assistant:helper")
        world.disconnect(first)
        world.disconnect(second)
        world.pass(.seconds(45))
        #expect(world.trace == ["missed by assistant:helper > ann", "ended > ann", "end room"])
        #expect(world.received[ann]?.dropLast().last?.reason == "the assistant did not answer in time")
        #expect(world.machine.call(call, of: "ann")?.status == .timeout)
    }

    @Test mutating func assistantCannotStartCalls() {
        #expect(world.send(first, .start(CallStart(to: [.user("ann")])))?.code == .notAllowed)
    }

    @Test mutating func assistantCanInviteAUser() {
        let bob = world.connect("bob")
        let call = world.call(ann, "assistant:helper")
        world.send(first, .answer(call))
        world.send(first, .invite(call, [.user("bob")]))
        #expect(world.kinds(bob) == ["incoming"])
        world.send(bob, .answer(call))
        world.send(first, .hangUp(call))
        #expect(world.trace.contains("remove assistant:helper"))
        #expect(world.status(ann) == .answered)
    }

    @Test mutating func assistantProcessTakesOverACall() {
        let call = world.call(ann, "assistant:helper")
        world.send(first, .answer(call))
        #expect(world.send(second, .join(call))?.isAdmission == true)
        #expect(world.received[first]?.last?.kind == .moved)
    }

    @Test mutating func assistantCannotAccessOtherCalls() {
        let bob = world.connect("bob")
        let call = world.call(ann, "bob")
        world.send(bob, .answer(call))
        #expect(world.received[first] == nil)
        #expect(world.send(first, .join(call))?.code == .notFound)
    }
}
