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

    @Test mutating func anAssistantIsSentToTheRoomAndAnswersByComing() {
        let call = world.call(ann, "assistant:helper")
        #expect(world.trace == ["admit ann > ann", "started by ann > ann", "dispatch helper"])
        world.happens(.ringing(call, helper))
        #expect(world.trace == ["ringing by assistant:helper > ann"])
        world.happens(.joinedRoom(call, helper))
        #expect(world.trace == ["answered by assistant:helper > ann"])
    }

    @Test mutating func anAssistantThatCannotBeHadFailsTheCall() {
        let call = world.call(ann, "assistant:helper")
        world.happens(.failed(call, helper, reason: "no worker is free"))
        #expect(world.trace == ["failed by assistant:helper > ann", "ended > ann", "recall helper", "end room"])
        #expect(world.heard[ann]?[1].reason == "no worker is free")
        #expect(world.status(ann) == .failed)
    }

    @Test mutating func anAssistantIsRecalledWhenTheCallIsTakenBack() {
        let call = world.call(ann, "assistant:helper")
        world.ask(ann, .cancel(call))
        #expect(world.trace == ["reply > ann", "cancelled by ann > ann", "ended > ann", "recall helper", "end room"])
    }

    @Test mutating func anAssistantIsNeverBusy() {
        _ = world.call(ann, "assistant:helper")
        let bob = world.connect("bob")
        _ = world.call(bob, "assistant:helper")
        #expect(world.trace.contains("dispatch helper"))
    }

    @Test mutating func assistantsDoNotTalkToEachOther() {
        let call = world.call(ann, "assistant:helper", "assistant:expert")
        world.happens(.joinedRoom(call, helper))
        world.happens(.joinedRoom(call, .assistant("expert")))
        world.ask(ann, .hangUp(call))
        #expect(world.trace == ["reply > ann", "left by ann > ann", "ended > ann", "end room"])
    }

    @Test mutating func aCallEndsWhenItsAssistantGoes() {
        let call = world.call(ann, "assistant:helper")
        world.happens(.joinedRoom(call, helper))
        world.happens(.leftRoom(call, helper))
        #expect(world.kinds(ann) == ["started", "answered", "left", "ended"])
        #expect(world.status(ann) == .completed)
    }

    @Test mutating func anAssistantIsInvitedToACallOfPeople() {
        let bob = world.connect("bob")
        let call = world.call(ann, "bob")
        world.ask(bob, .answer(call))
        world.ask(bob, .invite(call, [helper]))
        #expect(world.trace == ["reply > bob", "invited by bob > ann bob", "dispatch helper"])
    }
}
