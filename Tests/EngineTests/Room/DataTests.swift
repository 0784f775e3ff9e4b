import Engine
import Testing
import Wire

struct DataTests {
    @Test func dataGoesToEverybodyButItsSender() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.join("cid")
        #expect(world.ask(ann, .sendData(DataMessage(topic: "t", payload: .text("hi")))) == .reply(.done))
        #expect(world.trace == ["reply > ann", "data > bob cid"])
        #expect(world.news(bob).last == .data(from: "ann", topic: "t", .text("hi")))
    }

    @Test func dataGoesToThoseNamedOnceEach() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        world.join("cid")
        world.ask(ann, .sendData(DataMessage(topic: "", payload: .text("hi"), to: ["cid", "nobody", "ann", "cid"])))
        #expect(world.trace == ["reply > ann", "data > cid"])
    }

    @Test func anEmptyListOfRecipientsMeansEverybody() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        world.ask(ann, .sendData(DataMessage(topic: "", payload: .text("hi"), to: [])))
        #expect(world.trace == ["reply > ann", "data > bob"])
    }

    @Test func ifNobodyNamedIsThereTheSenderLearnsIt() {
        var world = RoomWorld()
        let ann = world.join("ann")
        #expect(world.ask(ann, .sendData(DataMessage(topic: "", payload: .text("hi"), to: ["bob"])))?.code == .notFound)
        #expect(world.ask(ann, .sendText(TextMessage(text: "hi", to: ["bob"])))?.code == .notFound)
    }

    @Test func whoIsAloneTalksToNobodyAndIsAnswered() {
        var world = RoomWorld()
        let ann = world.join("ann")
        #expect(world.ask(ann, .sendData(DataMessage(topic: "", payload: .text("hi")))) == .reply(.done))
        #expect(world.trace == ["reply > ann"])
        #expect(world.ask(ann, .sendData(DataMessage(topic: "", payload: .text("hi"), to: ["ann"]))) == .reply(.done))
        #expect(world.trace == ["reply > ann"])
    }

    @Test func aTextGetsANameThatSenderAndReadersShare() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.join("cid")
        guard case .reply(.textSent(let id)) = world.ask(ann, .sendText(TextMessage(text: "hi", to: ["bob"]))) else {
            Issue.record("no id")
            return
        }
        #expect(world.trace == ["reply > ann", "text > bob"])
        #expect(id.hasPrefix("TX_"))
        #expect(world.news(bob).last == .text(id: id, from: "ann", topic: "lk.chat", text: "hi"))
    }

    @Test(arguments: [
        Request.sendData(DataMessage(topic: "", payload: .text("hi"))), .sendText(TextMessage(text: "hi")), .sendDigits("1"),
    ])
    func withoutTheGrantNothingIsSent(request: Request) {
        var world = RoomWorld()
        let mute = world.join("mute", permission: Permission(canPublishData: false))
        world.join("bob")
        #expect(world.ask(mute, request)?.code == .notAllowed)
        #expect(world.trace == ["refuse not_allowed > mute"])
    }

    @Test(arguments: [
        (Request.sendData(DataMessage(topic: "", payload: .text(String(repeating: "x", count: 64_000)))), true),
        (.sendData(DataMessage(topic: "", payload: .text(String(repeating: "x", count: 64_001)))), false),
        // Umlauts are two bytes each.
        (.sendData(DataMessage(topic: "", payload: .text(String(repeating: "ä", count: 32_001)))), false),
        // What counts of Base64 is what it means.
        (.sendData(DataMessage(topic: "", payload: .base64(String(repeating: "A", count: 85_334) + "=="))), true),
        (.sendData(DataMessage(topic: "", payload: .base64(String(repeating: "A", count: 85_335) + "="))), false),
        (.sendData(DataMessage(topic: String(repeating: "t", count: 256), payload: .text(""))), true),
        (.sendData(DataMessage(topic: String(repeating: "t", count: 257), payload: .text(""))), false),
        (.sendText(TextMessage(text: String(repeating: "x", count: 64_000))), true),
        (.sendText(TextMessage(text: String(repeating: "x", count: 64_001))), false),
        (.sendText(TextMessage(text: "", topic: String(repeating: "t", count: 257))), false),
    ])
    func sizesHaveLimits(request: Request, fits: Bool) {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        let code = world.ask(ann, request)?.code
        #expect(code == (fits ? nil : .limitExceeded))
        #expect(world.effects.count == (fits ? 2 : 1))
    }

    @Test func aHiddenSenderHasNoName() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let spy = world.join("spy", permission: Permission(hidden: true))
        world.forgetNews()
        world.ask(spy, .sendData(DataMessage(topic: "t", payload: .text("psst"))))
        world.ask(spy, .sendText(TextMessage(text: "psst")))
        world.ask(spy, .sendDigits("1"))
        let senders = world.news(ann).map { event -> Identity? in
            switch event {
            case .data(let sender, _, _), .text(_, let sender, _, _), .digits(let sender, _): sender
            default: nil
            }
        }
        #expect(senders == ["", "", ""])
    }

    @Test func aHiddenOneReceivesWhatEverybodyDoes() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("spy", permission: Permission(hidden: true))
        world.ask(ann, .sendData(DataMessage(topic: "", payload: .text("hi"))))
        #expect(world.trace == ["reply > ann", "data > spy"])
    }
}

struct DigitsTests {
    @Test func digitsGoToEverybodyElse() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        #expect(world.ask(ann, .sendDigits("0123456789*#ABCDw")) == .reply(.done))
        #expect(world.trace == ["reply > ann", "digits > bob"])
        #expect(world.news(bob).last == .digits(from: "ann", "0123456789*#ABCDw"))
    }

    @Test(arguments: ["", "E", "a", "1 2", "+49", String(repeating: "1", count: 65)])
    func whatIsOnNoKeypadIsRefused(digits: String) {
        var world = RoomWorld()
        let ann = world.join("ann")
        #expect(world.ask(ann, .sendDigits(digits))?.code == .invalidArgument)
    }

    @Test func sixtyFourDigitsAreFine() {
        var world = RoomWorld()
        let ann = world.join("ann")
        #expect(world.ask(ann, .sendDigits(String(repeating: "1", count: 64))) == .reply(.done))
    }
}
