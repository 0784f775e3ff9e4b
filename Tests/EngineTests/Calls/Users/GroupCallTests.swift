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

    @Test mutating func calleesAnswerIndependently() {
        world.send(bob, .answer(call))
        #expect(world.status(cid) == .answered)
        #expect(world.received[cid]?.last?.call.member(.user("cid"))?.state == .invited)
        #expect(world.send(cid, .answer(call))?.isAdmission == true)
    }

    @Test mutating func rejectionLeavesOtherCalleesRinging() {
        world.send(bob, .reject(call, CallRejection()))
        #expect(world.trace == ["reply > bob", "rejected by bob > ann bob cid"])
        world.send(cid, .answer(call))
        #expect(world.trace == ["admit cid > cid", "answered by cid > ann cid"], "the one who rejected receives nothing more")
    }

    @Test mutating func callEndsWhenAllCalleesReject() {
        world.send(bob, .reject(call, CallRejection()))
        world.send(cid, .reject(call, CallRejection(isBusy: true)))
        #expect(world.status(ann) == .rejected)
        #expect(world.kinds(ann) == ["started", "rejected", "busy", "ended"])
    }

    @Test mutating func callContinuesWithoutItsCaller() {
        world.send(bob, .answer(call))
        world.send(cid, .answer(call))
        world.send(ann, .hangUp(call))
        #expect(world.trace == ["reply > ann", "left by ann > ann bob cid", "remove ann"])
        world.send(bob, .hangUp(call))
        #expect(world.kinds(cid).suffix(2) == ["left", "ended"])
        #expect(world.kinds(ann).last == "left")
    }

    @Test mutating func pendingInvitationsAreWithdrawnWithTheirInviter() {
        world.send(bob, .answer(call))
        world.send(ann, .hangUp(call))
        #expect(
            world.trace == [
                "reply > ann", "cancelled by ann > ann bob cid", "left by ann > ann bob cid", "ended > ann bob cid", "end room",
            ])
        #expect(world.received[cid]?.last?.call.member(.user("cid"))?.status == .cancelled)
    }

    @Test mutating func memberCanInviteDuringACall() {
        let dan = world.connect("dan")
        world.send(bob, .answer(call))
        world.send(bob, .invite(call, [.user("dan")]))
        #expect(world.trace == ["reply > bob", "invited by bob > ann bob cid", "incoming by bob > dan"])
        #expect(world.send(dan, .answer(call))?.isAdmission == true)
    }

    @Test mutating func eachInvitationRingsFor45Seconds() {
        world.send(bob, .answer(call))
        for name in ["ann", "bob"] as [Identity] { world.receive(.joinedRoom(call, .user(name))) }
        world.pass(.seconds(30))
        world.connect("dan")
        world.send(ann, .invite(call, [.user("dan")]))
        world.pass(.seconds(15))
        #expect(world.trace == ["missed by cid > ann bob cid dan"])
        world.pass(.seconds(30))
        #expect(world.trace == ["missed by dan > ann bob dan"])
        #expect(world.status(ann) == .answered)
    }

    @Test mutating func missedMemberCanBeInvitedAgain() {
        world.send(bob, .answer(call))
        for name in ["ann", "bob"] as [Identity] { world.receive(.joinedRoom(call, .user(name))) }
        world.pass(.seconds(45))
        world.send(ann, .invite(call, [.user("cid")]))
        #expect(world.trace == ["reply > ann", "invited by ann > ann bob", "incoming by ann > cid"])
        world.pass(.seconds(44))
        #expect(world.send(cid, .answer(call))?.isAdmission == true)
        #expect(world.received[cid]?.last?.call.members.count == 3)
    }

    @Test mutating func repeatedInvitationRestartsTheRingTimeout() {
        world.pass(.seconds(10))
        world.send(cid, .reject(call, CallRejection()))
        world.send(ann, .invite(call, [.user("cid")]))
        world.pass(.milliseconds(44_999))
        #expect(world.kinds(cid) == ["incoming", "rejected", "incoming", "missed"], "bob missed the call")
        #expect(world.received[cid]?.last?.by == .user("bob"))
        world.pass(.milliseconds(1))
        #expect(world.trace == ["missed by cid > ann cid", "ended > ann cid", "end room"])
    }

    @Test mutating func presentMemberCannotBeInvited() {
        world.send(bob, .answer(call))
        #expect(world.send(bob, .invite(call, [.user("cid")]))?.code == .conflict)
    }

    @Test mutating func onlyJoinedMembersInvite() {
        #expect(world.send(bob, .invite(call, [.user("dan")]))?.code == .conflict)
    }

    @Test mutating func loneMemberWaitsForItsInvitation() {
        world.send(bob, .answer(call))
        for name in ["ann", "bob"] as [Identity] { world.receive(.joinedRoom(call, .user(name))) }
        world.send(bob, .hangUp(call))
        #expect(world.status(ann) == .answered)
        world.pass(.seconds(45))
        #expect(world.status(ann) == .completed)
    }

    @Test mutating func formerMemberReceivesNoEvents() {
        world.send(bob, .reject(call, CallRejection()))
        world.send(cid, .answer(call))
        let late = world.send(bob, .answer(call))
        #expect(late?.code == .conflict)
        #expect(late?.call == nil)
    }
}
