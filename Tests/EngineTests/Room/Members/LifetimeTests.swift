import Testing
import Wire

@testable import Engine

struct LifetimeTests {
    @Test func unjoinedRoomEndsAfterFiveMinutes() {
        var world = RoomWorld()
        world.pass(.milliseconds(299_999))
        #expect(!world.room.isOver && world.effects.isEmpty)
        world.pass(.milliseconds(1))
        #expect(world.room.isOver && world.trace == ["closed"])
        #expect(world.room.deadline == nil)
    }

    @Test func openedRoomReportsItsStartAndEndsUnlessSomebodyJoins() {
        let base = RoomSettings(maxParticipants: 9, metadata: "base", reporting: .events)
        let agents = [AgentRequest(assistant: ""), AgentRequest(assistant: "helper", metadata: "m")]
        var settings = RoomSettings(RoomOpening(emptyTimeout: .seconds(7), metadata: "opened", agents: agents), over: base)
        #expect(settings.agents.map(\.assistant) == ["default", "helper"] && settings.maxParticipants == 9)
        #expect(settings.metadata == "opened" && settings.departureTimeout == base.departureTimeout)
        settings.reporting = .events
        var world = RoomWorld(settings)
        world.receive(.opened)
        #expect(world.trace == ["record started"])
        world.pass(.milliseconds(6_999))
        #expect(!world.room.isOver)
        world.pass(.milliseconds(1))
        #expect(world.trace == ["record finished", "closed"])
        var visited = RoomWorld(settings)
        visited.receive(.opened)
        visited.join("ann")
        visited.pass(.minutes(30))
        #expect(!visited.room.isOver && visited.auditEvents.count == 2)
    }

    @Test func emptiedRoomEndsAfterTwentySeconds() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.pass(.minutes(60))
        let bob = world.join("bob")
        world.receive(.left(ann, .clientInitiated))
        world.pass(.minutes(1))
        #expect(!world.room.isOver)
        world.receive(.left(bob, .clientInitiated))
        world.pass(.milliseconds(19_999))
        #expect(!world.room.isOver && world.effects.isEmpty)
        world.pass(.milliseconds(1))
        #expect(world.trace == ["closed"])
    }

    @Test func rejoiningInTimeKeepsTheRoom() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.receive(.left(ann, .signalClose))
        world.pass(.milliseconds(19_999))
        world.join("ann")
        world.pass(.minutes(60))
        #expect(!world.room.isOver)
    }

    @Test(arguments: [ParticipantKind.agent, .egress])
    func dependentParticipantsDoNotKeepTheRoomAlive(kind: ParticipantKind) {
        var world = RoomWorld()
        let helper = world.join("helper", kind: kind)
        world.pass(.milliseconds(299_999))
        #expect(!world.room.isOver)
        world.pass(.milliseconds(1))
        #expect(world.trace.suffix(3) == ["bye > helper", "close roomClosed helper", "closed"])
        #expect(world.takeEvents(helper).last == .bye(.roomClosed, retryable: false))
    }

    @Test func remainingAgentIsDisconnectedWhenTheRoomEnds() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let helper = world.join("helper", kind: .agent)
        world.receive(.left(ann, .clientInitiated))
        world.pass(.seconds(20))
        #expect(world.trace == ["bye > helper", "close roomClosed helper", "closed"])
        #expect(world.closed[helper] == .roomClosed)
    }

    @Test func agentsDoNotPostponeTheEmptyTimeout() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.receive(.left(ann, .clientInitiated))
        world.pass(.seconds(10))
        let helper = world.join("helper", kind: .agent)
        world.pass(.seconds(5))
        world.receive(.left(helper, .signalClose))
        world.pass(.seconds(5))
        #expect(world.room.isOver)
    }

    @Test(arguments: [ParticipantKind.standard, .ingress, .sip, .connector, .bridge])
    func independentParticipantsKeepTheRoomAlive(kind: ParticipantKind) {
        var world = RoomWorld()
        world.join("somebody", kind: kind)
        world.pass(.minutes(30))
        #expect(!world.room.isOver)
    }

    @Test func replacingAnIdentityDoesNotEndTheRoom() {
        var world = RoomWorld()
        world.join("ann")
        world.join("ann")
        world.pass(.minutes(30))
        #expect(!world.room.isOver && world.room.participantCount == 1)
    }

    @Test func timeoutsComeFromTheRoomSettings() {
        let settings = RoomSettings(emptyTimeout: .seconds(7), departureTimeout: .zero)
        var unvisited = RoomWorld(settings)
        unvisited.pass(.seconds(7))
        #expect(unvisited.room.isOver)
        var visited = RoomWorld(settings)
        let ann = visited.join("ann")
        visited.pass(.seconds(30))
        visited.receive(.left(ann, .clientInitiated))
        #expect(!visited.room.isOver && visited.room.deadline == visited.now)
        visited.receive(.deadlinePassed)
        #expect(visited.room.isOver)
    }

    @Test func endedRoomIgnoresInputsAndRejectsJoins() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.receive(.administered(.delete))
        for input: Room.Input in [
            .request(.refreshToken, id: 1, from: ann), .left(ann, .signalClose), .administered(.delete), .draining(deadline: 1),
            .deadlinePassed,
        ] {
            world.receive(input)
            #expect(world.effects.isEmpty, "\(input)")
        }
        #expect(world.room.admissionError(for: Admission(identity: "bob")) == .roomClosed)
        world.join("bob")
        #expect(world.trace == ["close roomClosed bob"])
    }

    @Test func earlyDeadlineInputHasNoEffect() {
        var world = RoomWorld()
        world.receive(.deadlinePassed)
        #expect(world.effects.isEmpty)
        world.pass(.seconds(300))
        #expect(world.room.isOver)
    }
}
