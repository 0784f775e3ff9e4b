import Engine
import Testing
import Wire

struct GroupCallTests {
    private var world = CallWorld()
    private let (ann, bob, cid): (DeviceID, DeviceID, DeviceID)
    private let call: CallID

    init() {
        ann = world.connect("ann")
        bob = world.connect("bob")
        cid = world.connect("cid")
        call = world.call(ann, "bob", "cid")
    }

    @Test mutating func eachCalleeAnswersForItself() {
        world.ask(bob, .answer(call))
        #expect(world.status(cid) == .answered)
        #expect(world.heard[cid]?.last?.call.member(.user("cid"))?.state == .invited)
        #expect(world.ask(cid, .answer(call))?.isAdmission == true)
    }

    @Test mutating func oneWhoSaysNoLeavesTheOthersRinging() {
        world.ask(bob, .reject(call, CallRejection()))
        #expect(world.trace == ["reply > bob", "rejected by bob > ann bob cid"])
        world.ask(cid, .answer(call))
        #expect(world.trace == ["admit cid > cid", "answered by cid > ann cid"], "who said no hears no more of it")
    }

    @Test mutating func whenAllHaveSaidNoTheCallIsOver() {
        world.ask(bob, .reject(call, CallRejection()))
        world.ask(cid, .reject(call, CallRejection(isBusy: true)))
        #expect(world.status(ann) == .rejected)
        #expect(world.kinds(ann) == ["started", "rejected", "busy", "ended"])
    }

    @Test mutating func aCallGoesOnWithoutItsCaller() {
        world.ask(bob, .answer(call))
        world.ask(cid, .answer(call))
        world.ask(ann, .hangUp(call))
        #expect(world.trace == ["reply > ann", "left by ann > ann bob cid", "remove ann"])
        world.ask(bob, .hangUp(call))
        #expect(world.kinds(cid).suffix(2) == ["left", "ended"])
        #expect(world.kinds(ann).last == "left")
    }

    @Test mutating func whoIsStillRingingIsNotLeftToTalkToStrangers() {
        world.ask(bob, .answer(call))
        world.ask(ann, .hangUp(call))
        #expect(
            world.trace == [
                "reply > ann", "cancelled by ann > ann bob cid", "left by ann > ann bob cid", "ended > ann bob cid", "end room",
            ])
        #expect(world.heard[cid]?.last?.call.member(.user("cid"))?.status == .cancelled)
    }

    @Test mutating func oneMoreIsInvitedLater() {
        let dan = world.connect("dan")
        world.ask(bob, .answer(call))
        world.ask(bob, .invite(call, [.user("dan")]))
        #expect(world.trace == ["reply > bob", "invited by bob > ann bob cid", "incoming by bob > dan"])
        #expect(world.ask(dan, .answer(call))?.isAdmission == true)
    }

    @Test mutating func anInvitationRingsForItsOwn45Seconds() {
        world.ask(bob, .answer(call))
        for name in ["ann", "bob"] as [Identity] { world.happens(.joinedRoom(call, .user(name))) }
        world.pass(.seconds(30))
        world.connect("dan")
        world.ask(ann, .invite(call, [.user("dan")]))
        world.pass(.seconds(15))
        #expect(world.trace == ["missed by cid > ann bob cid dan"])
        world.pass(.seconds(30))
        #expect(world.trace == ["missed by dan > ann bob dan"])
        #expect(world.status(ann) == .answered)
    }

    @Test mutating func whoWasMissedIsInvitedAgainAndRingsAnew() {
        world.ask(bob, .answer(call))
        for name in ["ann", "bob"] as [Identity] { world.happens(.joinedRoom(call, .user(name))) }
        world.pass(.seconds(45))
        world.ask(ann, .invite(call, [.user("cid")]))
        #expect(world.trace == ["reply > ann", "invited by ann > ann bob", "incoming by ann > cid"])
        world.pass(.seconds(44))
        #expect(world.ask(cid, .answer(call))?.isAdmission == true)
        #expect(world.heard[cid]?.last?.call.members.count == 3)
    }

    @Test mutating func whoSaidNoAndIsInvitedAgainHasAllItsTime() {
        world.pass(.seconds(10))
        world.ask(cid, .reject(call, CallRejection()))
        world.ask(ann, .invite(call, [.user("cid")]))
        world.pass(.milliseconds(44_999))
        #expect(world.kinds(cid) == ["incoming", "rejected", "incoming", "missed"], "bob has been missed")
        #expect(world.heard[cid]?.last?.by == .user("bob"))
        world.pass(.milliseconds(1))
        #expect(world.trace == ["missed by cid > ann cid", "ended > ann cid", "end room"])
    }

    @Test mutating func whoIsInItIsNotInvitedAgain() {
        world.ask(bob, .answer(call))
        #expect(world.ask(bob, .invite(call, [.user("cid")]))?.code == .conflict)
    }

    @Test mutating func onlyWhoHasJoinedInvites() {
        #expect(world.ask(bob, .invite(call, [.user("dan")]))?.code == .conflict)
    }

    @Test mutating func whoIsAloneWaitsForWhomItInvited() {
        world.ask(bob, .answer(call))
        for name in ["ann", "bob"] as [Identity] { world.happens(.joinedRoom(call, .user(name))) }
        world.ask(bob, .hangUp(call))
        #expect(world.status(ann) == .answered)
        world.pass(.seconds(45))
        #expect(world.status(ann) == .completed)
    }

    @Test mutating func whoLeftIsNotToldHowItStandsNow() {
        world.ask(bob, .reject(call, CallRejection()))
        world.ask(cid, .answer(call))
        let late = world.ask(bob, .answer(call))
        #expect(late?.code == .conflict)
        #expect(late?.call == nil)
    }
}
