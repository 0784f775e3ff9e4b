import Engine
import Testing
import Wire

struct CallLimitsTests {
    @Test func callOfOthersIsNotFound() {
        var world = CallWorld()
        let (ann, eve) = (world.connect("ann"), world.connect("eve"))
        world.connect("bob")
        let call = world.call(ann, "bob")
        let nothing = CallID(text: "CA_nothing")
        let requests: [(CallID) -> CallRequest] = [
            { .answer($0) }, { .reject($0, CallRejection()) }, { .cancel($0) }, { .hangUp($0) }, { .hold($0, held: true) },
            { .mute($0, muted: true) }, { .invite($0, [.user("eve")]) }, { .join($0) },
        ]
        for request in requests {
            let error = world.send(eve, request(call))
            #expect(error?.code == .notFound)
            #expect(error == world.send(eve, request(nothing)), "the answer must not reveal the call")
        }
        #expect(world.kinds(ann) == ["started"])
    }

    @Test(arguments: [
        [], ["ann"], ["bob", "bob"], (0..<32).map { "user-\($0)" },
    ])
    func invalidCalleesAreRejected(_ names: [String]) {
        var world = CallWorld()
        let ann = world.connect("ann")
        #expect(world.send(ann, .start(CallStart(to: names.compactMap(CallParty.init(text:)))))?.code == .invalidArgument)
        #expect(world.machine.count == 0)
    }

    @Test func textFieldsAreLimited() {
        var world = CallWorld()
        let ann = world.connect("ann")
        let long = String(repeating: "x", count: 1_025)
        for start in [
            CallStart(to: [.user("bob")], callerName: long), CallStart(to: [.user("bob")], metadata: long),
            CallStart(to: [.user("bob")], idempotencyKey: long), CallStart(to: [.user("bob")], idempotencyKey: ""),
        ] {
            #expect(world.send(ann, .start(start))?.code == .invalidArgument)
        }
    }

    @Test func membersAreLimited() {
        var world = CallWorld()
        let ann = world.connect("ann")
        let answer = world.send(ann, .start(CallStart(to: (0..<31).compactMap { CallParty(text: "user-\($0)") })))
        let call = answer?.call?.id ?? CallID(text: "none")
        #expect(world.send(ann, .invite(call, [.user("bob")]))?.code == .limitExceeded)
    }

    @Test func callStartsAreRateLimited() {
        var world = CallWorld()
        let ann = world.connect("ann")
        for _ in 0..<10 { world.send(ann, .cancel(world.call(ann, "bob"))) }
        let error = world.send(ann, .start(CallStart(to: [.user("bob")])))
        #expect(error?.code == .limitExceeded)
        world.pass(.seconds(1))
        #expect(world.send(ann, .start(CallStart(to: [.user("bob")])))?.isAdmission == true)
    }

    @Test func userIsBusyBeyondTheCallLimit() {
        var world = CallWorld()
        let bob = world.connect("bob")
        let callers = (0..<9).map { world.connect("caller-\($0)") }
        for caller in callers { _ = world.call(caller, "bob") }
        #expect(callers.map { world.status($0) } == Array(repeating: .ringing, count: 8) + [.busy])
        #expect(world.kinds(bob).count == 8)
    }

    @Test func seventeenthDeviceEvictsTheOldest() {
        var world = CallWorld()
        let devices = (0..<16).map { world.connect("bob.\($0)") }
        world.connect("bob.16")
        #expect(world.trace == ["close bob.0", "greet 0 > bob.16"])
        #expect(world.machine.deviceCount == 16)
        world.receive(.disconnected(devices[0]))
        #expect(world.machine.deviceCount == 16)
    }

    @Test func endedCallsAreRemovedAfterAWhile() {
        var world = CallWorld()
        let ann = world.connect("ann")
        let call = world.call(ann, "bob")
        world.send(ann, .cancel(call))
        world.pass(.seconds(119))
        #expect(world.send(ann, .hangUp(call))?.code == .conflict)
        world.pass(.seconds(1))
        #expect(world.send(ann, .hangUp(call))?.code == .notFound)
        #expect(world.machine.deadline == nil)
    }

    @Test func pingIsAnswered() {
        var world = CallWorld()
        let ann = world.connect("ann")
        #expect(world.send(ann, .ping(42)) == .reply(CallReply(pong: 42)))
    }

    @Test func callRequestWithoutAnIDGetsNoReply() {
        var world = CallWorld()
        let (ann, bob) = (world.connect("ann"), world.connect("bob"))
        let call = world.call(ann, "bob")
        world.receive(.request(.reject(call, CallRejection()), from: .device(bob, id: nil)))
        #expect(world.trace == ["rejected by bob > ann bob", "ended > ann bob", "end room"])
    }

    @Test func sameSeedAndInputsGiveTheSameEffects() {
        func run() -> [CallStateMachine.Effect] {
            var world = RandomCallWorld(seed: 7)
            for _ in 0..<300 { world.step() }
            return world.world.history
        }
        #expect(run() == run())
    }
}
