import Testing
import Wire

@testable import Engine

/// An assistant that was asked for and is not there, as the participants of a room see it.
struct AgentWaitingTests {
    private var world = RoomWorld()

    private mutating func wait(_ reason: AgentWaitReason, _ agent: Identity = "helper") {
        world.receive(.administered(.agentWaiting(agent, reason)))
    }

    private static func waits(_ events: [Event]) -> [AgentWaitReason] {
        events.compactMap { if case .agentWaiting("helper", let reason) = $0 { reason } else { nil } }
    }

    @Test mutating func eachReasonIsToldToEverybodyOnce() {
        let (ann, bob) = (world.join("ann"), world.join("bob"))
        wait(.noWorker)
        wait(.noWorker)
        wait(.busy)
        wait(.busy)
        #expect(Self.waits(world.takeEvents(ann)) == [.noWorker, .busy])
        #expect(Self.waits(world.takeEvents(bob)) == [.noWorker, .busy])
    }

    @Test mutating func newcomerIsToldAfterItsHello() {
        world.join("ann")
        wait(.busy)
        let events = world.takeEvents(world.join("bob"))
        #expect(events.words == ["hello", "agentWaiting"] && Self.waits(events) == [.busy])
    }

    @Test mutating func joinOfTheAssistantEndsTheWaitWithoutAnEvent() {
        let ann = world.join("ann")
        wait(.busy)
        world.discardEvents()
        let helper = world.join("helper", kind: .agent)
        #expect(world.takeEvents(ann).words == ["participantJoined", "agentJoined"])
        #expect(Self.waits(world.takeEvents(helper)).isEmpty && Self.waits(world.takeEvents(world.join("bob"))).isEmpty)
        // Lost again, it is waited for again.
        world.receive(.left(helper, .signalClose))
        world.discardEvents()
        wait(.busy)
        #expect(Self.waits(world.takeEvents(ann)) == [.busy])
    }

    @Test mutating func assistantThatIsThereIsNotWaitedFor() {
        let ann = world.join("ann")
        let helper = world.join("helper", kind: .agent)
        wait(.busy)
        world.receive(.left(helper, .clientInitiated))
        #expect(Self.waits(world.takeEvents(ann)).isEmpty && Self.waits(world.takeEvents(world.join("bob"))).isEmpty)
    }

    @Test mutating func endOfTheWaitIsToldOnceAndOnlyToThoseWhoKnowOfIt() {
        let ann = world.join("ann")
        wait(.ended)
        #expect(Self.waits(world.takeEvents(ann)).isEmpty)
        wait(.busy)
        wait(.ended)
        wait(.ended)
        #expect(Self.waits(world.takeEvents(ann)) == [.busy, .ended])
        #expect(Self.waits(world.takeEvents(world.join("bob"))).isEmpty)
    }

    @Test mutating func assistantsWaitApartAndTheirNumberIsLimited() {
        let ann = world.join("ann")
        world.discardEvents()
        for number in 0...Limits.jobsPerRoomMax { wait(.busy, Identity(text: "helper \(number)")) }
        #expect(world.takeEvents(ann).count == Limits.jobsPerRoomMax)
        #expect(world.takeEvents(world.join("bob")).words.count { $0 == "agentWaiting" } == Limits.jobsPerRoomMax)
    }
}
