import Engine
import Testing
import Wire

struct BusyTests {
    @Test func whoTalksIsBusyForOthersAndNotDisturbed() {
        var world = CallWorld()
        let (ann, bob, cid) = (world.connect("ann"), world.connect("bob"), world.connect("cid"))
        world.ask(bob, .answer(world.call(ann, "bob")))
        _ = world.call(cid, "bob")
        #expect(
            world.trace == ["admit cid > cid", "started by cid > cid", "busy by bob > cid", "ended > cid", "end room"])
        #expect(world.status(cid) == .busy)
        #expect(world.kinds(bob) == ["incoming", "answered"])
    }

    @Test func whoCallsIsBusyToo() {
        var world = CallWorld()
        let (ann, _, cid) = (world.connect("ann"), world.connect("bob"), world.connect("cid"))
        _ = world.call(ann, "bob")
        _ = world.call(cid, "ann")
        #expect(world.status(cid) == .busy)
    }

    @Test func twoThatCallEachOtherAreConnectedByTheFirstCall() {
        var world = CallWorld()
        let (ann, bob) = (world.connect("ann"), world.connect("bob"))
        let first = world.call(ann, "bob")
        _ = world.call(bob, "ann")
        #expect(world.heard[bob]?.last?.call.status == .busy)
        #expect(world.ask(bob, .answer(first))?.isAdmission == true, "the call that found the line busy stands in nobody's way")
    }

    @Test func whoAnswersOneIsBusyForAllThatRing() {
        var world = CallWorld()
        let (ann, bob, cid) = (world.connect("ann"), world.connect("bob"), world.connect("cid"))
        let first = world.call(ann, "bob")
        _ = world.call(cid, "bob")
        #expect(world.kinds(bob) == ["incoming", "incoming"])
        world.ask(bob, .answer(first))
        #expect(
            world.trace == [
                "admit bob > bob", "answered by bob > ann bob", "busy by bob > cid bob", "ended > cid bob", "end room",
            ])
        #expect(world.status(cid) == .busy)
    }

    @Test func whoHoldsItsCallIsNotBusy() {
        var world = CallWorld()
        let (ann, bob, cid) = (world.connect("ann"), world.connect("bob"), world.connect("cid"))
        let first = world.call(ann, "bob")
        world.ask(bob, .answer(first))
        world.ask(bob, .hold(first, held: true))
        let second = world.call(cid, "bob")
        #expect(world.ask(bob, .answer(second))?.isAdmission == true)
        #expect(world.status(ann) == .answered)
    }

    @Test func withCallWaitingASecondCallRingsAndIsAnsweredWhenTheFirstIsHeld() {
        var world = CallWorld(CallSettings(waiting: .ring))
        let (ann, bob, cid) = (world.connect("ann"), world.connect("bob"), world.connect("cid"))
        let first = world.call(ann, "bob")
        world.ask(bob, .answer(first))
        let second = world.call(cid, "bob")
        #expect(world.status(cid) == .ringing)
        #expect(world.ask(bob, .answer(second))?.call?.id == first, "the first call is in the way")
        world.ask(bob, .hold(first, held: true))
        #expect(world.ask(bob, .answer(second))?.isAdmission == true)
    }

    @Test func oneThatIsBusyDoesNotEndACallOfThree() {
        var world = CallWorld()
        let (ann, bob, cid, dan) = (world.connect("ann"), world.connect("bob"), world.connect("cid"), world.connect("dan"))
        world.ask(bob, .answer(world.call(ann, "bob")))
        _ = world.call(cid, "bob", "dan")
        #expect(world.kinds(cid) == ["started", "busy"])
        #expect(world.kinds(dan) == ["incoming", "busy"])
        #expect(world.status(cid) == .ringing)
    }

    @Test func nobodyLearnsOfACallThatFoundThemBusy() {
        var world = CallWorld()
        let (ann, bob, cid) = (world.connect("ann"), world.connect("bob"), world.connect("cid"))
        world.ask(bob, .answer(world.call(ann, "bob")))
        let call = world.call(cid, "bob")
        #expect(world.ask(bob, .answer(call))?.code == .notFound)
    }
}
