import Testing
import Wire

@testable import Engine

/// The presence of agents, as a room reports it to dispatch.
struct AgentPresenceTests {
    private static let settings: RoomSettings = {
        var settings = RoomSettings()
        settings.reporting.reportsAgents = true
        return settings
    }()

    private static func reports(_ world: RoomWorld) -> [AgentPresence] {
        world.history.compactMap { if case .agent("helper", let presence) = $0 { presence } else { nil } }
    }

    @Test func stayOfAnAgentIsReported() {
        var world = RoomWorld(Self.settings)
        world.join("ann")
        let helper = world.join("helper", kind: .agent)
        world.receive(.connectionLost(helper, .signalClose))
        let again = world.join("helper", kind: .agent, resuming: "resume-helper")
        world.receive(.left(again, .clientInitiated))
        #expect(Self.reports(world) == [.present, .away, .present, .left(.clientInitiated)])
    }

    @Test func agentReplacedByItsOwnIdentityHasNotLeft() {
        var world = RoomWorld(Self.settings)
        world.join("helper", kind: .agent)
        world.join("helper", kind: .agent)
        #expect(Self.reports(world) == [.present, .present])
    }

    @Test func presenceOfUsersIsReportedAndThatOfAgentsAndRecordersIsNot() {
        var world = RoomWorld(Self.settings)
        world.join("helper", kind: .agent)
        world.join("recorder", kind: .egress)
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.receive(.left(ann, .clientInitiated))
        world.receive(.connectionLost(bob, .signalClose))
        let again = world.join("bob", resuming: "resume-bob")
        world.receive(.left(again, .clientInitiated))
        world.join("cid")
        world.receive(.administered(.delete))
        #expect(world.history.compactMap { if case .attended(let isAttended) = $0 { isAttended } else { nil } } == [true, false, true])
        var silent = RoomWorld()
        silent.receive(.left(silent.join("ann"), .clientInitiated))
        #expect(!silent.history.contains { if case .attended = $0 { true } else { false } })
    }

    @Test func participantsAndUnwantedReportsAreOmitted() {
        var world = RoomWorld(Self.settings)
        world.receive(.left(world.join("helper"), .signalClose))
        #expect(Self.reports(world).isEmpty)
        var silent = RoomWorld()
        silent.receive(.left(silent.join("helper", kind: .agent), .signalClose))
        #expect(Self.reports(silent).isEmpty)
    }

    @Test func agentWithoutConnectionCanBeGivenUpBeforeItsTime() {
        var world = RoomWorld(Self.settings)
        let ann = world.join("ann")
        let helper = world.join("helper", kind: .agent)
        world.receive(.administered(.giveUp("helper")))
        #expect(world.effects.isEmpty, "a connected participant stays")
        world.receive(.connectionLost(helper, .signalClose))
        world.discardEvents()
        world.receive(.administered(.giveUp("helper")))
        #expect(
            world.takeEvents(ann) == [.participantLeft("helper", reason: .signalClose), .agentLost("helper", reason: .signalClose)])
        #expect(Self.reports(world).last == .left(.signalClose))
        world.join("helper", kind: .agent, resuming: "resume-helper")
        #expect(Self.reports(world).last == .present, "it joins afresh")
    }
}
