import Engine
import Testing
import Wire

struct AssistantCallTests {
    private var world = CallWorld()
    private let ann: DeviceID
    private let helper = CallParty.assistant("helper")

    init() {
        ann = world.connect("ann")
    }

    @Test mutating func dispatchedAssistantAnswersByJoiningTheRoom() {
        let call = world.call(ann, "assistant:helper")
        #expect(world.trace == ["admit ann > ann", "started by ann > ann", "dispatch helper"])
        world.receive(.ringing(call, helper))
        #expect(world.trace == ["ringing by assistant:helper > ann"])
        world.receive(.joinedRoom(call, helper))
        #expect(world.trace == ["answered by assistant:helper > ann"])
    }

    @Test mutating func unavailableAssistantFailsTheCall() {
        let call = world.call(ann, "assistant:helper")
        world.receive(.failed(call, helper, reason: "no worker is free"))
        #expect(world.trace == ["failed by assistant:helper > ann", "ended > ann", "recall helper", "end room"])
        #expect(world.received[ann]?[1].reason == "no worker is free")
        #expect(world.status(ann) == .failed)
    }

    @Test mutating func cancelledCallRecallsTheAssistant() {
        let call = world.call(ann, "assistant:helper")
        world.send(ann, .cancel(call))
        #expect(world.trace == ["reply > ann", "cancelled by ann > ann", "ended > ann", "recall helper", "end room"])
    }

    @Test mutating func assistantIsNeverBusy() {
        _ = world.call(ann, "assistant:helper")
        let bob = world.connect("bob")
        _ = world.call(bob, "assistant:helper")
        #expect(world.trace.contains("dispatch helper"))
    }

    @Test mutating func callWithOnlyAssistantsLeftEnds() {
        let call = world.call(ann, "assistant:helper", "assistant:expert")
        world.receive(.joinedRoom(call, helper))
        world.receive(.joinedRoom(call, .assistant("expert")))
        world.send(ann, .hangUp(call))
        #expect(world.trace == ["reply > ann", "left by ann > ann", "ended > ann", "end room"])
    }

    @Test mutating func callEndsWhenItsAssistantLeaves() {
        let call = world.call(ann, "assistant:helper")
        world.receive(.joinedRoom(call, helper))
        world.receive(.leftRoom(call, helper))
        #expect(world.kinds(ann) == ["started", "answered", "left", "ended"])
        #expect(world.status(ann) == .completed)
    }

    @Test mutating func assistantCanBeInvitedToACallOfUsers() {
        let bob = world.connect("bob")
        let call = world.call(ann, "bob")
        world.send(bob, .answer(call))
        world.send(bob, .invite(call, [helper]))
        #expect(world.trace == ["reply > bob", "invited by bob > ann bob", "dispatch helper"])
    }
}
