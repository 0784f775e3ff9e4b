import Engine
import Testing
import Wire

struct LeavingTests {
    @Test func theOthersAreToldWhatEndsWithALeaver() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let track = try world.publish(ann)
        _ = try world.publish(bob)
        world.happens(.talkStarted(track.sid, at: MediaTime(ticks: 0)))
        world.happens(.left(ann, .signalClose))
        #expect(
            world.trace == [
                "patch unpublish 1 by ann", "patch stop ann to 2", "talkStopped > bob", "trackUnpublished > bob", "participantLeft > bob",
            ])
        #expect(world.news(bob).last == .participantLeft("ann", reason: .signalClose))
    }

    @Test func whoAsksToLeaveIsClosedWithoutAReply() {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        #expect(world.ask(ann, .leave(reason: nil)) == nil)
        #expect(world.trace == ["close left ann", "participantLeft > bob"])
    }

    @Test(arguments: [
        ("USER_REJECTED", DisconnectReason.userRejected), ("AGENT_ERROR", .agentError), ("ROOM_DELETED", .clientInitiated),
        ("bored", .clientInitiated),
    ])
    func aClientMayGiveLiveKitsReasons(said: String, told: DisconnectReason) {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        world.ask(ann, .leave(reason: said))
        #expect(world.news(bob).last == .participantLeft("ann", reason: told))
    }

    @Test(arguments: [
        (DisconnectReason.signalClose, true), (.connectionTimeout, true), (.agentError, true), (.serverShutdown, true),
        (.clientInitiated, false), (.participantRemoved, false), (.roomClosed, false),
    ])
    func anAgentIsLostOnlyIfNobodyWantedIt(reason: DisconnectReason, isLost: Bool) {
        var world = RoomWorld()
        let ann = world.join("ann")
        let helper = world.join("helper", kind: .agent)
        world.happens(.left(helper, reason))
        #expect(world.news(ann).contains(.agentLost("helper", reason: reason)) == isLost)
    }

    @Test func whatComesFromSomebodyGoneIsPassedOver() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.happens(.left(ann, .signalClose))
        for input: Room.Input in [
            .left(ann, .signalClose), .request(.refreshToken, id: 9, from: ann), .connectionMeasured(ann, .awful),
            .talkStarted(track.sid, at: MediaTime(ticks: 0)), .talkStopped(track.sid, at: MediaTime(ticks: 0), .end),
            .measured([.loud(track)]),
        ] {
            world.happens(input)
            #expect(world.effects.isEmpty, "\(input)")
        }
    }

    @Test func aLeaversAliasIsNotGivenToTheNext() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let first = try world.publish(ann)
        world.ask(ann, .unpublish(first.sid))
        #expect(try world.publish(ann).alias == TrackAlias(2))
    }
}
