import Engine
import Testing
import Wire

struct CallHoldTests {
    private var world = CallWorld()
    private let ann: DeviceID
    private let bob: DeviceID
    private let call: CallID

    init() {
        ann = world.connect("ann")
        bob = world.connect("bob")
        call = world.call(ann, "bob")
        world.send(bob, .answer(call))
    }

    @Test(arguments: [true, false])
    mutating func eitherMemberHoldsAndBothAreNotified(_ isCaller: Bool) {
        let (device, name) = isCaller ? (ann, "ann") : (bob, "bob")
        world.send(device, .hold(call, held: true))
        #expect(world.trace == ["reply > \(name)", "held by \(name) > ann bob", "hold \(name)"])
        world.send(device, .hold(call, held: false))
        #expect(world.trace == ["reply > \(name)", "resumed by \(name) > ann bob", "unhold \(name)"])
    }

    /// The room may have it otherwise.
    @Test mutating func unchangedHoldOrMuteCausesNoEventAndIsAppliedAgain() {
        world.send(ann, .hold(call, held: true))
        world.send(ann, .hold(call, held: true))
        #expect(world.trace == ["reply > ann", "hold ann"])
        world.send(bob, .mute(call, muted: false))
        #expect(world.trace == ["reply > bob", "unmute bob"])
        #expect(world.kinds(bob).filter { $0 != "incoming" && $0 != "answered" } == ["held"])
    }

    @Test mutating func requestsAreAppliedAgainInARoomThatHasMissedThem() {
        world.send(ann, .hold(call, held: true))
        world.send(bob, .mute(call, muted: true))
        world.receive(.joinedRoom(call, .user("ann"), media: CallMediaState(held: false, muted: false)))
        #expect(world.trace == ["hold ann"])
        world.receive(.joinedRoom(call, .user("bob"), media: CallMediaState(held: false, muted: true)))
        #expect(world.trace == [])
        world.send(ann, .hold(call, held: false))
        world.receive(.joinedRoom(call, .user("ann"), media: CallMediaState(held: true, muted: false)))
        #expect(world.trace == ["unhold ann"])
    }

    @Test mutating func memberWhoHeldTheCallInTheRoomIsReportedOnHold() {
        world.receive(.joinedRoom(call, .user("ann"), media: CallMediaState(held: true, muted: false)))
        #expect(world.trace == ["held by ann > ann bob"])
        world.receive(.joinedRoom(call, .user("ann")))
        #expect(world.trace == [])
        world.send(ann, .hold(call, held: false))
        #expect(world.trace == ["reply > ann", "resumed by ann > ann bob", "unhold ann"])
    }

    @Test mutating func bothMembersCanHold() {
        world.send(ann, .hold(call, held: true))
        world.send(bob, .hold(call, held: true))
        world.send(ann, .hold(call, held: false))
        #expect(world.received[bob]?.last?.call.members.map(\.held) == [false, true])
    }

    @Test mutating func ringingCallCannotBeHeld() {
        let cid = world.connect("cid")
        let dan = world.connect("dan")
        let other = world.call(cid, "dan")
        #expect(world.send(cid, .hold(other, held: true))?.code == .conflict)
        #expect(world.send(dan, .hold(other, held: true))?.code == .conflict)
    }

    @Test mutating func muteIsReportedAndAppliedInTheRoom() {
        world.send(bob, .mute(call, muted: true))
        #expect(world.trace == ["reply > bob", "muted by bob > ann bob", "mute bob"])
        world.send(bob, .mute(call, muted: false))
        #expect(world.trace == ["reply > bob", "unmuted by bob > ann bob", "unmute bob"])
    }

    @Test mutating func callerCanMuteBeforeAnAnswer() {
        let cid = world.connect("cid")
        world.connect("dan")
        let other = world.call(cid, "dan")
        world.send(cid, .mute(other, muted: true))
        #expect(world.trace == ["reply > cid", "muted by cid > cid dan", "mute cid"])
    }

    @Test mutating func userWithAHeldCallCanStartAnother() {
        let cid = world.connect("cid")
        world.send(ann, .hold(call, held: true))
        let second = world.call(ann, "cid")
        #expect(world.kinds(cid) == ["incoming"])
        let error = world.send(ann, .hold(call, held: false))
        #expect(error?.code == .conflict)
        #expect(error?.call?.id == second, "the answer names the conflicting call")
        world.send(ann, .cancel(second))
        #expect(world.send(ann, .hold(call, held: false))?.call?.member(.user("ann"))?.held == false)
    }

    @Test mutating func userInACallCannotStartAnother() {
        let error = world.send(ann, .start(CallStart(to: [.user("cid")])))
        #expect(error?.code == .conflict)
        #expect(error?.call?.id == call)
    }
}
