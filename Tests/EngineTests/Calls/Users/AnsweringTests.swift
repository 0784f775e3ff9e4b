import Engine
import Testing
import Wire

struct AnsweringTests {
    private var world = CallWorld()
    private let ann: DeviceID
    private let phone: DeviceID
    private let car: DeviceID
    private let call: CallID

    init() {
        ann = world.connect("ann")
        phone = world.connect("bob.phone")
        car = world.connect("bob.car")
        call = world.call(ann, "bob")
    }

    @Test mutating func answeringDeviceIsAdmittedToTheRoom() {
        world.send(phone, .answer(call))
        #expect(world.trace == ["admit bob > bob.phone", "answered by bob > ann bob.phone bob.car"])
    }

    @Test mutating func otherDevicesLearnWhichDeviceAnswered() {
        world.send(phone, .answer(call))
        #expect(world.received[car]?.last?.device == phone)
        #expect(world.received[car]?.last?.call.member(.user("bob"))?.device == phone)
    }

    @Test mutating func secondAnswerIsRejected() {
        world.send(phone, .answer(call))
        let late = world.send(car, .answer(call))
        #expect(late?.code == .conflict)
        #expect(late?.call?.status == .answered)
        #expect(late?.call?.member(.user("bob"))?.device == phone)
        #expect(world.kinds(ann) == ["started", "answered"])
    }

    @Test mutating func answerAfterTheCallEndedIsRejected() {
        world.send(ann, .cancel(call))
        let late = world.send(phone, .answer(call))
        #expect(late?.code == .conflict)
        #expect(late?.call?.status == .cancelled)
    }

    @Test mutating func answeredCallCannotBeCancelled() {
        world.send(phone, .answer(call))
        let late = world.send(ann, .cancel(call))
        #expect(late?.code == .conflict)
        #expect(late?.call?.status == .answered)
    }

    @Test mutating func answeredCallCannotBeRejected() {
        world.send(phone, .answer(call))
        #expect(world.send(car, .reject(call, CallRejection()))?.code == .conflict)
    }

    @Test mutating func answeredCallStopsRinging() {
        world.send(phone, .answer(call))
        arrive("ann", "bob")
        world.pass(.seconds(60))
        #expect(world.kinds(ann) == ["started", "answered"])
    }

    @Test mutating func answerWithoutAnIDIsRejected() {
        world.receive(.request(.answer(call), from: .device(phone, id: nil)))
        #expect(world.answers[.device(phone, id: nil)]?.first?.code == .invalidArgument)
        #expect(world.status(ann) == .ringing)
    }

    @Test mutating func hangUpEndsACallOfTwo() {
        world.send(phone, .answer(call))
        world.send(phone, .hangUp(call))
        #expect(world.kinds(ann) == ["started", "answered", "left", "ended"])
        #expect(world.kinds(car) == ["incoming", "answered", "left", "ended"])
        #expect(world.status(ann) == .completed)
    }

    @Test mutating func anyDeviceOfAMemberCanHangUp() {
        world.send(phone, .answer(call))
        #expect(world.send(car, .hangUp(call))?.call?.status == .completed)
        #expect(world.received[phone]?.last?.kind == .ended)
    }

    @Test mutating func leavingTheRoomEndsTheCall() {
        world.send(phone, .answer(call))
        arrive("ann", "bob")
        world.receive(.leftRoom(call, .user("ann")))
        #expect(world.kinds(phone) == ["incoming", "answered", "left", "ended"])
        #expect(world.status(phone) == .completed)
    }

    @Test mutating func roomEndEndsTheCall() {
        world.send(phone, .answer(call))
        world.receive(.roomEnded(call))
        #expect(world.status(phone) == .completed)
        #expect(world.status(ann) == .completed)
    }

    @Test mutating func absentCalleeFailsAfterTheArrivalTimeout() {
        world.send(phone, .answer(call))
        arrive("ann")
        world.pass(.milliseconds(29_999))
        #expect(world.status(ann) == .answered)
        world.pass(.milliseconds(1))
        #expect(world.trace == ["failed by bob > ann bob.phone bob.car", "ended > ann bob.phone bob.car", "end room"])
    }

    @Test mutating func absentCallerFailsAfterTheArrivalTimeout() {
        world.pass(.seconds(40))
        world.send(phone, .answer(call))
        arrive("bob")
        world.pass(.seconds(30))
        #expect(world.received[phone]?.dropLast().last?.by == .user("ann"))
        #expect(world.status(phone) == .completed)
    }

    @Test mutating func anotherDeviceTakesOverTheCall() {
        world.send(phone, .answer(call))
        #expect(world.send(car, .join(call))?.isAdmission == true)
        #expect(world.trace == ["admit bob > bob.car", "moved by bob > ann bob.phone bob.car"])
        #expect(world.received[phone]?.last?.device == car)
        #expect(world.machine.snapshot(of: "ann").first?.member(.user("bob"))?.device == car)
    }

