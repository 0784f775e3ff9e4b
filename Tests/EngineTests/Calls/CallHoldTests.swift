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
        world.ask(bob, .answer(call))
    }

    @Test(arguments: [true, false])
    mutating func eitherSideHoldsAndBothAreTold(_ isCaller: Bool) {
        let (device, name) = isCaller ? (ann, "ann") : (bob, "bob")
        world.ask(device, .hold(call, held: true))
        #expect(world.trace == ["reply > \(name)", "held by \(name) > ann bob", "hold \(name)"])
        world.ask(device, .hold(call, held: false))
        #expect(world.trace == ["reply > \(name)", "resumed by \(name) > ann bob", "unhold \(name)"])
    }

    @Test mutating func whatIsSoAlreadyIsNoEvent() {
        world.ask(ann, .hold(call, held: true))
        world.ask(ann, .hold(call, held: true))
        #expect(world.trace == ["reply > ann"])
        world.ask(bob, .mute(call, muted: false))
        #expect(world.trace == ["reply > bob"])
    }

    @Test mutating func bothMayHoldAtOnce() {
        world.ask(ann, .hold(call, held: true))
        world.ask(bob, .hold(call, held: true))
        world.ask(ann, .hold(call, held: false))
        #expect(world.heard[bob]?.last?.call.members.map(\.held) == [false, true])
    }

    @Test mutating func aCallThatRingsCannotBeHeld() {
        let cid = world.connect("cid")
        let dan = world.connect("dan")
        let other = world.call(cid, "dan")
        #expect(world.ask(cid, .hold(other, held: true))?.code == .conflict)
        #expect(world.ask(dan, .hold(other, held: true))?.code == .conflict)
    }

    @Test mutating func muteIsToldAndDoneInTheRoom() {
        world.ask(bob, .mute(call, muted: true))
        #expect(world.trace == ["reply > bob", "muted by bob > ann bob", "mute bob"])
        world.ask(bob, .mute(call, muted: false))
        #expect(world.trace == ["reply > bob", "unmuted by bob > ann bob", "unmute bob"])
    }

    @Test mutating func aCallerMayBeMutedBeforeSomebodyAnswers() {
        let cid = world.connect("cid")
        world.connect("dan")
        let other = world.call(cid, "dan")
        world.ask(cid, .mute(other, muted: true))
        #expect(world.trace == ["reply > cid", "muted by cid > cid dan", "mute cid"])
    }

    @Test mutating func whoHoldsOneCallMayMakeAnother() {
        let cid = world.connect("cid")
        world.ask(ann, .hold(call, held: true))
        let second = world.call(ann, "cid")
        #expect(world.kinds(cid) == ["incoming"])
        let refusal = world.ask(ann, .hold(call, held: false))
        #expect(refusal?.code == .conflict)
        #expect(refusal?.call?.id == second, "the answer tells which call is in the way")
        world.ask(ann, .cancel(second))
        #expect(world.ask(ann, .hold(call, held: false))?.call?.member(.user("ann"))?.held == false)
    }

    @Test mutating func whoTalksDoesNotMakeAnotherCall() {
        let refusal = world.ask(ann, .start(CallStart(to: [.user("cid")])))
        #expect(refusal?.code == .conflict)
        #expect(refusal?.call?.id == call)
    }
}
