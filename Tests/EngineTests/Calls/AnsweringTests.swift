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

    @Test mutating func theDeviceThatAnswersIsLetIntoTheRoom() {
        world.ask(phone, .answer(call))
        #expect(world.trace == ["admit bob > bob.phone", "answered by bob > ann bob.phone bob.car"])
    }

    @Test mutating func theOtherDevicesLearnWhichOneItWas() {
        world.ask(phone, .answer(call))
        #expect(world.heard[car]?.last?.device == phone)
        #expect(world.heard[car]?.last?.call.member(.user("bob"))?.device == phone)
    }

    @Test mutating func theSecondToAnswerLearnsThatItIsLate() {
        world.ask(phone, .answer(call))
        let late = world.ask(car, .answer(call))
        #expect(late?.code == .conflict)
        #expect(late?.call?.status == .answered)
        #expect(late?.call?.member(.user("bob"))?.device == phone)
        #expect(world.kinds(ann) == ["started", "answered"])
    }

    @Test mutating func whoAnswersAfterTheCallerHungUpLearnsThatItIsOver() {
        world.ask(ann, .cancel(call))
        let late = world.ask(phone, .answer(call))
        #expect(late?.code == .conflict)
        #expect(late?.call?.status == .cancelled)
    }

    @Test mutating func whatWasAnsweredCanNoLongerBeTakenBack() {
        world.ask(phone, .answer(call))
        let late = world.ask(ann, .cancel(call))
        #expect(late?.code == .conflict)
        #expect(late?.call?.status == .answered)
    }

    @Test mutating func whatWasAnsweredCanNoLongerBeRejected() {
        world.ask(phone, .answer(call))
        #expect(world.ask(car, .reject(call, CallRejection()))?.code == .conflict)
    }

    @Test mutating func whatWasAnsweredRingsNoMore() {
        world.ask(phone, .answer(call))
        arrive("ann", "bob")
        world.pass(.seconds(60))
        #expect(world.kinds(ann) == ["started", "answered"])
    }

    @Test mutating func anAnswerWithoutANumberWouldLeadNowhere() {
        world.happens(.request(.answer(call), from: .device(phone, id: nil)))
        #expect(world.answers[.device(phone, id: nil)]?.first?.code == .invalidArgument)
        #expect(world.status(ann) == .ringing)
    }

    @Test mutating func whoeverHangsUpEndsACallOfTwo() {
        world.ask(phone, .answer(call))
        world.ask(phone, .hangUp(call))
        #expect(world.kinds(ann) == ["started", "answered", "left", "ended"])
        #expect(world.kinds(car) == ["incoming", "answered", "left", "ended"])
        #expect(world.status(ann) == .completed)
    }

    @Test mutating func anotherDeviceOfTheSameUserMayHangUp() {
        world.ask(phone, .answer(call))
        #expect(world.ask(car, .hangUp(call))?.call?.status == .completed)
        #expect(world.heard[phone]?.last?.kind == .ended)
    }

    @Test mutating func aCallEndsWhenSomebodyLeavesItsRoom() {
        world.ask(phone, .answer(call))
        arrive("ann", "bob")
        world.happens(.leftRoom(call, .user("ann")))
        #expect(world.kinds(phone) == ["incoming", "answered", "left", "ended"])
        #expect(world.status(phone) == .completed)
    }

    @Test mutating func aCallEndsWithItsRoom() {
        world.ask(phone, .answer(call))
        world.happens(.roomEnded(call))
        #expect(world.status(phone) == .completed)
        #expect(world.status(ann) == .completed)
    }

    @Test mutating func whoDoesNotComeToTheRoomIsNotWaitedForForever() {
        world.ask(phone, .answer(call))
        arrive("ann")
        world.pass(.milliseconds(29_999))
        #expect(world.status(ann) == .answered)
        world.pass(.milliseconds(1))
        #expect(world.trace == ["failed by bob > ann bob.phone bob.car", "ended > ann bob.phone bob.car", "end room"])
    }

    @Test mutating func aCallerThatNeverCameToTheRoomIsNotWaitedForEither() {
        world.pass(.seconds(40))
        world.ask(phone, .answer(call))
        arrive("bob")
        world.pass(.seconds(30))
        #expect(world.heard[phone]?.dropLast().last?.by == .user("ann"))
        #expect(world.status(phone) == .completed)
    }

    @Test mutating func anotherDeviceTakesTheCallOver() {
        world.ask(phone, .answer(call))
        #expect(world.ask(car, .join(call))?.isAdmission == true)
        #expect(world.trace == ["admit bob > bob.car", "moved by bob > ann bob.phone bob.car"])
        #expect(world.heard[phone]?.last?.device == car)
        #expect(world.desk.snapshot(of: "ann").first?.member(.user("bob"))?.device == car)
    }

    @Test mutating func anotherTokenForTheSameDeviceMovesNothing() {
        world.ask(phone, .answer(call))
        #expect(world.ask(phone, .join(call))?.isAdmission == true)
        #expect(world.trace == ["admit bob > bob.phone"])
    }

    @Test mutating func aTakeoverByHTTPIsToldWithoutADevice() {
        world.ask(phone, .answer(call))
        world.askByWeb("bob", .join(call))
        #expect(world.trace == ["admit bob > web of bob", "moved by bob > ann bob.phone bob.car"])
        #expect(world.heard[phone]?.last?.call.member(.user("bob"))?.device == nil)
    }

    @Test mutating func theOldDeviceMayLeaveTheRoomBeforeTheNewOneIsThere() {
        world.ask(phone, .answer(call))
        arrive("ann", "bob")
        world.ask(car, .join(call))
        world.happens(.leftRoom(call, .user("bob")))
        #expect(world.trace.isEmpty)
        arrive("bob")
        world.pass(.seconds(60))
        #expect(world.status(ann) == .answered)
        world.happens(.leftRoom(call, .user("bob")))
        #expect(world.status(ann) == .completed)
    }

    @Test mutating func aDeviceThatTookTheCallOverAndDoesNotComeHasFailed() {
        world.ask(phone, .answer(call))
        arrive("ann", "bob")
        world.pass(.seconds(20))
        world.ask(car, .join(call))
        world.happens(.leftRoom(call, .user("bob")))
        world.pass(.milliseconds(29_999))
        #expect(world.status(ann) == .answered)
        world.pass(.milliseconds(1))
        #expect(world.trace == ["failed by bob > ann bob.phone bob.car", "ended > ann bob.phone bob.car", "end room"])
    }

    @Test mutating func anOldDeviceThatStaysInTheRoomKeepsTheCallAlive() {
        world.ask(phone, .answer(call))
        arrive("ann", "bob")
        world.ask(car, .join(call))
        world.pass(.seconds(60))
        #expect(world.status(ann) == .answered)
    }

    @Test mutating func whoHasNotAnsweredCannotTakeTheCallOver() {
        #expect(world.ask(car, .join(call))?.code == .conflict)
    }

    @Test mutating func aLostChannelLeavesTheCallAsItIs() {
        world.ask(phone, .answer(call))
        arrive("ann", "bob")
        world.disconnect(phone)
        #expect(world.trace.isEmpty)
        let again = world.connect("bob.phone")
        #expect(world.greetings[again]?.first?.status == .answered)
        #expect(world.ask(again, .hangUp(call))?.call?.status == .completed)
    }

    @Test mutating func aDeviceThatIsGoneIsNeitherToldNorAnswered() {
        world.disconnect(car)
        world.ask(phone, .answer(call))
        #expect(world.kinds(car) == ["incoming"])
        world.happens(.request(.hangUp(call), from: .device(car, id: 7)))
        #expect(world.trace.isEmpty)
    }

    private mutating func arrive(_ names: Identity...) {
        for name in names { world.happens(.joinedRoom(call, .user(name))) }
    }
}
