import Testing
import Wire

@testable import Engine

struct DataTests {
    @Test func dataIsSentToEverybodyExceptItsSender() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.join("cid")
        #expect(world.send(ann, .sendData(DataMessage(topic: "t", payload: .text("hi")))) == .reply(.done))
        #expect(world.trace == ["reply > ann", "data > bob cid"])
        #expect(world.takeEvents(bob).last == .data(from: "ann", topic: "t", .text("hi")))
    }

    @Test func dataIsSentOnceToEachNamedRecipient() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        world.join("cid")
        world.send(ann, .sendData(DataMessage(topic: "", payload: .text("hi"), to: ["cid", "nobody", "ann", "cid"])))
        #expect(world.trace == ["reply > ann", "data > cid"])
    }

    @Test func emptyRecipientListMeansEverybody() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        world.send(ann, .sendData(DataMessage(topic: "", payload: .text("hi"), to: [])))
        #expect(world.trace == ["reply > ann", "data > bob"])
    }

    @Test func dataToUnknownRecipientsIsRejected() {
        var world = RoomWorld()
        let ann = world.join("ann")
        #expect(world.send(ann, .sendData(DataMessage(topic: "", payload: .text("hi"), to: ["bob"])))?.code == .notFound)
        #expect(world.send(ann, .sendText(TextMessage(text: "hi", to: ["bob"])))?.code == .notFound)
    }

    @Test func dataOfALoneParticipantIsAcknowledged() {
        var world = RoomWorld()
        let ann = world.join("ann")
        #expect(world.send(ann, .sendData(DataMessage(topic: "", payload: .text("hi")))) == .reply(.done))
        #expect(world.trace == ["reply > ann"])
        #expect(world.send(ann, .sendData(DataMessage(topic: "", payload: .text("hi"), to: ["ann"]))) == .reply(.done))
        #expect(world.trace == ["reply > ann"])
    }

    @Test func textIDIsSharedBySenderAndRecipients() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.join("cid")
        guard case .reply(.textSent(let id)) = world.send(ann, .sendText(TextMessage(text: "hi", to: ["bob"]))) else {
            Issue.record("no id")
            return
        }
        #expect(world.trace == ["reply > ann", "text > bob"])
        #expect(id.hasPrefix("TX_"))
        #expect(world.takeEvents(bob).last == .text(id: id, from: "ann", topic: "lk.chat", text: "hi"))
    }

    @Test(arguments: [
        Request.sendData(DataMessage(topic: "", payload: .text("hi"))), .sendText(TextMessage(text: "hi")), .sendDigits("1"),
    ])
    func sendingDataRequiresTheGrant(request: Request) {
        var world = RoomWorld()
        let mute = world.join("mute", permission: Permission(canPublishData: false))
        world.join("bob")
        #expect(world.send(mute, request)?.code == .notAllowed)
        #expect(world.trace == ["reject not_allowed > mute"])
    }

    @Test(arguments: [
        (Request.sendData(DataMessage(topic: "", payload: .text(String(repeating: "x", count: 64_000)))), true),
        (.sendData(DataMessage(topic: "", payload: .text(String(repeating: "x", count: 64_001)))), false),
        // Umlauts are two bytes each.
        (.sendData(DataMessage(topic: "", payload: .text(String(repeating: "ä", count: 32_001)))), false),
        // Base64 counts by its decoded size.
        (.sendData(DataMessage(topic: "", payload: .base64(String(repeating: "A", count: 85_334) + "=="))), true),
        (.sendData(DataMessage(topic: "", payload: .base64(String(repeating: "A", count: 85_335) + "="))), false),
        (.sendData(DataMessage(topic: String(repeating: "t", count: 256), payload: .text(""))), true),
        (.sendData(DataMessage(topic: String(repeating: "t", count: 257), payload: .text(""))), false),
        (.sendText(TextMessage(text: String(repeating: "x", count: 64_000))), true),
        (.sendText(TextMessage(text: String(repeating: "x", count: 64_001))), false),
        (.sendText(TextMessage(text: "", topic: String(repeating: "t", count: 257))), false),
    ])
    func sizesAreLimited(request: Request, fits: Bool) {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        let code = world.send(ann, request)?.code
        #expect(code == (fits ? nil : .limitExceeded))
        #expect(world.effects.count == (fits ? 2 : 1))
    }

    @Test func hiddenSenderIsAnonymous() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let spy = world.join("spy", permission: Permission(hidden: true))
        world.discardEvents()
        world.send(spy, .sendData(DataMessage(topic: "t", payload: .text("psst"))))
        world.send(spy, .sendText(TextMessage(text: "psst")))
        world.send(spy, .sendDigits("1"))
        let senders = world.takeEvents(ann).map { event -> Identity? in
            switch event {
            case .data(let sender, _, _), .text(_, let sender, _, _), .digits(let sender, _): sender
            default: nil
            }
        }
        #expect(senders == ["", "", ""])
    }

    @Test func hiddenParticipantReceivesBroadcasts() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("spy", permission: Permission(hidden: true))
        world.send(ann, .sendData(DataMessage(topic: "", payload: .text("hi"))))
        #expect(world.trace == ["reply > ann", "data > spy"])
    }
}

struct DigitsTests {
    @Test func digitsAreSentToEverybodyElse() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        #expect(world.send(ann, .sendDigits("0123456789*#ABCDw")) == .reply(.done))
        #expect(world.trace == ["reply > ann", "digits > bob"])
        #expect(world.takeEvents(bob).last == .digits(from: "ann", "0123456789*#ABCDw"))
    }

    @Test(arguments: ["", "E", "a", "1 2", "+49", String(repeating: "1", count: 65)])
    func digitsOutsideTheKeypadAreRejected(digits: String) {
        var world = RoomWorld()
        let ann = world.join("ann")
        #expect(world.send(ann, .sendDigits(digits))?.code == .invalidArgument)
    }

    @Test func sixtyFourDigitsAreAccepted() {
        var world = RoomWorld()
        let ann = world.join("ann")
        #expect(world.send(ann, .sendDigits(String(repeating: "1", count: 64))) == .reply(.done))
    }
}
