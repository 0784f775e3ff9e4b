import Engine
import Testing
import Wire

struct RepeatedStartTests {
    private var world = CallWorld()
    private let ann: DeviceID
    private let start = CallStart(to: [.user("bob")], idempotencyKey: "k1")

    init() {
        ann = world.connect("ann")
    }

    @Test mutating func theSameKeyIsTheSameCall() {
        let first = world.askByWeb("ann", .start(start))
        let second = world.askByWeb("ann", .start(start))
        #expect(first?.isAdmission == true)
        #expect(first == second)
        #expect(world.trace == ["admit ann > web of ann"])
        #expect(world.desk.count == 1)
    }

    @Test mutating func theSameKeyAfterTheEndTellsHowItEnded() {
        let call = world.askByWeb("ann", .start(start))?.call?.id ?? CallID(text: "none")
        world.ask(ann, .cancel(call))
        let again = world.askByWeb("ann", .start(start))
        #expect(again?.isAdmission == false)
        #expect(again?.call?.status == .cancelled)
    }

    @Test mutating func aKeyIsForOneCallOnly() {
        world.askByWeb("ann", .start(start))
        var other = start
        other.to = [.user("cid")]
        #expect(world.askByWeb("ann", .start(other))?.code == .conflict)
    }

    @Test mutating func anotherUsersKeyIsAnotherKey() {
        world.askByWeb("ann", .start(start))
        #expect(world.askByWeb("dan", .start(start))?.isAdmission == true)
        #expect(world.desk.count == 2)
    }
}
