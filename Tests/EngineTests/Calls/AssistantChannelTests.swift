import Engine
import Testing
import Wire

/// An assistant whose processes have channels of their own: it rings as a person does, and is never busy.
struct AssistantChannelTests {
    private var world = CallWorld()
    private let ann: DeviceID
    private let (first, second): (DeviceID, DeviceID)

    init() {
        ann = world.connect("ann")
        first = world.connect("assistant:helper.1")
        second = world.connect("assistant:helper.2")
    }

    @Test mutating func itRingsOnAllItsProcessesAndNobodyElseIsSent() {
        _ = world.call(ann, "assistant:helper")
        #expect(
            world.trace == ["admit ann > ann", "started by ann > ann", "incoming by ann > assistant:helper.1 assistant:helper.2"])
        #expect(world.status(ann) == .ringing)
    }

    @Test mutating func theFirstProcessToAnswerHasTheCall() {
        let call = world.call(ann, "assistant:helper")
        #expect(world.ask(second, .answer(call))?.isAdmission == true)
        #expect(world.trace.first == "admit assistant:helper > assistant:helper.2")
        #expect(world.ask(first, .answer(call))?.code == .conflict)
        #expect(world.heard[ann]?.last?.device == second)
        world.happens(.joinedRoom(call, .assistant("helper")))
        #expect(world.trace.isEmpty, "it has answered already")
    }

    @Test mutating func itTalksInManyCallsAtOnce() {
        let bob = world.connect("bob")
        for device in [ann, bob] {
            let call = world.call(device, "assistant:helper")
            #expect(world.ask(first, .answer(call))?.call?.status == .answered)
        }
    }

    @Test mutating func ofMoreCallsThanItMayHaveItIsBusy() {
        for number in 0..<200 {
            _ = world.call(world.connect("user\(number)"), "assistant:helper")
        }
        _ = world.call(ann, "assistant:helper")
        #expect(world.status(ann) == .busy)
    }

    @Test mutating func aProcessThatStartsHearsWhoRings() {
        let call = world.call(ann, "assistant:helper")
        world.disconnect(first)
        world.disconnect(second)
        let again = world.connect("assistant:helper.3")
        #expect(world.greetings[again]?.map(\.id) == [call])
        #expect(world.ask(again, .answer(call))?.isAdmission == true)
    }

    @Test mutating func whoCalledIsToldThatItDidNotAnswer() {
        let call = world.call(ann, "assistant:helper")
        world.disconnect(first)
        world.disconnect(second)
        world.pass(.seconds(45))
        #expect(world.trace == ["missed by assistant:helper > ann", "ended > ann", "end room"])
        #expect(world.heard[ann]?.dropLast().last?.reason == "the assistant did not answer in time")
        #expect(world.desk.call(call, of: "ann")?.status == .timeout)
    }

    @Test mutating func itCallsNobodyByItself() {
        #expect(world.ask(first, .start(CallStart(to: [.user("ann")])))?.code == .notAllowed)
    }

    @Test mutating func itBringsAPersonIntoItsCall() {
        let bob = world.connect("bob")
        let call = world.call(ann, "assistant:helper")
        world.ask(first, .answer(call))
        world.ask(first, .invite(call, [.user("bob")]))
        #expect(world.kinds(bob) == ["incoming"])
        world.ask(bob, .answer(call))
        world.ask(first, .hangUp(call))
        #expect(world.trace.contains("remove assistant:helper"))
        #expect(world.status(ann) == .answered)
    }

    @Test mutating func aProcessTakesACallOverFromAnother() {
        let call = world.call(ann, "assistant:helper")
        world.ask(first, .answer(call))
        #expect(world.ask(second, .join(call))?.isAdmission == true)
        #expect(world.heard[first]?.last?.kind == .moved)
    }

    @Test mutating func nobodyElsesCallIsItsBusiness() {
        let bob = world.connect("bob")
        let call = world.call(ann, "bob")
        world.ask(bob, .answer(call))
        #expect(world.heard[first] == nil)
        #expect(world.ask(first, .join(call))?.code == .notFound)
    }
}
