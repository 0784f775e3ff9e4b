import Engine
import Testing
import Wire

/// Assistants' processes that take jobs instead of calls.
struct DedicatedProcessTests {
    private var world = CallWorld()
    private let ann: DeviceID
    private let worker: DeviceID

    init() {
        ann = world.connect("ann")
        worker = world.connect("assistant:helper.worker")
    }

    private var dispatched: [CallID] {
        world.effects.compactMap { if case .dispatch("helper", let call) = $0 { call.id } else { nil } }
    }

    @Test mutating func callIsDispatchedInsteadOfRinging() {
        world.receive(.dedicated(worker))
        let call = world.call(ann, "assistant:helper")
        #expect(dispatched == [call])
        #expect(world.received[worker] == nil)
        world.receive(.ringing(call, .assistant("helper")))
        #expect(world.status(ann) == .ringing)
        world.receive(.joinedRoom(call, .assistant("helper")))
        #expect(world.status(ann) == .answered)
    }

    @Test mutating func ringingCallIsDispatchedWhenItsOnlyProcessIsDedicated() {
        let call = world.call(ann, "assistant:helper")
        world.receive(.dedicated(worker))
        #expect(dispatched == [call])
        world.receive(.failed(call, .assistant("helper"), reason: "no worker took the job"))
        #expect(world.received[ann]?.last?.call.status == .failed)
    }

    @Test mutating func ringingCallStaysWithAnotherProcess() {
        let other = world.connect("assistant:helper.other")
        let call = world.call(ann, "assistant:helper")
        world.receive(.dedicated(worker))
        #expect(dispatched.isEmpty)
        #expect(world.send(other, .answer(call))?.isAdmission == true)
    }

    @Test mutating func answeredCallIsNotDispatched() {
        let call = world.call(ann, "assistant:helper")
        world.send(worker, .answer(call))
        world.receive(.dedicated(worker))
        #expect(dispatched.isEmpty && world.status(ann) == .answered)
    }

    @Test mutating func userCannotBeDedicated() {
        world.receive(.dedicated(ann))
        #expect(world.effects.isEmpty)
        #expect(world.call(ann, "assistant:helper") != CallID(text: "none"))
    }
}
