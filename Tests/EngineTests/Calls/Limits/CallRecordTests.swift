import Engine
import Testing
import Wire

struct CallRecordTests {
    private var world = CallWorld()
    private let (ann, bob): (DeviceID, DeviceID)

    init() {
        ann = world.connect("ann")
        bob = world.connect("bob")
    }

    @Test mutating func callAndMemberChangesAreRecorded() {
        let call = world.call(ann, "bob")
        #expect(
            world.records == ["call_started", "call_ringing", "call_member_joined ann", "call_member_invited bob"])
        world.send(bob, .answer(call))
        #expect(world.records == ["call_answered", "call_member_joined bob"])
        world.send(ann, .hangUp(call))
        #expect(world.records == ["call_member_left ann", "call_member_left bob", "call_completed"])
    }

    @Test(arguments: [CallStatus.cancelled, .rejected, .busy, .timeout, .failed])
    mutating func unansweredCallIsRecordedWithItsOutcome(_ status: CallStatus) {
        let call = world.call(ann, "bob")
        switch status {
        case .cancelled: world.send(ann, .cancel(call))
        case .rejected: world.send(bob, .reject(call, CallRejection()))
        case .busy: world.send(bob, .reject(call, CallRejection(isBusy: true)))
        case .timeout: world.pass(.seconds(45))
        default: world.receive(.roomEnded(call))
        }
        #expect(world.records.last == "call_\(status)")
        #expect(world.records.count { $0.hasPrefix("call_member_left") } == 2)
    }

    @Test mutating func holdAndMuteAreNotRecorded() {
        let call = world.call(ann, "bob")
        world.send(bob, .answer(call))
        world.send(ann, .hold(call, held: true))
        world.send(ann, .mute(call, muted: true))
        #expect(world.records.isEmpty)
    }
}
