import Engine
import Testing
import Wire

struct CallIdempotencyTests {
    private var world = CallWorld()
    private let ann: DeviceID
    private let start = CallStart(to: [.user("bob")], idempotencyKey: "k1")

    init() {
        ann = world.connect("ann")
    }

    @Test mutating func repeatedIdempotencyKeyReturnsTheSameCall() {
        let first = world.sendByHTTP("ann", .start(start))
        let second = world.sendByHTTP("ann", .start(start))
        #expect(first?.isAdmission == true)
        #expect(first == second)
        #expect(world.trace == ["admit ann > web of ann"])
        #expect(world.machine.count == 1)
    }

    @Test mutating func repeatedKeyAfterTheEndReturnsTheOutcome() {
        let call = world.sendByHTTP("ann", .start(start))?.call?.id ?? CallID(text: "none")
        world.send(ann, .cancel(call))
        let again = world.sendByHTTP("ann", .start(start))
        #expect(again?.isAdmission == false)
        #expect(again?.call?.status == .cancelled)
    }

    @Test mutating func keyOfADifferentCallIsRejected() {
        world.sendByHTTP("ann", .start(start))
        var other = start
        other.to = [.user("cid")]
        #expect(world.sendByHTTP("ann", .start(other))?.code == .idempotencyKeyReused)
    }

    @Test mutating func idempotencyKeysAreScopedByUser() {
        world.sendByHTTP("ann", .start(start))
        #expect(world.sendByHTTP("dan", .start(start))?.isAdmission == true)
        #expect(world.machine.count == 2)
    }
}
