import Engine
import Testing
import Wire

struct RingingTests {
    @Test func callRingsOnEveryDevice() {
        var world = CallWorld()
        let ann = world.connect("ann.phone")
        world.connect("ann.car")
        world.connect("bob.phone")
        world.connect("bob.car")
        world.connect("cid.phone")
        _ = world.call(ann, "bob")
        #expect(world.trace == ["admit ann > ann.phone", "started by ann > ann.phone ann.car", "incoming by ann > bob.phone bob.car"])
    }

    @Test func incomingCallCarriesCallerAndMetadata() throws {
        var world = CallWorld()
        let ann = world.connect("ann")
        let bob = world.connect("bob")
        world.send(ann, .start(CallStart(to: [.user("bob")], callerName: "Ann", metadata: "about lunch")))
        let call = try #require(world.received[bob]?.first?.call)
        #expect(call.caller == .user("ann"))
        #expect(call.callerName == "Ann")
        #expect(call.metadata == "about lunch")
        #expect(call.room == "call-\(call.id)")
        #expect(call.seq == 1)
        #expect(call.members.map(\.status) == [.answered, .ringing])
    }

    @Test func callRingsWhenADeviceConnectsLater() throws {
        var world = CallWorld()
        let ann = world.connect("ann")
        _ = world.call(ann, "bob")
        #expect(world.status(ann) == .started)
        world.pass(.seconds(20))
        let bob = world.connect("bob")
        #expect(world.trace == ["ringing by bob > ann", "greet 1 > bob"])
        #expect(world.status(ann) == .ringing)
        #expect(world.hellos[bob]?.first?.member(.user("bob"))?.status == .ringing)
        #expect(world.hellos[bob]?.first?.seq == 2)
    }

    @Test func unansweredCallIsMissedAfter45Seconds() {
        var world = CallWorld()
        let ann = world.connect("ann")
        let bob = world.connect("bob")
        _ = world.call(ann, "bob")
        world.pass(.milliseconds(44_999))
        #expect(world.kinds(bob) == ["incoming"])
        world.pass(.milliseconds(1))
        #expect(world.trace == ["missed by bob > ann bob", "ended > ann bob", "end room"])
        #expect(world.status(ann) == .timeout)
    }

    @Test func callerCancelsTheCall() {
        var world = CallWorld()
        let ann = world.connect("ann")
        let bob = world.connect("bob")
        let call = world.call(ann, "bob")
        world.send(ann, .cancel(call))
        #expect(world.trace == ["reply > ann", "cancelled by ann > ann bob", "ended > ann bob", "end room"])
        #expect(world.status(bob) == .cancelled)
    }

    @Test func hangUpBeforeAnAnswerCancelsTheCall() {
        var world = CallWorld()
        let ann = world.connect("ann")
        let bob = world.connect("bob")
        let call = world.call(ann, "bob")
        world.send(ann, .hangUp(call))
        #expect(world.kinds(bob) == ["incoming", "cancelled", "ended"])
        #expect(world.status(bob) == .cancelled)
    }

    @Test func onlyTheCallerCancels() {
        var world = CallWorld()
        let ann = world.connect("ann")
        let bob = world.connect("bob")
        let call = world.call(ann, "bob")
        #expect(world.send(bob, .cancel(call))?.code == .notAllowed)
        #expect(world.status(ann) == .ringing)
    }

    @Test func rejectionIsReported() {
        var world = CallWorld()
        let ann = world.connect("ann")
        let bob = world.connect("bob.phone")
        let car = world.connect("bob.car")
        let call = world.call(ann, "bob")
        world.send(bob, .reject(call, CallRejection(reason: "in a meeting")))
        #expect(world.kinds(car) == ["incoming", "rejected", "ended"])
        #expect(world.received[ann]?[1].reason == "in a meeting")
        #expect(world.received[car]?[1].device == bob)
        #expect(world.status(ann) == .rejected)
    }

    @Test func busyRejectionIsReportedAsBusy() {
        var world = CallWorld()
        let ann = world.connect("ann")
        let bob = world.connect("bob")
        let call = world.call(ann, "bob")
        world.send(bob, .reject(call, CallRejection(isBusy: true)))
        #expect(world.kinds(ann) == ["started", "busy", "ended"])
        #expect(world.status(ann) == .busy)
    }

    @Test func rejectionReasonIsLimited() {
        var world = CallWorld()
        let ann = world.connect("ann")
        let bob = world.connect("bob")
        let call = world.call(ann, "bob")
        let reason = String(repeating: "x", count: 257)
        #expect(world.send(bob, .reject(call, CallRejection(reason: reason)))?.code == .invalidArgument)
        #expect(world.status(ann) == .ringing)
    }
}
