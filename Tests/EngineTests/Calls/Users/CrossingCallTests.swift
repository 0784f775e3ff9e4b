import Engine
import Testing
import Wire

/// Two users who call each other at the same time get one call.
struct CrossingCallTests {
    private var world = CallWorld()
    private let (ann, bob): (DeviceID, DeviceID)

    init() {
        ann = world.connect("ann")
        bob = world.connect("bob")
    }

    @Test mutating func secondCallAnswersTheFirst() {
        let call = world.call(ann, "bob")
        let answer = world.send(bob, .start(CallStart(to: [.user("ann")], callerName: "Bob")))
        #expect(answer?.isAdmission == true && answer?.call?.id == call)
        #expect(world.trace == ["admit bob > bob", "answered by bob > ann bob"])
        #expect(world.machine.count == 1)
        for device in [ann, bob] { #expect(world.status(device) == .answered) }
    }

    @Test mutating func itDoesSoByHTTPAndWithoutDevices() {
        for device in [ann, bob] { world.disconnect(device) }
        let first = world.sendByHTTP("ann", .start(CallStart(to: [.user("bob")])))
        let second = world.sendByHTTP("bob", .start(CallStart(to: [.user("ann")])))
        #expect(second?.isAdmission == true && second?.call?.id == first?.call?.id && second?.call?.status == .answered)
    }

    @Test mutating func repeatedKeyOfTheSecondCallReturnsTheFirst() {
        let call = world.call(ann, "bob")
        var start = CallStart(to: [.user("ann")], idempotencyKey: "k")
        for _ in 1...2 {
            let answer = world.sendByHTTP("bob", .start(start))
            #expect(answer?.isAdmission == true && answer?.call?.id == call)
        }
        start.callerName = "Bob"
        #expect(world.sendByHTTP("bob", .start(start))?.code == .idempotencyKeyReused)
        #expect(world.machine.count == 1)
    }

    @Test mutating func otherDevicesOfBothStopRinging() {
        let (tablet, car) = (world.connect("ann.tablet"), world.connect("bob.car"))
        let call = world.call(ann, "bob")
        _ = world.call(bob, "ann")
        for device in [tablet, car] { #expect(world.received[device]?.last?.kind == .answered) }
        #expect(world.send(car, .answer(call))?.code == .conflict)
    }

    @Test mutating func callsToOthersTooDoNotCross() {
        let cid = world.connect("cid")
        _ = world.call(ann, "bob", "cid")
        _ = world.call(bob, "ann")
        #expect(world.status(bob) == .busy)
        #expect(world.kinds(cid) == ["incoming"])
    }

    @Test mutating func callThatIsOverDoesNotCross() {
        world.send(ann, .cancel(world.call(ann, "bob")))
        let second = world.call(bob, "ann")
        #expect(world.received[ann]?.last?.kind == .incoming && world.received[ann]?.last?.call.id == second)
    }

    @Test mutating func userInAnotherCallDoesNotCross() {
        let cid = world.connect("cid")
        _ = world.call(cid, "bob")
        _ = world.call(ann, "bob")
        let call = world.received[bob]?.first?.call.id ?? CallID(text: "none")
        world.send(bob, .answer(call))
        #expect(world.send(bob, .start(CallStart(to: [.user("ann")])))?.code == .conflict)
        #expect(world.status(ann) == .busy)
    }

    @Test mutating func callerStillHasToArrive() {
        _ = world.call(ann, "bob")
        let call = world.call(bob, "ann")
        world.receive(.joinedRoom(call, .user("bob")))
        world.pass(.seconds(30))
        #expect(world.status(bob) == .completed, "ann did not join the room in time")
    }

    /// Both users call each other from up to two devices, among other requests in any order. Whoever of them starts while the other's call
    /// rings is connected to it, so that never two calls are between them.
    @Test(arguments: 0..<12 as Range<UInt64>)
    func anyOrderConnects(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var connected = 0
        for round in 0..<200 {
            var world = CallWorld(CallSettings(waiting: round % 2 == 0 ? .busy : .ring), seed: seed << 32 + UInt64(round))
            let devices = ["ann.phone", "ann.tablet", "bob.phone", "bob.car"].map { world.connect($0) }
            var requests: [(name: Identity, to: Identity, device: DeviceID?)] = [("ann", "bob", devices[0]), ("bob", "ann", devices[2])]
            if random.below(3) == 0 { requests.append(("ann", "bob", nil)) }
            if random.below(3) == 0 { requests.append(("bob", "ann", devices[3])) }
            let cancels = random.below(4) == 0
            var calls: Set<CallID> = []
            var callers: Set<Identity> = []
            while !requests.isEmpty {
                let (name, to, device) = requests.remove(at: random.below(requests.count))
                let start = CallRequest.start(CallStart(to: [.user(to)]))
                let answer = device.map { world.send($0, start) } ?? world.sendByHTTP(name, start)
                guard answer?.isAdmission == true, let call = answer?.call else { continue }
                calls.insert(call.id)
                callers.insert(name)
                if cancels, calls.count == 1, call.status != .answered { world.send(devices[name == "ann" ? 1 : 3], .cancel(call.id)) }
                if random.below(3) == 0 { world.pass(.milliseconds(random.below(5_000))) }
                #expect(world.machine.count <= 1, "round \(round)")
            }
            guard !cancels else { continue }
            let states = devices.map { world.received[$0]?.last?.call.status }
            #expect(calls.count == 1 && callers.count == 2 && Set(states) == [.answered], "round \(round): \(states)")
            connected += 1
        }
        #expect(connected > 100, "\(connected)")
    }
}
