import Engine
import Testing
import Wire

struct BusyTests {
    @Test func userInACallIsBusyAndNotRung() {
        var world = CallWorld()
        let (ann, bob, cid) = (world.connect("ann"), world.connect("bob"), world.connect("cid"))
        world.send(bob, .answer(world.call(ann, "bob")))
        _ = world.call(cid, "bob")
        #expect(
            world.trace == ["admit cid > cid", "started by cid > cid", "busy by bob > cid", "ended > cid", "end room"])
        #expect(world.status(cid) == .busy)
        #expect(world.kinds(bob) == ["incoming", "answered"])
    }

    @Test func callerIsBusyToo() {
        var world = CallWorld()
        let (ann, _, cid) = (world.connect("ann"), world.connect("bob"), world.connect("cid"))
        _ = world.call(ann, "bob")
        _ = world.call(cid, "ann")
        #expect(world.status(cid) == .busy)
    }

    @Test func callThatEndedAsBusyDoesNotBlockOthers() {
        var world = CallWorld()
        let (ann, bob, cid, dan) = (world.connect("ann"), world.connect("bob"), world.connect("cid"), world.connect("dan"))
        world.send(dan, .answer(world.call(cid, "dan")))
        let first = world.call(ann, "bob")
        _ = world.call(bob, "dan")
        #expect(world.received[bob]?.last?.call.status == .busy)
        #expect(world.send(bob, .answer(first))?.isAdmission == true)
    }

    @Test func answeringOneCallRejectsOthersAsBusy() {
        var world = CallWorld()
        let (ann, bob, cid) = (world.connect("ann"), world.connect("bob"), world.connect("cid"))
        let first = world.call(ann, "bob")
        _ = world.call(cid, "bob")
        #expect(world.kinds(bob) == ["incoming", "incoming"])
        world.send(bob, .answer(first))
        #expect(
            world.trace == [
                "admit bob > bob", "answered by bob > ann bob", "busy by bob > cid bob", "ended > cid bob", "end room",
            ])
        #expect(world.status(cid) == .busy)
    }

    @Test func userWithAHeldCallIsNotBusy() {
        var world = CallWorld()
        let (ann, bob, cid) = (world.connect("ann"), world.connect("bob"), world.connect("cid"))
        let first = world.call(ann, "bob")
        world.send(bob, .answer(first))
        world.send(bob, .hold(first, held: true))
        let second = world.call(cid, "bob")
        #expect(world.send(bob, .answer(second))?.isAdmission == true)
        #expect(world.status(ann) == .answered)
    }

    @Test func callWaitingRingsAndRequiresAHoldToAnswer() {
        var world = CallWorld(CallSettings(waiting: .ring))
        let (ann, bob, cid) = (world.connect("ann"), world.connect("bob"), world.connect("cid"))
        let first = world.call(ann, "bob")
        world.send(bob, .answer(first))
        let second = world.call(cid, "bob")
        #expect(world.status(cid) == .ringing)
        #expect(world.send(bob, .answer(second))?.call?.id == first, "the first call conflicts")
        world.send(bob, .hold(first, held: true))
        #expect(world.send(bob, .answer(second))?.isAdmission == true)
    }

    @Test func busyCalleeDoesNotEndAGroupCall() {
        var world = CallWorld()
        let (ann, bob, cid, dan) = (world.connect("ann"), world.connect("bob"), world.connect("cid"), world.connect("dan"))
        world.send(bob, .answer(world.call(ann, "bob")))
        _ = world.call(cid, "bob", "dan")
        #expect(world.kinds(cid) == ["started", "busy"])
        #expect(world.kinds(dan) == ["incoming", "busy"])
        #expect(world.status(cid) == .ringing)
    }

    @Test func busyCalleeIsNotInformed() {
        var world = CallWorld()
        let (ann, bob, cid) = (world.connect("ann"), world.connect("bob"), world.connect("cid"))
        world.send(bob, .answer(world.call(ann, "bob")))
        let call = world.call(cid, "bob")
        #expect(world.send(bob, .answer(call))?.code == .notFound)
    }
}
