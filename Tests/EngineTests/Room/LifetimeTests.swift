import Engine
import Testing
import Wire

struct LifetimeTests {
    @Test func aRoomThatNobodyJoinsLivesFiveMinutes() {
        var world = RoomWorld()
        world.pass(.milliseconds(299_999))
        #expect(!world.room.isOver && world.effects.isEmpty)
        world.pass(.milliseconds(1))
        #expect(world.room.isOver && world.trace == ["closed"])
        #expect(world.room.deadline == nil)
    }

    @Test func aRoomThatTheLastOneLeftLivesTwentySeconds() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.pass(.minutes(60))
        let bob = world.join("bob")
        world.happens(.left(ann, .clientInitiated))
        world.pass(.minutes(1))
        #expect(!world.room.isOver)
        world.happens(.left(bob, .clientInitiated))
        world.pass(.milliseconds(19_999))
        #expect(!world.room.isOver && world.effects.isEmpty)
        world.pass(.milliseconds(1))
        #expect(world.trace == ["closed"])
    }

    @Test func whoComesBackInTimeFindsTheRoom() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.happens(.left(ann, .signalClose))
        world.pass(.milliseconds(19_999))
        world.join("ann")
        world.pass(.minutes(60))
        #expect(!world.room.isOver)
    }

    @Test(arguments: [ParticipantKind.agent, .egress])
    func theDependentDoNotKeepARoom(kind: ParticipantKind) {
        var world = RoomWorld()
        let helper = world.join("helper", kind: kind)
        world.pass(.milliseconds(299_999))
        #expect(!world.room.isOver)
        world.pass(.milliseconds(1))
        #expect(world.trace.suffix(3) == ["bye > helper", "close roomClosed helper", "closed"])
        #expect(world.news(helper).last == .bye(.roomClosed, retryable: false))
    }

    @Test func anAgentThatStaysBehindIsSentAway() {
        var world = RoomWorld()
        let ann = world.join("ann")
        let helper = world.join("helper", kind: .agent)
        world.happens(.left(ann, .clientInitiated))
        world.pass(.seconds(20))
        #expect(world.trace == ["bye > helper", "close roomClosed helper", "closed"])
        #expect(world.closed[helper] == .roomClosed)
    }

    @Test func anAgentThatComesOrGoesDoesNotPutTheEndOff() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.happens(.left(ann, .clientInitiated))
        world.pass(.seconds(10))
        let helper = world.join("helper", kind: .agent)
        world.pass(.seconds(5))
        world.happens(.left(helper, .signalClose))
        world.pass(.seconds(5))
        #expect(world.room.isOver)
    }

    @Test(arguments: [ParticipantKind.standard, .ingress, .sip, .connector, .bridge])
    func everybodyElseKeepsIt(kind: ParticipantKind) {
        var world = RoomWorld()
        world.join("somebody", kind: kind)
        world.pass(.minutes(30))
        #expect(!world.room.isOver)
    }

    @Test func changingPlacesDoesNotEndTheRoom() {
        var world = RoomWorld()
        world.join("ann")
        world.join("ann")
        world.pass(.minutes(30))
        #expect(!world.room.isOver && world.room.participantCount == 1)
    }

    @Test func aRoomChoosesItsTimes() {
        let settings = RoomSettings(emptyTimeout: .seconds(7), departureTimeout: .zero)
        var unvisited = RoomWorld(settings)
        unvisited.pass(.seconds(7))
        #expect(unvisited.room.isOver)
        var visited = RoomWorld(settings)
        let ann = visited.join("ann")
        visited.pass(.seconds(30))
        visited.happens(.left(ann, .clientInitiated))
        #expect(!visited.room.isOver && visited.room.deadline == visited.now)
        visited.happens(.deadlinePassed)
        #expect(visited.room.isOver)
    }

    @Test func afterTheEndNothingHappensAndNobodyComesIn() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.happens(.administered(.delete))
        for input: Room.Input in [
            .request(.refreshToken, id: 1, from: ann), .left(ann, .signalClose), .administered(.delete), .draining(deadline: 1),
            .deadlinePassed,
        ] {
            world.happens(input)
            #expect(world.effects.isEmpty, "\(input)")
        }
        #expect(world.room.admissionError(for: Admission(identity: "bob")) == .roomClosed)
        world.join("bob")
        #expect(world.trace == ["close roomClosed bob"])
    }

    @Test func wakingARoomTooEarlyDoesNoHarm() {
        var world = RoomWorld()
        world.happens(.deadlinePassed)
        #expect(world.effects.isEmpty)
        world.pass(.seconds(300))
        #expect(world.room.isOver)
    }
}