    @Test mutating func repeatedJoinOfTheSameDeviceIsNoTakeover() {
        world.send(phone, .answer(call))
        #expect(world.send(phone, .join(call))?.isAdmission == true)
        #expect(world.trace == ["admit bob > bob.phone"])
    }

    @Test mutating func takeoverByHTTPIsReportedWithoutADevice() {
        world.send(phone, .answer(call))
        world.sendByHTTP("bob", .join(call))
        #expect(world.trace == ["admit bob > web of bob", "moved by bob > ann bob.phone bob.car"])
        #expect(world.received[phone]?.last?.call.member(.user("bob"))?.device == nil)
    }

    @Test mutating func oldDeviceMayLeaveBeforeTheNewOneJoins() {
        world.send(phone, .answer(call))
        arrive("ann", "bob")
        world.send(car, .join(call))
        world.receive(.leftRoom(call, .user("bob")))
        #expect(world.trace.isEmpty)
        arrive("bob")
        world.pass(.seconds(60))
        #expect(world.status(ann) == .answered)
        world.receive(.leftRoom(call, .user("bob")))
        #expect(world.status(ann) == .completed)
    }

    @Test mutating func takeoverWithoutArrivalFails() {
        world.send(phone, .answer(call))
        arrive("ann", "bob")
        world.pass(.seconds(20))
        world.send(car, .join(call))
        world.receive(.leftRoom(call, .user("bob")))
        world.pass(.milliseconds(29_999))
        #expect(world.status(ann) == .answered)
        world.pass(.milliseconds(1))
        #expect(world.trace == ["failed by bob > ann bob.phone bob.car", "ended > ann bob.phone bob.car", "end room"])
    }

    @Test mutating func oldDeviceInTheRoomKeepsTheCallAlive() {
        world.send(phone, .answer(call))
        arrive("ann", "bob")
        world.send(car, .join(call))
        world.pass(.seconds(60))
        #expect(world.status(ann) == .answered)
    }

    @Test mutating func takeoverRequiresAnAnswer() {
        #expect(world.send(car, .join(call))?.code == .conflict)
    }

    @Test mutating func lostChannelDoesNotChangeTheCall() {
        world.send(phone, .answer(call))
        arrive("ann", "bob")
        world.disconnect(phone)
        #expect(world.trace.isEmpty)
        let again = world.connect("bob.phone")
        #expect(world.hellos[again]?.first?.status == .answered)
        #expect(world.send(again, .hangUp(call))?.call?.status == .completed)
    }

    @Test mutating func disconnectedDeviceReceivesNothing() {
        world.disconnect(car)
        world.send(phone, .answer(call))
        #expect(world.kinds(car) == ["incoming"])
        world.receive(.request(.hangUp(call), from: .device(car, id: 7)))
        #expect(world.trace.isEmpty)
    }

    private mutating func arrive(_ names: Identity...) {
        for name in names { world.receive(.joinedRoom(call, .user(name))) }
    }

    @Test func callsCarryTheTimesOfTheirStartFirstAnswerAndEnd() throws {
        var world = CallWorld()
        let (ann, bob, eve) = (world.connect("ann.phone"), world.connect("bob.phone"), world.connect("eve.phone"))
        let start = Int64(world.now.nanoseconds / 1_000_000)
        let call = world.call(ann, "bob", "eve")
        let ringing = try #require(world.received[bob]?.last?.call)
        #expect(ringing.startedAt == start && ringing.answeredAt == nil && ringing.endedAt == nil)
        world.pass(.seconds(2))
        world.send(bob, .answer(call))
        world.pass(.seconds(1))
        world.send(eve, .answer(call))
        #expect(world.received[eve]?.last?.call.answeredAt == start + 2_000, "the first answer counts")
        world.pass(.seconds(5))
        world.send(ann, .hangUp(call))
        world.send(eve, .hangUp(call))
        let ended = try #require(world.received[bob]?.last?.call)
        #expect(ended.startedAt == start && ended.answeredAt == start + 2_000 && ended.endedAt == start + 8_000)
    }

    @Test func aCallThatNobodyAnswersHasNoTimeOfAnAnswer() throws {
        var world = CallWorld()
        let (ann, _) = (world.connect("ann.phone"), world.connect("bob.phone"))
        let call = world.call(ann, "bob")
        world.pass(.seconds(60))
        let ended = try #require(world.received[ann]?.last?.call)
        #expect(ended.id == call && ended.answeredAt == nil)
        #expect(try #require(ended.endedAt) - (try #require(ended.startedAt)) == 45_000)
    }
}
