import Testing
import Wire

@testable import Engine

struct LeavingTests {
    @Test func departureReportsEverythingThatEnds() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let track = try world.publish(ann)
        _ = try world.publish(bob)
        world.receive(.talkStarted(track.sid, at: MediaTime(ticks: 0)))
        world.receive(.left(ann, .signalClose))
        #expect(
            world.trace == [
                "patch unpublish 1 by ann", "patch unsubscribe ann to 2", "talkStopped > bob", "trackUnpublished > bob",
                "participantLeft > bob",
            ])
        #expect(world.takeEvents(bob).last == .participantLeft("ann", reason: .signalClose))
    }

    @Test func leaveClosesWithoutAReply() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        #expect(world.send(ann, .leave(reason: nil)) == nil)
        #expect(world.trace == ["close left ann", "participantLeft > bob"])
    }

    @Test(arguments: [
        ("USER_REJECTED", DisconnectReason.userRejected), ("AGENT_ERROR", .agentError), ("ROOM_DELETED", .clientInitiated),
        ("bored", .clientInitiated),
    ])
    func clientCanGiveLiveKitReasons(given: String, reported: DisconnectReason) {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.send(ann, .leave(reason: given))
        #expect(world.takeEvents(bob).last == .participantLeft("ann", reason: reported))
    }

    @Test(arguments: [
        (DisconnectReason.signalClose, true), (.connectionTimeout, true), (.agentError, true), (.serverShutdown, true),
        (.clientInitiated, false), (.participantRemoved, false), (.roomClosed, false),
    ])
    func agentIsReportedAsLostOnlyIfUnintended(reason: DisconnectReason, isLost: Bool) {
        var world = RoomWorld()
        let ann = world.join("ann")
        let helper = world.join("helper", kind: .agent)
        world.receive(.left(helper, reason))
        #expect(world.takeEvents(ann).contains(.agentLost("helper", reason: reason)) == isLost)
    }

    @Test func inputsOfDepartedParticipantsAreIgnored() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.receive(.left(ann, .signalClose))
        for input: Room.Input in [
            .left(ann, .signalClose), .request(.refreshToken, id: 9, from: ann), .connectionMeasured(ann, .awful),
            .talkStarted(track.sid, at: MediaTime(ticks: 0)), .talkStopped(track.sid, at: MediaTime(ticks: 0), .end),
            .measured([.loud(track)]),
        ] {
            world.receive(input)
            #expect(world.effects.isEmpty, "\(input)")
        }
    }

    @Test func aliasIsNotReusedAtOnce() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let first = try world.publish(ann)
        world.send(ann, .unpublish(first.sid))
        #expect(try world.publish(ann).alias == TrackAlias(2))
    }
}

struct DrainTests {
    @Test func drainIsAnnouncedToEverybody() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("spy", permission: Permission(hidden: true))
        world.join("helper", kind: .agent)
        world.receive(.draining(deadline: 1_700_000_600))
        #expect(world.trace == ["serverDraining > ann spy helper"])
        #expect(world.takeEvents(ann).last == .serverDraining(deadline: 1_700_000_600))
    }

    @Test func drainOfAnEmptyRoomSendsNothing() {
        var world = RoomWorld()
        world.receive(.draining(deadline: 1_700_000_600))
        #expect(world.effects.isEmpty)
    }

    @Test func drainingRoomStillHandlesRequests() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.receive(.draining(deadline: 1_700_000_600))
        let track = try world.publish(ann)
        let bob = world.join("bob")
        #expect(world.receives(bob, track))
    }
}
